import type { Found } from '@netlet/contract'
import { and, desc, eq, inArray, isNull, type SQL } from '../../infra/db/drizzle.ts'
import type { Actor } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { users } from '../accounts/tables.ts'
import { addressHolders } from '../inventory/index.ts'
import { exactly, idsContaining, type FindPorts } from './find.ts'
import { auditLookUp } from './guard-address-search.ts'
import { listed, orders } from './tables.ts'

/** Orders that a text names, newest first: by their id or number, by the platform's number, or by a part of the id. */
export async function searchOrders(
  db: Executor,
  text: string,
  { limit, ordersPaidBy }: FindPorts & { limit: number }
): Promise<Found['orders']> {
  const named = await exactly(db, text, { userId: null, withUsers: false, ordersPaidBy })
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
