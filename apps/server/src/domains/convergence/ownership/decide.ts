import { refuse, type RepairPlan } from '@netlet/contract'
import { eq } from '../../../infra/db/drizzle.ts'
import type { Actor } from '../../../infra/actor.ts'
import { command } from '../../../infra/command.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { done, ok, type Result } from '../../../infra/result.ts'
import { type SyncContext, withServerLock, enqueueRepair, lockServer, readServerRow } from '../../servers/index.ts'
import { LOCK_WAIT_MS, requireAgent, callFailed, type AgentOutput } from '../agent-calls.ts'
import { repairServer } from '../repair.ts'
import { agentTies } from '../tables.ts'
import { readPlan } from './plan.ts'
import { claimAgent, type ClaimOutcome } from './claim-agent.ts'

/** The plan that waits for an approval; null if none. */
export async function findRepairPlan(db: Executor, serverId: number): Promise<Result<RepairPlan | null>> {
  if (!(await readServerRow(db, serverId))) return refuse('not_found')
  return ok((await readPlan(db, serverId)).plan)
}

/** Approves exactly the plan that was shown, and carries it out. A plan that changed since needs another approval. */
export async function approvePlan(
  ctx: SyncContext,
  by: Actor,
  serverId: number,
  digest: string
): Promise<Result<AgentOutput>> {
  const approved = await command(ctx, by, async unit => {
    if (!(await lockServer(unit, serverId))) return refuse('not_found')
    const { plan } = await readPlan(unit.tx, serverId)
    if (plan?.digest !== digest) return refuse('stale')
    await unit.tx.update(agentTies).set({ approved: digest }).where(eq(agentTies.serverId, serverId))
    const { removed, changed, ranges } = plan
    unit.audit('server.approve_plan', serverId, { after: { removed, changed, ranges } })
    return done
  })
  if (!approved.ok) return approved
  return repairNow(ctx, by, serverId)
}

/**
 * Makes this console the owner of an agent. What the agent holds stays: a repair first shows what it would remove and
 * change, which needs an approval of its own.
 * @param from the id of the owner that was shown
 */
export async function takeOver(
  ctx: SyncContext,
  by: Actor,
  serverId: number,
  from: string
): Promise<Result<AgentOutput>> {
  const found = await requireAgent(ctx, serverId)
  if (!found.ok) return found
  let claimed: ClaimOutcome | undefined
  await withServerLock(
    ctx.db,
    serverId,
    async () => {
      const { agent, server } = found.data
      const info = await agent.info()
      if (!info.ok || info.data.owner?.id !== from) return
      // Before the take-over, so that the request is on record even if the answer is lost.
      await command(ctx, by, async unit =>
        unit.audit('server.take_over', serverId, { before: { console: info.data.owner }, after: {} })
      )
      claimed = await claimAgent(ctx, server, { takeOverFrom: from })
    },
    { waitMs: LOCK_WAIT_MS }
  )
  if (claimed === undefined || claimed.kind === 'foreign') return refuse('stale')
  if (claimed.kind === 'failed') return callFailed(claimed.message)
  return repairNow(ctx, by, serverId)
}

async function repairNow(ctx: SyncContext, by: Actor, serverId: number): Promise<Result<AgentOutput>> {
  const repair = await repairServer(ctx, serverId, LOCK_WAIT_MS)
  if (repair.kind === 'gone') return refuse('not_found')
  if (repair.kind === 'failed') return callFailed(repair.message)
  if (repair.kind === 'busy') {
    await command(ctx, by, async unit => enqueueRepair(unit, serverId))
    return ok({ status: 202, output: 'Approved. The repair runs after the other changes of this server.' })
  }
  if (repair.kind === 'foreign') return refuse('stale')
  return ok({ status: 200, output: repair.kind === 'planned' ? { waiting: repair.plan } : repair })
}
