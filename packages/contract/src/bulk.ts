import { z } from 'zod'
import { BULK_ACTIONS, RUN_ACTIONS } from './permissions.ts'
import { customerNote } from './customer-note.ts'
import { message } from './form-messages.ts'
import { Paging, listQuery, page } from './list.ts'
import { route } from './route.ts'
import { Done, Id, IdParams, ReasonParams, Time, storable } from './shapes.ts'

/** Largest number of rows of one run. */
export const MAX_BULK_ROWS = 100_000

/** Largest number of rows selected by id. */
const MAX_TICKED = 10_000

export const BULK_STATES = ['queued', 'running', 'done', 'cancelled', 'failed'] as const

export const BulkRun = z.object({
  id: z.number(),
  action: z.enum(RUN_ACTIONS),
  state: z.enum(BULK_STATES),
  total: z.number(),
  /** Rows handled: succeeded + refused. */
  done: z.number(),
  succeeded: z.number(),
  refused: z.number(),
  /** The operator who started it. */
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
  /** The row's id and its readable name. */
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
 * The rows of a bulk command: ticked ids, or all that a list's query matches. `expected` and `version` come from the
 * plan that the operator confirmed; the run is refused if other or more rows match now. Only `order.check`, which
 * changes nothing for customers, tolerates a few more and other rows.
 */
export const BulkSelection = z.union([
  z.object({
    ids: z
      .array(Id)
      .min(1, message('must_select'))
      // `max` stops before each row of a very long list is checked. It ends the check of the whole object, and the
      // union would then report only that neither kind fits.
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

/** What a run does to a row that it accepts, as far as the question distinguishes it. */
export const BULK_EFFECTS = [
  'done',
  /** Delivering: for the first time; despite an insufficient payment; the missing rest; again although complete. */
  'first_delivery',
  'unsettled',
  'missing',
  'again',
  /** Deleting: never paid; paid, but neither delivered nor refunded; ended. */
  'unpaid',
  'owed',
  'ended'
] as const
export type BulkEffect = (typeof BULK_EFFECTS)[number]

/** What a run would do now: rows it would change, and rows it would refuse. The run itself decides each row again. */
export const BulkPlan = z.object({
  rows: z.number(),
  /** Identifies the matching rows. A run over a query must send it. */
  version: z.string(),
  /** Null if it takes too long to compute, or the action has no preview. */
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
    summary: 'Start a bulk action on many rows',
    access: 'admin',
    permission: 'console.use',
    body: BulkOrder.extend(customerNote),
    reply: BulkRun
  }),
  plan: route('POST', `${B}/plan/`, {
    summary: 'Preview a bulk action: rows that it would change or refuse; nothing changes',
    access: 'admin',
    permission: 'console.use',
    body: BulkOrder,
    reply: BulkPlan
  }),
  runs: route('GET', `${B}/`, {
    summary: 'Bulk actions, newest first',
    access: 'admin',
    permission: 'console.use',
    query: listQuery({ sort: ['id'] }),
    reply: page(BulkRun)
  }),
  run: route('GET', `${B}/:id/`, {
    summary: 'Progress of a bulk action',
    access: 'admin',
    permission: 'console.use',
    params: IdParams,
    reply: BulkRun
  }),
  rows: route('GET', `${B}/:id/rows/`, {
    summary: 'Results of a bulk action, row by row',
    access: 'admin',
    permission: 'console.use',
    params: IdParams,
    query: Paging.extend({ state: z.enum(BULK_ROW_STATES).optional() }),
    reply: page(BulkRow)
  }),
  cancel: route('POST', `${B}/:id/cancel/`, {
    summary: 'Cancel a bulk action; finished rows keep their changes',
    access: 'admin',
    permission: 'console.use',
    params: IdParams,
    reply: Done
  })
}
