import type { Route } from '@netlet/contract'
import type { Actor } from './actor.ts'
import { command, type Unit } from './command.ts'
import type { AppContext } from './context.ts'

type Running = Pick<AppContext, 'db' | 'jobs' | 'now' | 'changes'>

/** An operator's reads leave a trace, also while they view the shop as a customer. */
const isOperator = (by: Actor): boolean => by.kind === 'user' && (by.isSuperuser || by.impersonator !== null)

/**
 * Writes audit entries without telling browsers: they change nothing that a screen shows, and a screen that read again
 * because of one would add the next.
 */
export const traceQuietly = (ctx: Running, by: Actor, work: (unit: Unit) => Promise<void>): Promise<void> =>
  command({ db: ctx.db, jobs: ctx.jobs, now: ctx.now, changes: { ...ctx.changes, publish: () => {} } }, by, work)

/** Records that an operator gets proxy passwords of an order, before they are sent. */
export async function traceCredentials(ctx: Running, by: Actor, orderId: number, rows: number): Promise<void> {
  if (isOperator(by) && rows > 0)
    await traceQuietly(ctx, by, async unit => unit.audit('order.read_credentials', orderId, { after: { rows } }))
}

/** Records that an operator exports a list, before it is sent. */
export async function traceExport(
  ctx: Running,
  by: Actor,
  resource: NonNullable<Route['exports']>,
  rows: number
): Promise<void> {
  if (isOperator(by))
    await traceQuietly(ctx, by, async unit => unit.audit(`${resource}.export`, 'all', { after: { rows } }))
}
