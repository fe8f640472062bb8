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
 * Ends a change of a locked order's addresses whose new ones wait for a server in trouble, where there are no others: the
 * order keeps what it had, which still works.
 * @returns false where no change runs, or what it had is not all there any more
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
  // A part of an earlier change may be among them: the order keeps as many as it bought, and gives back the rest.
  await keepReplaced(unit, order, order.quantity)
  const users = usersOf(order, await servedShares(tx, order.id))
  const left = held
    .flatMap(holding => holding.serverIds)
    .filter(serverId => !users.some(user => user.serverId === serverId))
  if (left.length > 0) await removeDesiredUsers(unit, order.id, [...new Set(left)])
  await wantUsers(unit, order, users)
  // Whoever has seen some of the new ones has changed.
  await failTask(unit, order, { code: 'out_of_stock' }, { changed: worked > 0 })
  return true
}
