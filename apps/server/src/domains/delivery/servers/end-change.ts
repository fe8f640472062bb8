import { inArray } from 'drizzle-orm'
import type { Unit } from '../../../infra/command.ts'
import { removeDesiredUsers } from '../../fleet/index.ts'
import { markReplaced } from '../../inventory/index.ts'
import { failTask, taskStateOf, type OrderRow } from '../../orders/index.ts'
import { keepReplaced } from '../keep-replaced.ts'
import { holdingsOf, isRetired, retireProxies, sumOf } from '../holdings.ts'
import { servedShares, usersOf } from '../start.ts'
import { proxies } from '../tables.ts'
import { wantUsers } from '../want-users.ts'

/**
 * Ends a change of a locked order's addresses if the new ones wait for a troubled server and there are no others. The
 * order keeps its old addresses, which still work.
 * @returns false if no change runs, or some old addresses are gone
 */
export async function endChange(unit: Unit, order: OrderRow): Promise<boolean> {
  const { tx } = unit
  if (order.task !== 'change' || !order.taskId || taskStateOf(order) !== 'running') return false
  const held = await holdingsOf(tx, order.id)
  const before = held.filter(holding => holding.replaced && !isRetired(holding))
  if (sumOf(before, holding => holding.addresses) < order.quantity) return false
  const changed = held.filter(holding => !holding.replaced).map(holding => holding.leaseId)
  await markReplaced(tx, changed)
  const worked = await retireProxies(unit, order.id, inArray(proxies.leaseId, changed))
  // They may include a part of an earlier change. The order keeps as many as it bought, and gives back the rest.
  await keepReplaced(unit, order, order.quantity)
  const users = usersOf(order, await servedShares(tx, order.id))
  const left = held
    .flatMap(holding => holding.serverIds)
    .filter(serverId => !users.some(user => user.serverId === serverId))
  if (left.length > 0) await removeDesiredUsers(unit, order.id, [...new Set(left)])
  await wantUsers(unit, order, users)
  // A customer who has seen some of the new ones has changed.
  await failTask(unit, order, { code: 'out_of_stock' }, { changed: worked > 0 })
  return true
}
