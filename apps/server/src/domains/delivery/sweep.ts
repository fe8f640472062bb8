import { and, asc, eq, gt, inArray, isNotNull, lt, notExists, sql } from 'drizzle-orm'
import type { AppContext } from '../../infra/context.ts'
import { followOn, serversBehind } from '../fleet/index.ts'
import { agentUsers } from '../fleet/tables.ts'
import { orders } from '../orders/tables.ts'
import { advance } from './advance.ts'
import { lostAfter, queueOf } from './queues.ts'

type Sweeping = Pick<AppContext, 'db' | 'jobs' | 'now'>

const BATCH = 200

/**
 * Takes up what a process left behind when it died: agents that are behind, deliveries that nobody leads any more, and
 * tasks whose job is gone. Runs each minute and whenever a worker starts; doing it twice does no harm.
 */
export async function sweep(ctx: Sweeping): Promise<void> {
  const behind = (await serversBehind(ctx.db)).toSorted((a, b) => a - b)
  await followOn(ctx.db, ctx.jobs, behind)
  await sweepDeliveries(ctx)
  await sweepTasks(ctx)
}

/** Deliveries that wait for no agent: those that do are led on by what their agents confirm. */
async function sweepDeliveries(ctx: Sweeping): Promise<void> {
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
    for (const { id } of some) await ctx.db.transaction(tx => advance(tx, ctx, [id]))
    after = some.at(-1)?.id ?? after
    if (some.length < BATCH) return
  }
}

async function sweepTasks(ctx: Sweeping): Promise<void> {
  const now = ctx.now().getTime()
  const tasks = await ctx.db
    .select({ orderId: orders.id, taskId: orders.taskId, task: orders.task, at: orders.taskAt })
    .from(orders)
    .where(and(isNotNull(orders.task), lt(orders.taskAt, new Date(now - lostAfter('deliver')))))
    .orderBy(asc(orders.taskAt))
  for (const { orderId, taskId, task, at } of tasks) {
    if (!taskId || !task || !at || at.getTime() > now - lostAfter(task)) continue
    await ctx.jobs.send(ctx.db, queueOf(task), { orderId, taskId }, { key: `${orderId}:${taskId}` })
  }
}
