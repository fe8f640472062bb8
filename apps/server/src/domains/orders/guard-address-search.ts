import { type Found, type Refusal, refuse } from '@netlet/contract'
import { type Actor, mayDo, type UserActor } from '../../infra/actor.ts'
import { iso, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { isInet } from '../../infra/db/columns.ts'
import { and, desc, eq, inArray, isNull, type SQL } from '../../infra/db/drizzle.ts'
import { done } from '../../infra/result.ts'
import { listed, orders } from './tables.ts'
import { users } from '../accounts/tables.ts'
import { addressHolders } from '../inventory/index.ts'
import { findExactly, type FindPorts, idsContaining } from './find.ts'

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

/** Orders that a text names, newest first: by their id or number, by the platform's number, or by a part of the id. */
export async function searchOrders(
  db: Executor,
  text: string,
  { limit, ordersPaidBy }: FindPorts & { limit: number }
): Promise<Found['orders']> {
  const named = await findExactly(db, text, { userId: null, withUsers: false, ordersPaidBy })
  const found = named ?? (await idsContaining(db, text))
  const ids = found.anyOf.flatMap(({ among }) => among.map(Number))
  const rows = await selectNamed(db, ids, limit)
  return rows.map(({ id, publicId, productName, username, state }) => ({
    id,
    order_id: publicId,
    product_name: productName,
    username,
    state,
    exact: named !== undefined
  }))
}

type Holders = NonNullable<Found['address']>['holders']

/** Orders that hold an address now, without ended ones in their grace. The audit log records each result. */
export async function searchHolders(ctx: AppContext, by: Actor, ip: string, limit: number): Promise<Holders> {
  const now = ctx.now()
  const held = await addressHolders(ctx.db, { ip, at: now })
  const ids = [...new Set(held.map(({ orderId }) => orderId))]
  const rows = await selectNamed(ctx.db, ids, limit, isNull(orders.endedAt))
  if (rows.length > 0) await auditLookUp(ctx, by, ip, { at: iso(now) })
  return rows.map(({ id, publicId, username }) => ({ id, order_id: publicId, username }))
}

async function selectNamed(db: Executor, ids: number[], limit: number, also?: SQL) {
  if (ids.length === 0) return []
  return db
    .select({
      id: orders.id,
      publicId: orders.publicId,
      productName: orders.productName,
      username: users.username,
      state: orders.state
    })
    .from(orders)
    .innerJoin(users, eq(users.id, orders.userId))
    .where(and(inArray(orders.id, ids), listed(orders), also))
    .orderBy(desc(orders.id))
    .limit(limit)
}
