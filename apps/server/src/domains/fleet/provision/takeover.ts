import { z } from 'zod'

const told = z.object({
  program_started_at: z.string().max(40),
  takeover: z.object({
    state: z.enum(['none', 'running', 'failed']),
    reason: z.string().nullable(),
    at: z.string().max(40).nullable()
  })
})

/** What an agent tells of its program; null: one of before, which can only be restarted. */
export type Program = z.infer<typeof told> | null

export const programIn = (info: unknown): Program => {
  const read = told.safeParse(info)
  return read.success ? read.data : null
}

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
