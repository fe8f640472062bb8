import { withUnit } from '../../infra/legacy-unit.ts'
import { and, eq, isNull, like, not, or, sql } from 'drizzle-orm'
import type { AgentState } from '@netlet/contract/agent'
import type { AgentClient } from '../../integrations/agent/index.ts'
import { isoOrNull } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import { serverCidrs } from '../inventory/index.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { agentOf, type ServerRow } from './agents.ts'
import { followOn, renewPrefixes } from './desired.ts'
import { withServerLock } from './lock.ts'
import { repairQueue } from './queues.ts'
import { agentUsers, servers } from './tables.ts'

type Repairing = Pick<AppContext, 'db' | 'jobs' | 'secrets' | 'now' | 'log'>

/** More strays than both of these are removed on an administrator's word only. */
export const SAFE_REMOVALS = 10
export const SAFE_SHARE = 0.2

export type Repair =
  | { kind: 'gone' | 'busy' }
  | { kind: 'unreachable'; message: string }
  | {
      kind: 'compared'
      /** Users that the agent lacked or held otherwise, and now gets again. */
      renewed: number
      /** Users that nobody wanted, taken off the agent. */
      removed: string[]
      /** The same, left there until an administrator allows it. */
      waiting: number
      prefixesRenewed: boolean
    }

/**
 * Compares one agent with what is wanted of it and mends the difference: what is missing or differs is sent again, what
 * nobody wants is taken off. A lost state on the agent's disk is only the largest difference there can be.
 */
export async function repairServer(ctx: Repairing, serverId: number, waitMs = 0): Promise<Repair> {
  const [server] = await ctx.db
    .select()
    .from(servers)
    .where(and(eq(servers.id, serverId), isNull(servers.deletedAt)))
  if (!server) return { kind: 'gone' }
  let repair: Repair = { kind: 'busy' }
  // Under the lock, nothing that the agent is told between the two looks can be taken for a difference.
  await withServerLock(ctx.db, serverId, async () => void (repair = await compare(ctx, server)), { waitMs })
  return repair
}

async function compare(ctx: Repairing, server: ServerRow): Promise<Repair> {
  const agent = agentOf(server, ctx.secrets)
  const state = await agent.state()
  if (!state.ok) return { kind: 'unreachable', message: state.message }
  const rows = await ctx.db
    .select({
      username: agentUsers.username,
      wanted: agentUsers.wanted,
      digest: agentUsers.digest,
      inStep: sql<boolean>`${agentUsers.generation} = ${agentUsers.appliedGeneration}`
    })
    .from(agentUsers)
    .where(eq(agentUsers.serverId, server.id))
  const held = new Map(state.data.users.map(user => [user.user, user.hash]))
  const known = new Set(rows.map(row => row.username))
  const differing = rows.filter(row => row.wanted && row.inStep && held.get(row.username) !== row.digest)
  const strays = [...held.keys()].filter(user => !known.has(user))
  const prefixesRenewed = await renewIfDiffering(ctx, server, state.data)
  const names = differing.map(row => row.username)
  await renewUsers(ctx, server.id, names)
  const { removed, waiting } = await removeStrays(ctx, agent, server, strays, held.size)
  if (names.length + removed.length > 0 || prefixesRenewed) {
    const { epoch } = state.data
    ctx.log.warn(
      { server: server.id, epoch, renewed: names.length, removed: removed.length, prefixesRenewed },
      'agent differed from what is wanted of it'
    )
  }
  return { kind: 'compared', renewed: names.length, removed, waiting, prefixesRenewed }
}

async function renewIfDiffering(ctx: Repairing, server: ServerRow, state: AgentState): Promise<boolean> {
  // A change that is still on its way is no difference yet.
  if (server.prefixesGeneration !== server.prefixesApplied) return false
  const wanted = await serverCidrs(ctx.db, server.id)
  const same = wanted.length === state.prefixes.length && wanted.every(prefix => state.prefixes.includes(prefix))
  if (!same) await ctx.db.transaction(tx => renewPrefixes(tx, ctx.jobs, server.id))
  return !same
}

async function renewUsers(ctx: Repairing, serverId: number, usernames: string[]): Promise<void> {
  if (usernames.length === 0) return
  await ctx.db.transaction(async tx => {
    await tx
      .update(agentUsers)
      .set({ generation: sql`nextval('agent_generation')`, refusal: null })
      .where(and(eq(agentUsers.serverId, serverId), sql`${agentUsers.username} = any(${sql.param(usernames)}::text[])`))
    await followOn(tx, ctx.jobs, [serverId])
  })
}

const WAITING = 'users that nobody wants wait for removal'

async function removeStrays(
  ctx: Repairing,
  agent: AgentClient,
  server: ServerRow,
  strays: string[],
  users: number
): Promise<{ removed: string[]; waiting: number }> {
  const tooMany = strays.length > SAFE_REMOVALS && strays.length > users * SAFE_SHARE
  if (tooMany && !server.removalsAllowed) {
    await askForWord(ctx, server, strays.length, users)
    return { removed: [], waiting: strays.length }
  }
  const removed: string[] = []
  for (const user of strays) {
    const reply = await agent.deleteUser(user)
    if (!reply.ok) break
    removed.push(user)
  }
  if (removed.length < strays.length) return { removed, waiting: strays.length - removed.length }
  // The word was given for what waited then: it does not hold for the next time.
  await ctx.db.update(servers).set({ removalsAllowed: false }).where(eq(servers.id, server.id))
  await ctx.db
    .update(servers)
    .set({ lastError: null })
    .where(and(eq(servers.id, server.id), like(servers.lastError, `%${WAITING}%`)))
  return { removed, waiting: 0 }
}

/** Shows what waits, and tells the administrators the first time. */
async function askForWord(ctx: Repairing, server: ServerRow, strays: number, users: number): Promise<void> {
  const text = `${strays} of ${users} ${WAITING}: more than may be removed without an administrator's word`
  await ctx.db.transaction(async tx => {
    const first = await tx
      .update(servers)
      .set({ lastError: text })
      .where(
        and(eq(servers.id, server.id), or(isNull(servers.lastError), not(like(servers.lastError, `%${WAITING}%`))))
      )
      .returning({ id: servers.id })
    if (first.length === 0) {
      await tx.update(servers).set({ lastError: text }).where(eq(servers.id, server.id))
      return
    }
    await withUnit(tx, ctx.jobs, unit =>
      notifyAdmins(unit, {
        subject: `Server ${server.name}: ${strays} users wait for removal`,
        text: `The agent of server ${server.name} (${server.ip}) holds ${strays} users that no order and no administrator wants, out of ${users}.\n\nSo many are not removed by themselves, in case it is the console that forgot them. Look at the server under Server Manage, and allow the removal there if it is right.`,
        key: `removals-wait:${server.id}:${isoOrNull(server.lastSeenAt) ?? 'new'}`
      })
    )
  })
}

/** Asks for the repair of every server. */
export async function repairAll(ctx: Pick<AppContext, 'db' | 'jobs'>): Promise<void> {
  const all = await ctx.db.select({ id: servers.id }).from(servers).where(isNull(servers.deletedAt))
  for (const { id } of all) await ctx.jobs.send(ctx.db, repairQueue, { serverId: id }, { key: String(id) })
}
