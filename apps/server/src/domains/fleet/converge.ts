import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { denySetHash } from '@netlet/contract/agent'
import type { AgentClient } from '../../integrations/agent/index.ts'
import type { Transaction } from '../../platform/db/client.ts'
import type { Shop } from '../../platform/shop.ts'
import { deniedDomains, serverCidrs } from '../inventory/index.ts'
import { agentOf, noteAnswer, noteSilence } from './agents.ts'
import { withServerLock } from './lock.ts'
import { convergeQueue } from './queues.ts'
import { agentUsers, servers } from './tables.ts'

type AgentUser = typeof agentUsers.$inferSelect
type Following = Pick<Shop, 'db' | 'jobs' | 'secrets' | 'now' | 'log'>

/** Called within the transaction that notes what an agent confirmed, with the orders concerned, ascending. */
export type OnConfirmed = (tx: Transaction, orderIds: number[]) => Promise<void>

const BATCH = 64
const AT_ONCE = 8

/** The agent did not answer; the job is tried again. */
export class AgentUnreachable extends Error {
  override name = 'AgentUnreachable'
}

/**
 * Brings one server's agent to what is wanted of it: its ranges first, then users put and deleted. Only one process
 * does this for a server at a time, so that an older state never overtakes a newer one on the wire.
 * @throws AgentUnreachable where the agent is away
 */
export async function convergeServer(shop: Following, serverId: number, onConfirmed: OnConfirmed): Promise<void> {
  const ran = await withServerLock(shop.db, serverId, () => follow(shop, serverId, onConfirmed))
  // Someone else is at it, and may have looked for the last time before our change was there: look again soon.
  if (!ran) {
    const startAfter = new Date(shop.now().getTime() + 1000)
    await shop.jobs.send(shop.db, convergeQueue, { serverId }, { key: String(serverId), startAfter })
  }
}

async function follow(shop: Following, serverId: number, onConfirmed: OnConfirmed): Promise<void> {
  const [server] = await shop.db
    .select()
    .from(servers)
    .where(and(eq(servers.id, serverId), isNull(servers.deletedAt)))
  if (!server) return
  const agent = agentOf(server, shop.secrets)
  try {
    if (server.prefixesGeneration !== server.prefixesApplied) await loadPrefixes(shop, agent, server)
    const deniedBy = new Map<string, string[]>()
    for (;;) {
      const behind = await shop.db
        .select()
        .from(agentUsers)
        .where(
          and(
            eq(agentUsers.serverId, serverId),
            sql`${agentUsers.generation} <> ${agentUsers.appliedGeneration}`,
            isNull(agentUsers.refusal)
          )
        )
        .orderBy(asc(agentUsers.generation))
        .limit(BATCH)
      if (behind.length === 0) break
      for (const user of behind) {
        const key = user.rules.join()
        if (user.wanted && !deniedBy.has(key)) deniedBy.set(key, await deniedDomains(shop.db, { bought: user.rules }))
      }
      for (let at = 0; at < behind.length; at += AT_ONCE) {
        const some = behind.slice(at, at + AT_ONCE)
        const outcomes = await Promise.all(some.map(user => apply(agent, user, deniedBy.get(user.rules.join()) ?? [])))
        await confirm(shop, some, outcomes, onConfirmed)
        const silent = outcomes.find(outcome => outcome.kind === 'unreachable')
        if (silent) throw new AgentUnreachable(silent.message)
      }
    }
    await noteAnswer(shop.db, serverId, shop.now())
  } catch (error) {
    if (error instanceof AgentUnreachable) await noteSilence(shop.db, serverId, error.message, shop.now())
    throw error
  }
}

async function loadPrefixes(shop: Following, agent: AgentClient, server: typeof servers.$inferSelect): Promise<void> {
  const reply = await agent.putPrefixes(await serverCidrs(shop.db, server.id))
  if (!reply.ok) throw new AgentUnreachable(`The agent did not take its ranges: ${reply.message}`)
  await shop.db.update(servers).set({ prefixesApplied: server.prefixesGeneration }).where(eq(servers.id, server.id))
}

type Outcome =
  | { kind: 'applied'; digest: string | null; message: '' }
  | { kind: 'refused' | 'unreachable'; message: string }

async function apply(agent: AgentClient, user: AgentUser, denied: string[]): Promise<Outcome> {
  if (!user.wanted) {
    const reply = await agent.deleteUser(user.username)
    return reply.ok ? { kind: 'applied', digest: null, message: '' } : { kind: reply.kind, message: reply.message }
  }
  const body = { password: user.password, prefixes: user.prefixes, allowed_client_ips: [] }
  // Most users of a server share a deny list that its agent has already: naming it spares sending it.
  let reply = await agent.putUser(user.username, { ...body, deny_set: denySetHash(denied) })
  if (!reply.ok && reply.kind === 'refused' && reply.reason === 'unknownDenySet') {
    reply = await agent.putUser(user.username, { ...body, denied_domains: denied })
  }
  return reply.ok
    ? { kind: 'applied', digest: reply.data.hash, message: '' }
    : { kind: reply.kind, message: reply.message }
}

/** Notes what the agent confirmed and lets the orders concerned go on, all in one transaction. */
async function confirm(
  shop: Following,
  users: AgentUser[],
  outcomes: Outcome[],
  onConfirmed: OnConfirmed
): Promise<void> {
  const told = users
    .map((user, at) => ({ user, outcome: outcomes[at] }))
    .filter(({ outcome }) => outcome?.kind !== 'unreachable')
  if (told.length === 0) return
  await shop.db.transaction(async tx => {
    const orders = new Set<number>()
    for (const { user, outcome } of told) {
      const same = and(eq(agentUsers.serverId, user.serverId), eq(agentUsers.username, user.username))
      if (outcome?.kind === 'refused') {
        shop.log.warn(
          { server: user.serverId, username: user.username, reason: outcome.message },
          'agent refused a user'
        )
        await tx
          .update(agentUsers)
          .set({ refusal: outcome.message })
          .where(and(same, eq(agentUsers.generation, user.generation)))
      } else if (user.wanted) {
        const digest = outcome?.kind === 'applied' ? outcome.digest : null
        await tx.update(agentUsers).set({ appliedGeneration: user.generation, digest }).where(same)
      } else {
        await tx.delete(agentUsers).where(and(same, eq(agentUsers.generation, user.generation)))
      }
      if (user.orderId !== null) orders.add(user.orderId)
    }
    // Ascending, so that two of these never wait for each other.
    if (orders.size > 0)
      await onConfirmed(
        tx,
        [...orders].toSorted((a, b) => a - b)
      )
  })
}
