import { refuse, type Order, type OrderLabel } from '@netlet/contract'
import type { UserActor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { done, type Result } from '../../infra/result.ts'
import { findOrder } from './list.ts'
import { lockOrder, updateOrder } from './transition.ts'

/**
 * Writes down what a customer calls its own order. Nobody else has words for it, so the last one who writes is right; written
 * again, it changes nothing.
 */
export async function editLabel(
  ctx: AppContext,
  caller: UserActor,
  id: number,
  { label, note }: OrderLabel
): Promise<Result<Order>> {
  // Operators read them; they are nobody's but the customer's own.
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
