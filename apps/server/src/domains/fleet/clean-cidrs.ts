import { refuse } from '@netlet/contract'
import { isNotNull } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { ok } from '../../infra/result.ts'
import { versionOf } from '../../infra/version.ts'
import { cleanUnused, lockInventory, unusedCidrs } from '../inventory/index.ts'
import { servers } from './tables.ts'

/** A plan names at most this many ranges. */
const NAMED = 200

type Which = { ofRemovedServers: boolean }

/** The ranges that cleaning would remove now. It only reads, without the inventory's lock. */
export async function planCleaning(db: Executor, which: Which) {
  const { unused } = await unusedCidrs(db, { ofServers: await removedServers(db, which) })
  return ok({
    count: unused.length,
    cidrs: unused.slice(0, NAMED).map(({ id, cidr }) => ({ id, cidr })),
    plan: planOf(unused)
  })
}

/**
 * Removes ranges that belong to no server and have no leases; on request also those of removed servers.
 * @param which.plan the approved plan; refused as stale if other ranges would go now
 */
export const cleanUnusedCidrs = (
  ctx: AppContext,
  by: Actor,
  { plan, ...which }: Which & { plan?: string | undefined }
) =>
  command(ctx, by, async unit => {
    // Lock first: the removal of a server releases its ranges under this lock.
    await lockInventory(unit.tx)
    const { removed } = await cleanUnused(unit, { ofServers: await removedServers(unit.tx, which) })
    if (plan !== undefined && plan !== planOf(removed)) return refuse('stale')
    const results = {
      deleted_count: removed.length,
      cidr_details: removed.map(({ id, cidr }) => ({ id, cidr }))
    }
    if (removed.length > 0) unit.audit('cidr.clean', 'all', { before: results.cidr_details })
    return ok({ results, ...results })
  })

async function removedServers(db: Executor, { ofRemovedServers }: Which): Promise<number[]> {
  if (!ofRemovedServers) return []
  const gone = await db.select({ id: servers.id }).from(servers).where(isNotNull(servers.deletedAt))
  return gone.map(({ id }) => id)
}

const planOf = (ranges: readonly { id: number }[]): string => versionOf({ ids: ranges.map(({ id }) => id) })
