import { and, eq, isNull, sql } from 'drizzle-orm'
import type { RepairPlan, ServerStatus } from '@netlet/contract'
import type { AgentState } from '@netlet/contract/agent'
import type { AgentClient } from '../../integrations/agent/index.ts'
import { isoOrNull } from '../../infra/clock.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { serverCidrs } from '../inventory/index.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { NOT_LIMITED } from './apply-user.ts'
import {
  agentOf,
  clearTrouble,
  setTrouble,
  type SyncContext,
  withServerLock,
  allowRemovals,
  renewUsers,
  renewPrefixes,
  enqueueRepair,
  readServerRow,
  type ServerRow,
  endReturn
} from '../servers/index.ts'
import { planRepair, readPlan, requestApproval } from './ownership/plan.ts'
import { openSession } from './ownership/session.ts'
import { repairTls } from '../certificates/index.ts'
import { agentUsers, servers } from '../servers/tables.ts'

/** If there are more unknown users than both of these, an administrator must approve their removal. */
export const SAFE_REMOVALS = 10
const SAFE_SHARE = 0.2

export type Repair =
  | { kind: 'gone' | 'busy' }
  | { kind: 'unreachable'; message: string }
  /** The agent belongs to another console. Nothing was sent. */
  | { kind: 'foreign' }
  /** The agent knows more than this console, so the plan waits for an approval. Nothing was sent. */
  | { kind: 'planned'; plan: RepairPlan }
  | {
      kind: 'compared'
      /** Users that the agent lacked or held differently. They are sent again. */
      renewed: number
      /** Unwanted users that were removed from the agent. */
      removed: string[]
      /** Unwanted users that stay until an administrator approves their removal. */
      waiting: number
      prefixesRenewed: boolean
    }

/**
 * Compares one agent with its desired state and repairs the difference: it sends again what is missing or differs, and
 * removes what is unwanted. An agent that lost its disk is repaired in the same way.
 */
export async function repairServer(ctx: SyncContext, serverId: number, waitMs = 0): Promise<Repair> {
  let repair: Repair = { kind: 'busy' }
  // Under the lock, so that a change sent between the two reads does not look like a difference.
  await withServerLock(
    ctx.db,
    serverId,
    async () => {
      const server = await readServerRow(ctx.db, serverId)
      repair = server ? await compare(ctx, server) : { kind: 'gone' }
    },
    { waitMs }
  )
  return repair
}

/** The same as a job. If another process holds the lock for longer than `waitMs`, the job runs again later. */
export async function repairInTurn(ctx: SyncContext, serverId: number, waitMs: number): Promise<void> {
  const { kind } = await repairServer(ctx, serverId, waitMs)
  if (kind !== 'busy') return
  await command(ctx, SYSTEM, async unit => enqueueRepair(unit, serverId, 5000))
}

/** Their unknown users are removed without an approval, because the orders are elsewhere or are moving. */
const LEAVING: ServerStatus[] = ['given_up', 'draining', 'returning']

async function compare(ctx: SyncContext, server: ServerRow): Promise<Repair> {
  const session = await openSession(ctx, server)
  if (session.kind === 'unreachable') return session
  if (session.kind === 'open') return compareWith(ctx, session.agent, server)
  return session.kind === 'foreign' ? { kind: 'foreign' } : planFirst(ctx, server)
}

/**
 * The agent has taken changes that this database does not know: the database is an older copy, or a second one runs
 * beside it. If the repair would only add users, it is done at once. Otherwise an administrator must approve the plan.
 */
async function planFirst(ctx: SyncContext, server: ServerRow): Promise<Repair> {
  const state = await agentOf(server, ctx.secrets).state()
  if (!state.ok) return { kind: 'unreachable', message: state.message }
  const known = state.data.owner?.mark
  const { plan, harmless } = await planRepair(ctx, server, state.data)
  const { approved } = await readPlan(ctx.db, server.id)
  if (known !== undefined && (harmless || approved === plan.digest)) {
    // Only with the mark that the plan was made for. If anything was sent to the agent since, the plan waits again.
    const session = await openSession(ctx, server, { known })
    if (session.kind === 'open') return compareWith(ctx, session.agent, { ...server, removalsAllowed: true })
  }
  await requestApproval(ctx, server, plan)
  return { kind: 'planned', plan }
}

async function compareWith(ctx: SyncContext, agent: AgentClient, server: ServerRow): Promise<Repair> {
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
  const isOld = state.data.limited !== true
  const isAsWanted = ({ username, digest }: (typeof rows)[number]) => {
    const hash = held.get(username)
    return hash === digest || (isOld && `${hash}${NOT_LIMITED}` === digest)
  }
  const differing = rows.filter(row => row.wanted && row.inStep && !isAsWanted(row))
  const unknownUsers = [...held.keys()].filter(user => !known.has(user))
  const prefixesRenewed = await renewIfDiffering(ctx, server, state.data)
  // If the agent does not answer this call, the next repair sends it again.
  await repairTls(ctx, agent, server.id, state.data.proxy_tls)
  const names = differing.map(row => row.username)
  await command(ctx, SYSTEM, unit => renewUsers(unit, server.id, names))
  const { removed, waiting } = await removeUnknownUsers(ctx, agent, server, unknownUsers, held.size)
  // Nothing of its old orders is left on it, so its addresses can be sold.
  if (waiting === 0 && server.status === 'returning') await command(ctx, SYSTEM, unit => endReturn(unit, server.id))
  if (names.length + removed.length > 0 || prefixesRenewed) {
    const { epoch } = state.data
    ctx.log.warn(
      { server: server.id, epoch, renewed: names.length, removed: removed.length, prefixesRenewed },
      'agent differed from what is wanted of it'
    )
  }
  return { kind: 'compared', renewed: names.length, removed, waiting, prefixesRenewed }
}

async function renewIfDiffering(ctx: SyncContext, server: ServerRow, state: AgentState): Promise<boolean> {
  // A change that is still being sent is not a difference.
  if (server.prefixesGeneration !== server.prefixesApplied) return false
  const wanted = await serverCidrs(ctx.db, server.id)
  const same = wanted.length === state.prefixes.length && wanted.every(prefix => state.prefixes.includes(prefix))
  if (!same) await command(ctx, SYSTEM, unit => renewPrefixes(unit, server.id))
  return !same
}

async function removeUnknownUsers(
  ctx: SyncContext,
  agent: AgentClient,
  server: ServerRow,
  unknownUsers: string[],
  users: number
): Promise<{ removed: string[]; waiting: number }> {
  const count = unknownUsers.length
  const allowed = server.removalsAllowed || LEAVING.includes(server.status)
  if (count > SAFE_REMOVALS && count > users * SAFE_SHARE && !allowed) {
    await requestRemovalApproval(ctx, server, count, users)
    return { removed: [], waiting: count }
  }
  const removed: string[] = []
  for (const user of unknownUsers) {
    const reply = await agent.deleteUser(user)
    if (!reply.ok) break
    removed.push(user)
  }
  if (removed.length < count) return { removed, waiting: count - removed.length }
  await command(ctx, SYSTEM, async unit => {
    // The approval covers only the users that waited then.
    await allowRemovals(unit, server.id, false)
    await clearTrouble(unit, server.id, ['removals_waiting'])
  })
  return { removed, waiting: 0 }
}

/** Shows how many removals wait, and notifies the administrators the first time. */
async function requestRemovalApproval(ctx: SyncContext, server: ServerRow, count: number, users: number) {
  await command(ctx, SYSTEM, async unit => {
    const first = await setTrouble(unit, server.id, { code: 'removals_waiting', params: { count, users } })
    if (!first) return
    await notifyAdmins(unit, {
      words: 'removals_wait',
      params: { server: server.name, ip: server.ip, users, count },
      key: `removals-wait:${server.id}:${isoOrNull(server.lastSeenAt) ?? 'new'}`,
      cause: 'server_trouble',
      about: `${server.id}:removals_waiting`
    })
  })
}

/** Asks for the repair of every server that answers. The others are repaired when they are back. */
export async function repairAll(ctx: SyncContext): Promise<void> {
  const all = await ctx.db
    .select({ id: servers.id })
    .from(servers)
    .where(and(isNull(servers.deletedAt), eq(servers.connected, true)))
  await command(ctx, SYSTEM, async unit => {
    for (const { id } of all) enqueueRepair(unit, id)
  })
}
