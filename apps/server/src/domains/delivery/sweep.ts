import { and, asc, eq, gt, inArray, isNotNull, lt, notExists, sql } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { enqueueConverge, serversBehind } from '../servers/index.ts'
import { agentUsers } from '../servers/tables.ts'
import { orders } from '../orders/tables.ts'
import { advance } from './advance.ts'
import { enqueueTask, groupOf, LOST_AFTER_MS } from './queues.ts'

const BATCH = 200

/**
 * Takes up what a process left behind when it died: agents that are behind, deliveries that wait for no agent, and
 * tasks whose job is gone. It runs each minute and when a worker starts; doing it twice does no harm.
 */
export async function sweep(ctx: AppContext): Promise<void> {
  const behind = await serversBehind(ctx.db)
  if (behind.length > 0) await command(ctx, SYSTEM, async unit => enqueueConverge(unit, behind))
  await sweepDeliveries(ctx)
  await sweepTasks(ctx)
}

/** Deliveries that wait for no agent. The others advance when their agents confirm. */
async function sweepDeliveries(ctx: AppContext): Promise<void> {
  for (let after = 0; ;) {
    const some = await ctx.db
      .select({ id: orders.id })
      .from(orders)
      .where(
        and(
          inArray(orders.state, ['delivering', 'partly_delivered']),
          gt(orders.id, after),
          notExists(
            ctx.db
              .select({ one: sql`1` })
              .from(agentUsers)
              .where(
                and(eq(agentUsers.orderId, orders.id), sql`${agentUsers.generation} <> ${agentUsers.appliedGeneration}`)
              )
          )
        )
      )
      .orderBy(asc(orders.id))
      .limit(BATCH)
    for (const { id } of some) await command(ctx, SYSTEM, unit => advance(unit, [id]))
    after = some.at(-1)?.id ?? after
    if (some.length < BATCH) return
  }
}

async function sweepTasks(ctx: AppContext): Promise<void> {
  const before = new Date(ctx.now().getTime() - LOST_AFTER_MS)
  const tasks = await ctx.db
    .select({ orderId: orders.id, userId: orders.userId, taskId: orders.taskId, task: orders.task })
    .from(orders)
    .where(and(isNotNull(orders.task), lt(orders.taskAt, before)))
    .orderBy(asc(orders.taskAt))
  await command(ctx, SYSTEM, async unit => {
    for (const { orderId, userId, taskId, task } of tasks)
      if (taskId && task) enqueueTask(unit, task, { orderId, taskId, group: groupOf(userId) })
  })
}
