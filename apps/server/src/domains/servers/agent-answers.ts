// What is recorded of an agent while it is brought to its desired state, and of its proxies while they are tried.
import type { Unit } from '../../infra/command.ts'
import { and, eq, gt, isNotNull, isNull, ne, or, sql } from '../../infra/db/drizzle.ts'
import { LONGEST_PAUSE_S, clearTrouble } from './agent-health.ts'
import { enqueueConverge } from './desired/desired-users.ts'
import type { AgentUser } from './desired/order-access.ts'
import { publishSelling } from './server-row.ts'
import { agentUsers, serverOutages, servers } from './tables.ts'

/** What an agent did with a user: it refused it, or has done what was wanted. `digest`: of what it holds now. */
type Answer = { refusal: string } | { digest: string | null }

/** Records an agent's answer about one generation of a user. @returns the user's row, if the user is gone */
export async function recordAnswer(
  unit: Unit,
  user: AgentUser,
  answer: Answer
): Promise<(typeof agentUsers.$inferSelect)[]> {
  const { tx } = unit
  const same = and(eq(agentUsers.serverId, user.serverId), eq(agentUsers.username, user.username))
  const unchanged = and(same, eq(agentUsers.generation, user.generation))
  unit.publish('server', user.serverId)
  if ('refusal' in answer) {
    await tx.update(agentUsers).set(answer).where(unchanged)
    return []
  }
  if (!user.wanted) return tx.delete(agentUsers).where(unchanged).returning()
  const { digest } = answer
  const handOver = sql`${agentUsers.handOver} and ${agentUsers.generation} <> ${user.generation}`
  await tx.update(agentUsers).set({ appliedGeneration: user.generation, digest, handOver }).where(same)
  return []
}

/** Gives users that an agent refused another try. @returns whether there were some */
export async function clearRefusals({ tx }: Unit, serverId: number): Promise<boolean> {
  const again = await tx
    .update(agentUsers)
    .set({ refusal: null })
    .where(and(eq(agentUsers.serverId, serverId), isNotNull(agentUsers.refusal)))
    .returning({ id: agentUsers.serverId })
  return again.length > 0
}

/** Has these users sent to their agent again. */
export async function renewUsers(unit: Unit, serverId: number, usernames: string[]): Promise<void> {
  if (usernames.length === 0) return
  await unit.tx
    .update(agentUsers)
    .set({ generation: sql`nextval('agent_generation')`, refusal: null })
    .where(and(eq(agentUsers.serverId, serverId), sql`${agentUsers.username} = any(${sql.param(usernames)}::text[])`))
  enqueueConverge(unit, [serverId])
}

/**
 * Records which ranges an agent has taken. Those that it refused are not sold.
 * @param taken.generation the ranges that it has exactly; null: it has others too, or lacks some
 */
export async function recordRanges(
  unit: Unit,
  serverId: number,
  { generation, refused }: { generation: number | null; refused: string[] }
): Promise<void> {
  if (generation !== null) {
    await unit.tx.update(servers).set({ prefixesApplied: generation }).where(eq(servers.id, serverId))
    await clearTrouble(unit, serverId, ['prefixes_refused', 'prefixes_waiting'])
    unit.publish('server', serverId)
  }
  const refusedRanges = refused.toSorted()
  const changed = await unit.tx
    .update(servers)
    .set({ refusedRanges })
    .where(and(eq(servers.id, serverId), ne(servers.refusedRanges, refusedRanges)))
    .returning({ id: servers.id })
  if (changed.length > 0) publishSelling(unit)
}

/** Records whether an administrator has approved that the next repair removes many users. */
export async function allowRemovals({ tx }: Unit, serverId: number, removalsAllowed: boolean): Promise<void> {
  await tx
    .update(servers)
    .set({ removalsAllowed })
    .where(and(eq(servers.id, serverId), ne(servers.removalsAllowed, removalsAllowed)))
}

/** Takes blocks around addresses that old credentials still open out of stock, and all others back into it. */
export async function setWithheldRanges(unit: Unit, serverId: number, withheldRanges: string[]): Promise<void> {
  const changed = await unit.tx
    .update(servers)
    .set({ withheldRanges })
    .where(and(eq(servers.id, serverId), ne(servers.withheldRanges, withheldRanges)))
    .returning({ id: servers.id })
  if (changed.length === 0) return
  unit.publish('server', serverId)
  publishSelling(unit)
}

/** No credentials are tried at the server before this time. */
export async function setNextProof({ tx }: Unit, serverId: number, nextProofAt: Date): Promise<void> {
  await tx.update(servers).set({ nextProofAt }).where(eq(servers.id, serverId))
}

/**
 * Sets times after `soon` to now, which a clock that ran ahead has left: since when a server is silent, its next tries,
 * the start of its outage.
 * @returns servers whose next try was too late
 */
export async function endFutureTimesOfServers({ tx, now: at }: Unit, soon: Date): Promise<number[]> {
  const now = sql`${at.toISOString()}::timestamptz`
  const [silent, failing] = [gt(servers.unreachableSince, soon), gt(servers.failingSince, soon)]
  const tooLate = gt(servers.nextTryAt, sql`${now} + ${LONGEST_PAUSE_S} * interval '1 second'`)
  const found = await tx
    .update(servers)
    .set({
      unreachableSince: sql`case when ${silent} then ${now} else ${servers.unreachableSince} end`,
      failingSince: sql`case when ${failing} then ${now} else ${servers.failingSince} end`,
      nextTryAt: null
    })
    .where(and(isNull(servers.deletedAt), or(silent, failing, tooLate)))
    .returning({ id: servers.id })
  // A cancellation in the future would also cancel installations requested since.
  await tx.update(servers).set({ provisioningCancelledAt: at }).where(gt(servers.provisioningCancelledAt, soon))
  await tx.update(servers).set({ nextProofAt: null }).where(gt(servers.nextProofAt, soon))
  const begunLater = gt(serverOutages.startedAt, soon)
  // An outage entirely in the future is deleted. If its server is still silent, the next check opens one.
  await tx.delete(serverOutages).where(and(begunLater, gt(serverOutages.endedAt, now)))
  await tx
    .update(serverOutages)
    .set({ startedAt: at })
    .where(and(begunLater, isNull(serverOutages.endedAt)))
  return found.map(({ id }) => id)
}
