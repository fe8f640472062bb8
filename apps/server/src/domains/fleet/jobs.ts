import type { AppContext } from '../../infra/context.ts'
import { checkServers } from './health.ts'
import { provisionServer } from './provision/provision.ts'
import { renewDenyLists } from './desired.ts'
import { denyListsQueue, healthQueue, provisionQueue, repairAllQueue, repairQueue } from './queues.ts'
import { repairAll, repairServer } from './repair.ts'

/** The queues of the fleet but `convergeQueue`, which those work on who own what agents confirm. */
export const fleetQueues = [healthQueue, repairAllQueue, repairQueue, provisionQueue, denyListsQueue]

/** Watches, repairs and installs servers in this process. */
export async function fleetJobs(ctx: AppContext): Promise<void> {
  const { jobs } = ctx
  await jobs.work(healthQueue, () => checkServers(ctx))
  await jobs.work(denyListsQueue, () => renewDenyLists(ctx))
  await jobs.work(repairAllQueue, () => repairAll(ctx))
  await jobs.work(repairQueue, async ({ serverId }) => void (await repairServer(ctx, serverId, 10_000)), {
    concurrency: 4
  })
  await jobs.work(provisionQueue, work => provisionServer(ctx, work), { concurrency: 2 })
  await jobs.schedule(healthQueue, '* * * * *')
  await jobs.schedule(repairAllQueue, '*/3 * * * *')
}
