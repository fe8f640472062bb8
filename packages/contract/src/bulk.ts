import { z } from 'zod'
import { BULK_ACTIONS, RUN_ACTIONS } from './run-actions.ts'
import { message } from './form-messages.ts'
import { Paging, listQuery, page } from './list.ts'
import { route } from './route.ts'
import { Done, Id, IdParams, ReasonParams, Time, storable } from './shapes.ts'

/** The most rows that one run may touch. */
export const MAX_BULK_ROWS = 100_000

/** The most rows that are named one by one. */
const MAX_TICKED = 10_000

export const BULK_STATES = ['queued', 'running', 'done', 'cancelled', 'failed'] as const

export const BulkRun = z.object({
  id: z.number(),
  action: z.enum(RUN_ACTIONS),
  state: z.enum(BULK_STATES),
  total: z.number(),
  /** Rows that have been dealt with: succeeded + refused. */
  done: z.number(),
  succeeded: z.number(),
  refused: z.number(),
  /** Who asked for it. */
  username: z.string(),
  created_at: Time,
  ended_at: Time.nullable(),
  /** Why it failed: a reason of the catalogue with its parameters, and the sentence. */
  reason: z.string().nullable(),
  params: ReasonParams,
  msg: z.string().nullable()
})
export type BulkRun = z.infer<typeof BulkRun>

export const BULK_ROW_STATES = ['pending', 'succeeded', 'refused'] as const

export const BulkRow = z.object({
  /** The row's own id, and the name that people know it by. */
  id: z.number(),
  label: z.string(),
  state: z.enum(BULK_ROW_STATES),
  /** Why it was refused: a reason of the catalogue with its parameters, and the sentence. */
  reason: z.string().nullable(),
  params: ReasonParams,
  msg: z.string().nullable()
})
export type BulkRow = z.infer<typeof BulkRow>

const queryText = z.string().max(500).refine(storable, message('forbidden_character'))

/**
 * The rows of a bulk command: the ids that were ticked, or everything that a list's query matches. `expected` and
 * `version` are the number of rows that the person was asked about, and what the plan gave for them: where more or other
 * ones match by now, a run is refused. Only an action that changes nothing for customers (`order.check`) takes a few
 * more, and others.
 */
export const BulkSelection = z.union([
  z.object({
    ids: z
      .array(Id)
      .min(1, message('must_select'))
      // Of a list without end not each row is looked at. `max` ends the check of the whole object: the union says that neither
      // of its kinds fits, and not why.
      .max(2 * MAX_TICKED)
      .refine(ids => ids.length <= MAX_TICKED, message('too_many_ids'))
  }),
  z.object({
    query: z.record(queryText, queryText),
    expected: z.int().min(0).optional(),
    version: z.string().max(64).optional()
  })
])

const BulkOrder = z.object({ action: z.enum(BULK_ACTIONS, message('unknown_action')), selection: BulkSelection })

/** What a run does to a row that it does not refuse, as far as the question before it tells these apart. */
export const BULK_EFFECTS = [
  'done',
  /** Delivering: for the first time; in spite of a payment that fell short; what is missing; all is there and asked for again. */
  'first_delivery',
  'unsettled',
  'missing',
  'again',
  /** Deleting: never paid; paid, and neither delivered nor refunded; ended. */
  'unpaid',
  'owed',
  'ended'
] as const
export type BulkEffect = (typeof BULK_EFFECTS)[number]

/** What a run would do now, by rows: those it does something to, and those it refuses. The run decides each row anew. */
export const BulkPlan = z.object({
  rows: z.number(),
  /** What tells these rows from any others: a run of what a query matches takes it. */
  version: z.string(),
  /** Null where it takes too long to find out, or nothing is known before of this action. */
  outcomes: z
    .object({
      effects: z.array(z.object({ effect: z.enum(BULK_EFFECTS), rows: z.number() })),
      /** `reason`: of the catalogue. */
      refusals: z.array(z.object({ reason: z.string(), rows: z.number() }))
    })
    .nullable()
})
export type BulkPlan = z.infer<typeof BulkPlan>

const B = '/api/bulk'

export const bulk = {
  start: route('POST', `${B}/`, {
    summary: 'Do one thing to many rows, as a job with progress',
    access: 'admin',
    permission: 'console.use',
    body: BulkOrder,
    reply: BulkRun
  }),
  plan: route('POST', `${B}/plan/`, {
    summary: 'How many rows a bulk run would touch, and what it would do to them or refuse; nothing is changed',
    access: 'admin',
    permission: 'console.use',
    body: BulkOrder,
    reply: BulkPlan
  }),
  runs: route('GET', `${B}/`, {
    summary: 'Bulk runs, newest first',
    access: 'admin',
    permission: 'console.use',
    query: listQuery({ sort: ['id'] }),
    reply: page(BulkRun)
  }),
  run: route('GET', `${B}/:id/`, {
    summary: 'How far a bulk run is',
    access: 'admin',
    permission: 'console.use',
    params: IdParams,
    reply: BulkRun
  }),
  rows: route('GET', `${B}/:id/rows/`, {
    summary: 'What became of each row of a bulk run',
    access: 'admin',
    permission: 'console.use',
    params: IdParams,
    query: Paging.extend({ state: z.enum(BULK_ROW_STATES).optional() }),
    reply: page(BulkRow)
  }),
  cancel: route('POST', `${B}/:id/cancel/`, {
    summary: 'Stop a bulk run; rows that are done stay done',
    access: 'admin',
    permission: 'console.use',
    params: IdParams,
    reply: Done
  })
}
