import { z } from 'zod'
import { message } from './form-messages.ts'
import { Paging, listQuery, page } from './list.ts'
import { route } from './route.ts'
import { Done, Id, IdParams, ReasonParams, Time, storable } from './shapes.ts'

/** What can be done to many rows at once. The part before the dot names the list that the rows come from. */
export const BULK_ACTIONS = [
  'order.change',
  'order.reset',
  'order.check',
  'order.deliver',
  'order.delete',
  'gift_card.delete'
] as const
export type BulkAction = (typeof BULK_ACTIONS)[number]

/** What the shop itself asks for as a run, by calls of its own: these need to know more than the rows. */
export const RUN_ACTIONS = [...BULK_ACTIONS, 'order.leave_server', 'order.credit_outage'] as const
export type RunAction = (typeof RUN_ACTIONS)[number]

/** The most rows that one run may touch. */
export const MAX_BULK_ROWS = 100_000

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
 * The rows of a bulk command: the ids that were ticked, or everything that a list's query matches. `expected` is the
 * number of rows that the person saw: where far more match by now, the command is refused.
 */
export const BulkSelection = z.union([
  z.object({ ids: z.array(Id).min(1, message('must_select')).max(10_000, message('too_many_ids')) }),
  z.object({ query: z.record(queryText, queryText), expected: z.int().min(0).optional() })
])

const B = '/api/bulk'

export const bulk = {
  start: route('POST', `${B}/`, {
    summary: 'Do one thing to many rows, as a job with progress',
    access: 'admin',
    body: z.object({ action: z.enum(BULK_ACTIONS), selection: BulkSelection }),
    reply: BulkRun
  }),
  runs: route('GET', `${B}/`, {
    summary: 'Bulk runs, newest first',
    access: 'admin',
    query: listQuery({ sort: ['id'] }),
    reply: page(BulkRun)
  }),
  run: route('GET', `${B}/:id/`, {
    summary: 'How far a bulk run is',
    access: 'admin',
    params: IdParams,
    reply: BulkRun
  }),
  rows: route('GET', `${B}/:id/rows/`, {
    summary: 'What became of each row of a bulk run',
    access: 'admin',
    params: IdParams,
    query: Paging.extend({ state: z.enum(BULK_ROW_STATES).optional() }),
    reply: page(BulkRow)
  }),
  cancel: route('POST', `${B}/:id/cancel/`, {
    summary: 'Stop a bulk run; rows that are done stay done',
    access: 'admin',
    params: IdParams,
    reply: Done
  })
}
