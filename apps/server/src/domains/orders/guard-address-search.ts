import { type Refusal, refuse } from '@netlet/contract'
import { type Actor, type UserActor, mayDo } from '../../infra/actor.ts'
import { MINUTE, iso } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { isInet } from '../../infra/db/columns.ts'
import { inArray } from '../../infra/db/drizzle.ts'
import { done } from '../../infra/result.ts'
import { orders } from './tables.ts'

/**
 * Writes a look-up of an address to the audit log.
 * @param address an address or a range
 * @param asked the instant or the span, as in the call
 */
export const auditLookUp = (ctx: AppContext, by: Actor, address: string, asked: object) =>
  command(ctx, by, async unit => {
    unit.audit('cidr.look_up', address, { after: asked })
    return done
  })

type Query = { search?: string | undefined; format?: string | undefined }

/** An open list reloads after each change and page by page. Within this time such reloads count as one look. */
const SAME_LOOK = 10 * MINUTE
const MOST_LOOKS = 10_000

/** The time of the last look, by caller, address and query. */
const looksOf = new WeakMap<AppContext, Map<string, number>>()

/**
 * Guards searches of all orders by address. They reveal who holds an address now, so they need the permission for
 * address look-ups, and the audit log records them. Customers find only their own orders.
 */
export async function guardAddressSearch(ctx: AppContext, caller: UserActor, query: Query): Promise<Refusal | null> {
  const { search: address, format } = query
  if (!caller.isSuperuser || address === undefined || !isInet(address)) return null
  if (!mayDo(caller, 'addresses.view')) return refuse('role_not_allowed')
  const looks = looksOf.get(ctx) ?? new Map<string, number>()
  looksOf.set(ctx, looks)
  const now = ctx.now()
  const look = `${caller.id} ${address} ${format}`
  const last = looks.get(look)
  if (last !== undefined && now.getTime() - last < SAME_LOOK) return null
  await auditLookUp(ctx, caller, address, { at: iso(now), format })
  if (looks.size >= MOST_LOOKS) looks.clear()
  looks.set(look, now.getTime())
  return null
}

/** The public ids of these orders. */
export async function orderLabels(db: Executor, ids: number[]): Promise<ReadonlyMap<number, string>> {
  const found = await db.select({ id: orders.id, label: orders.publicId }).from(orders).where(inArray(orders.id, ids))
  return new Map(found.map(({ id, label }) => [id, label]))
}
