import { z } from 'zod'
import { message } from './form-messages.ts'
import { route } from './route.ts'
import { Time, storable } from './shapes.ts'

/** The result of a scheduled job. `none`: unknown, because finished jobs are kept for one day. */
export const RUN_RESULTS = ['none', 'running', 'completed', 'failed'] as const
export type RunResult = (typeof RUN_RESULTS)[number]

export const Schedule = z.object({
  queue: z.string(),
  /** A sentence for the shop's operators. */
  purpose: z.string(),
  /** Five fields, UTC. */
  cron: z.string(),
  next_run: Time.nullable(),
  last: z.object({ at: Time.nullable(), result: z.enum(RUN_RESULTS), error: z.string().nullable() }),
  /** A manual run is queued. */
  asked: z.boolean()
})
export type Schedule = z.infer<typeof Schedule>

export const QueueState = z.object({
  queue: z.string(),
  purpose: z.string(),
  waiting: z.number(),
  /** Delayed: after a failure, or on purpose. */
  later: z.number(),
  active: z.number(),
  dead: z.number(),
  /** When the oldest waiting job was due. */
  oldest: Time.nullable(),
  /** Finished in the last hour, of those still stored. */
  finished: z.number()
})
export type QueueState = z.infer<typeof QueueState>

export const Tasks = z.object({ schedules: z.array(Schedule), queues: z.array(QueueState) })
export type Tasks = z.infer<typeof Tasks>

/** A job that used up its retries. Its payload is shown without secrets and with personal data masked. */
export const DeadLetter = z.object({
  id: z.uuid(),
  queue: z.string(),
  failed_at: Time,
  tries: z.number(),
  error: z.string().nullable(),
  payload: z.unknown()
})
export type DeadLetter = z.infer<typeof DeadLetter>

export const DEAD_LETTERS_AT_ONCE = 500
const QueueName = z
  .string()
  .min(1, message('must_select'))
  .max(100, message('at_most_characters', { max: 100 }))
  .refine(storable, message('forbidden_character'))

export const DeadLetterQuery = z.object({
  queue: QueueName.optional(),
  /** Only older failures: the last id of the previous page. */
  after: z.uuid().optional()
})
const DeadLetterIds = z.object({
  ids: z.array(z.uuid()).min(1, message('must_select')).max(DEAD_LETTERS_AT_ONCE, message('too_many_ids'))
})

const T = '/api/settings/tasks'

export const taskRoutes = {
  tasks: route('GET', `${T}/`, {
    summary: 'Schedules with next and last runs, and queues with waiting jobs',
    access: 'admin',
    permission: 'tasks.view',
    reply: Tasks
  }),
  runNow: route('POST', `${T}/run/`, {
    summary: 'Run a scheduled task now; a waiting one is not queued twice',
    access: 'admin',
    permission: 'tasks.change',
    body: z.object({ queue: QueueName }),
    reply: z.object({ asked: z.boolean() })
  }),
  deadLetters: route('GET', `${T}/dead_letters/`, {
    summary: 'Jobs that used all their attempts, latest first',
    access: 'admin',
    permission: 'tasks.view',
    query: DeadLetterQuery,
    reply: z.object({ data: z.array(DeadLetter), more: z.boolean() })
  }),
  retryDeadLetters: route('POST', `${T}/dead_letters/retry/`, {
    summary: 'Retry failed jobs; skips jobs that no longer exist',
    access: 'admin',
    permission: 'tasks.change',
    body: DeadLetterIds,
    reply: z.object({ done: z.number() })
  }),
  discardDeadLetters: route('POST', `${T}/dead_letters/discard/`, {
    summary: 'Discard failed jobs; skips jobs that no longer exist',
    access: 'admin',
    permission: 'tasks.change',
    body: DeadLetterIds,
    reply: z.object({ done: z.number() })
  })
}
