import { and, asc, eq, inArray } from 'drizzle-orm'
import { denySetHash } from '@netlet/contract/agent'
import type { AgentClient } from '../../integrations/agent/index.ts'
import type { Transaction } from '../../infra/db/client.ts'
import type { AppContext } from '../../infra/context.ts'
import { orders } from '../orders/tables.ts'
import { agentUsers } from './tables.ts'

export type AgentUser = typeof agentUsers.$inferSelect

/** Called within the transaction that notes what an agent confirmed, with the orders concerned, ascending. */
export type OnConfirmed = (tx: Transaction, orderIds: number[]) => Promise<void>

/** What became of one user on its agent. `reply` is the agent's own answer. */
export type Outcome =
  | { kind: 'applied'; digest: string | null; reply: unknown }
  | { kind: 'refused'; reason: string; message: string }
  | { kind: 'unreachable'; message: string }

/** Makes the agent hold what is wanted for one user. */
export async function applyUser(agent: AgentClient, user: AgentUser, denied: string[]): Promise<Outcome> {
  if (!user.wanted) {
    const reply = await agent.deleteUser(user.username)
    return reply.ok ? { kind: 'applied', digest: null, reply: reply.data } : reply
  }
  const body = { password: user.password, prefixes: user.prefixes, allowed_client_ips: [] }
  // Most users of a server share a deny list that its agent has already: naming it spares sending it.
  let reply = await agent.putUser(user.username, { ...body, deny_set: denySetHash(denied) })
  if (!reply.ok && reply.kind === 'refused' && reply.reason === 'unknownDenySet') {
    reply = await agent.putUser(user.username, { ...body, denied_domains: denied })
  }
  return reply.ok ? { kind: 'applied', digest: reply.data.hash, reply: reply.data } : reply
}

/** Notes what the agent said and lets the orders concerned go on, all in one transaction. */
export async function noteOutcomes(
  ctx: Pick<AppContext, 'db' | 'log'>,
  outcomes: { user: AgentUser; outcome: Outcome }[],
  onConfirmed: OnConfirmed
): Promise<void> {
  const told = outcomes.filter(({ outcome }) => outcome.kind !== 'unreachable')
  if (told.length === 0) return
  // Ascending, so that two of these never wait for each other.
  const orderIds = [...new Set(told.map(({ user }) => user.orderId))]
    .filter(id => id !== null)
    .toSorted((a, b) => a - b)
  await ctx.db.transaction(async tx => {
    // First the orders, then their users: whoever changes an order takes them the same way round.
    await tx
      .select({ id: orders.id })
      .from(orders)
      .where(inArray(orders.id, orderIds))
      .orderBy(asc(orders.id))
      .for('update')
    for (const { user, outcome } of told) {
      const same = and(eq(agentUsers.serverId, user.serverId), eq(agentUsers.username, user.username))
      const unchanged = and(same, eq(agentUsers.generation, user.generation))
      if (outcome.kind === 'refused') {
        const { serverId, username } = user
        ctx.log.warn({ server: serverId, username, reason: outcome.message }, 'agent refused a user')
        await tx.update(agentUsers).set({ refusal: outcome.message }).where(unchanged)
      } else if (user.wanted) {
        const digest = outcome.kind === 'applied' ? outcome.digest : null
        await tx.update(agentUsers).set({ appliedGeneration: user.generation, digest }).where(same)
      } else {
        await tx.delete(agentUsers).where(unchanged)
      }
    }
    if (orderIds.length > 0) await onConfirmed(tx, orderIds)
  })
}
