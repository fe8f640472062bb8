import { refuse, type Order, type OrderLabel } from '@netlet/contract'
import type { UserActor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { done, type Result } from '../../infra/result.ts'
import { findOrder } from './list.ts'
import { lockOrder, updateOrder } from './transition.ts'

/**
 * Saves the customer's own label and note of an order. Only the customer writes them, so the last edit wins. A repeat
 * changes nothing.
 */
export async function editLabel(
  ctx: AppContext,
  caller: UserActor,
  id: number,
  { label, note }: OrderLabel
): Promise<Result<Order>> {
  // Operators may read the label and the note, but only the customer writes them.
  if (caller.impersonator) return refuse('while_impersonating')
  const edited = await command(ctx, caller, async unit => {
    const order = await lockOrder(unit, id)
    if (!order || order.deletedAt || order.userId !== caller.id) return refuse('not_found')
    const now = { label: label === undefined ? order.label : label, note: note === undefined ? order.note : note }
    if (now.label !== order.label || now.note !== order.note) await updateOrder(unit, id, now)
    return done
  })
  return edited.ok ? findOrder(ctx.db, id, caller.id, ctx.now()) : edited
}
