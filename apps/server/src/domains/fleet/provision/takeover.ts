import { TAKEOVER_FORMAT } from '@netlet/contract/agent-takeover'
import { z } from 'zod'

const told = z.object({
  program_started_at: z.string().max(40),
  takeover: z.object({
    state: z.enum(['none', 'running', 'failed']),
    reason: z.string().nullable(),
    at: z.string().max(40).nullable()
  }),
  // Agents that report no format have that of the first release.
  takeover_format: z.number().default(2),
  settings_format: z.number().default(2)
})

/** What an agent reports of its program; null: it is older, and can only be restarted. */
export type Program = z.infer<typeof told> | null

export const programIn = (info: unknown): Program => {
  const read = told.safeParse(info)
  return read.success ? read.data : null
}

/** The settings format that it knows (`agent-settings.ts` of the contract). */
export const settingsFormatIn = (info: unknown): number => programIn(info)?.settings_format ?? 1

/** Whether this program can hand over to ours. One of another format refuses, and must be restarted. */
export const handsOverToOurs = (program: Program): boolean => program?.takeover_format === TAKEOVER_FORMAT

/**
 * The result of asking an agent to hand over to the installed program.
 * @param now what answers now; null: nothing, as during the hand-over
 */
export function outcomeOf(
  before: NonNullable<Program>,
  now: Program
): { kind: 'waits' | 'done' } | { kind: 'failed'; reason: string } {
  if (now === null) return { kind: 'waits' }
  if (now.program_started_at !== before.program_started_at) return { kind: 'done' }
  const { state, at, reason } = now.takeover
  const isNew = state === 'failed' && at !== before.takeover.at
  return isNew ? { kind: 'failed', reason: reason ?? '' } : { kind: 'waits' }
}
