import { TAKEOVER_FORMAT } from '@netlet/contract/agent-takeover'
import { z } from 'zod'

const told = z.object({
  program_started_at: z.string().max(40),
  takeover: z.object({
    state: z.enum(['none', 'running', 'failed']),
    reason: z.string().nullable(),
    at: z.string().max(40).nullable()
  }),
  // Agents that tell none are of the first one that was released.
  takeover_format: z.number().default(2),
  settings_format: z.number().default(2)
})

/** What an agent tells of its program; null: one of before, which can only be restarted. */
export type Program = z.infer<typeof told> | null

export const programIn = (info: unknown): Program => {
  const read = told.safeParse(info)
  return read.success ? read.data : null
}

/** Which settings it knows (`agent-settings.ts` of the contract). */
export const settingsFormatIn = (info: unknown): number => programIn(info)?.settings_format ?? 1

/**
 * Can this program hand over to the one that this console installs? One of another format refuses, however often it is asked, so
 * that it has to be restarted.
 */
export const handsOverToOurs = (program: Program): boolean => program?.takeover_format === TAKEOVER_FORMAT

/**
 * What became of asking an agent to hand over to the program that is installed.
 * @param now what answers by now; null: nothing, as for the moment of the hand-over
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
