import { and, eq, inArray, ne } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { servers } from '../fleet/tables.ts'
import { markKept, type LeaseShare } from '../inventory/index.ts'
import type { OrderRow } from '../orders/index.ts'
import { setApart } from './set-apart.ts'
import { servedShares } from './start.ts'

/**
 * An order that lacks addresses keeps as many as it lacks of those that it was to give back. The rest still goes back.
 * @param lost how many it lacks
 * @returns how many it keeps, of those that its customer still has
 */
export async function keepReplaced(unit: Unit, order: OrderRow, lost: number): Promise<number> {
  const { tx } = unit
  const kept: number[] = []
  let left = lost
  for (const { serverId, share } of await bestFirst(tx, order.id)) {
    if (left <= 0) break
    const parts = await setApart(unit, order, serverId, [share], left)
    if (parts.length === 0) continue
    kept.push(...parts)
    left -= Math.min(left, share.addresses)
  }
  await markKept(tx, kept)
  return lost - left
}

/** What an order is to give back, on servers that answer first, then on servers that sell. */
async function bestFirst(db: Executor, orderId: number): Promise<{ serverId: number; share: LeaseShare }[]> {
  const replaced = (await servedShares(db, orderId)).filter(share => share.replaced)
  // Not on a server that was given up, because its run takes that from the order.
  const rows = await db
    .select({
      id: servers.id,
      answers: servers.connected,
      sells: eq(servers.status, 'active').mapWith(Boolean)
    })
    .from(servers)
    .where(
      and(
        inArray(
          servers.id,
          replaced.flatMap(({ serverId }) => serverId ?? [])
        ),
        ne(servers.status, 'given_up')
      )
    )
  const fits = new Map(rows.map(({ id, answers, sells }) => [id, (answers ? 2 : 0) + (sells ? 1 : 0)]))
  return replaced
    .flatMap(share => (share.serverId !== null && fits.has(share.serverId) ? { serverId: share.serverId, share } : []))
    .toSorted((a, b) => (fits.get(b.serverId) ?? 0) - (fits.get(a.serverId) ?? 0))
}
