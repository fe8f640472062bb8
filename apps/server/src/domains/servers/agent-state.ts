// What is recorded of an agent while it is brought to its desired state, and of its proxies while they are tried.
import { and, eq, isNotNull, ne, sql } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import { clearTrouble } from './agent-health.ts'
import type { AgentUser } from './desired/order-access.ts'
import { enqueueConverge } from './desired/desired-users.ts'
import { publishSelling } from './server-row.ts'
import { agentUsers, servers } from './tables.ts'

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
