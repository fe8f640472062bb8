import { and, asc, eq, inArray, sql } from '../../../infra/db/drizzle.ts'
import type { Unit } from '../../../infra/command.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { lock } from '../../../infra/db/locks.ts'
import { orderAccess } from '../tables.ts'

/**
 * Removes clients from the lists of orders that get new addresses, if another order with these addresses already lists
 * them, so that the earlier order keeps its access. A list that becomes empty turns into a password.
 * @returns the orders whose lists changed; their agents need the new ones
 */
export async function yieldToListed(unit: Unit, orderIds: number[]): Promise<number[]> {
  const { tx } = unit
  const listing = and(inArray(orderAccess.orderId, orderIds), eq(orderAccess.access, 'address'))
  if ((await tx.$count(orderAccess, listing)) === 0) return []
  await lock(tx, 'clientLists')
  const lists = await tx.select().from(orderAccess).where(listing).orderBy(asc(orderAccess.orderId))
  const changed: number[] = []
  for (const { orderId, clientIps } of lists) {
    const taken = await listedElsewhere(tx, orderId, clientIps)
    if (taken.length === 0) continue
    const left = clientIps.filter(line => !taken.includes(line))
    const access = left.length > 0 ? 'address' : 'password'
    await tx
      .update(orderAccess)
      .set({ access, clientIps: left, changedAt: unit.now })
      .where(eq(orderAccess.orderId, orderId))
    unit.audit('order.client_access', orderId, {
      before: { access: 'address', client_ips: clientIps },
      after: { access, client_ips: left }
    })
    changed.push(orderId)
  }
  return changed
}

/**
 * The clients that another order with the same leased addresses already lets in. An agent could not tell them apart,
 * and would ask both for the password.
 */
export async function listedElsewhere(db: Executor, orderId: number, clients: string[]): Promise<string[]> {
  const { rows } = await db.execute<{ line: string }>(sql`
    with sharing as materialized (
      select distinct other.order_id
      from agent_users mine
      join agent_users other on other.server_id = mine.server_id and other.order_id <> mine.order_id and other.wanted
      join order_access o on o.order_id = other.order_id and o.access = 'address'
      where mine.order_id = ${orderId} and mine.wanted and exists (
        select 1 from unnest(mine.prefixes) a, unnest(other.prefixes) b where a::inet && b::inet)
    )
    select line from unnest(${sql.param(clients)}::text[]) with ordinality as own (line, n)
    where exists (
      select 1 from sharing join order_access o using (order_id), unnest(o.client_ips) theirs
      where theirs::inet && line::inet)
    order by n`)
  return rows.map(({ line }) => line)
}
