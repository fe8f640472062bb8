import { and, eq, isNull, sql } from '../../infra/db/drizzle.ts'
import type { RepairPlan, ServerStatus } from '@netlet/contract'
import type { AgentState } from '@netlet/contract/agent'
import type { AgentClient } from '../../integrations/agent/index.ts'
import { isoOrNull } from '../../infra/clock.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
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
import { claimAgent } from './ownership/claim-agent.ts'
import { resendTls } from '../certificates/index.ts'
import { agentUsers, servers } from '../servers/tables.ts'

/** If there are more unknown users than both of these, an administrator must approve their removal. */
export const SAFE_REMOVALS = 10
const SAFE_SHARE = 0.2

export type Repair =
  | { kind: 'gone' | 'busy' }
  | { kind: 'failed'; message: string }
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
export async function repairUnderLock(ctx: SyncContext, serverId: number, waitMs: number): Promise<void> {
  const repair = await repairServer(ctx, serverId, waitMs)
  if (repair.kind === 'failed')
    ctx.log.warn({ server: serverId, reason: repair.message }, 'agent could not be compared with what is wanted of it')
  if (repair.kind !== 'busy') return
  await command(ctx, SYSTEM, async unit => enqueueRepair(unit, serverId, 5000))
}

/** Their unknown users are removed without an approval, because the orders are elsewhere or are moving. */
const LEAVING: ServerStatus[] = ['given_up', 'draining', 'returning']

async function compare(ctx: SyncContext, server: ServerRow): Promise<Repair> {
  const claimed = await claimAgent(ctx, server)
  if (claimed.kind === 'failed') return claimed
  if (claimed.kind === 'open') return compareWith(ctx, claimed.agent, server)
  return claimed.kind === 'foreign' ? { kind: 'foreign' } : planBeforeRepair(ctx, server)
}

/**
 * The agent has taken changes that this database does not know: the database is an older copy, or a second one runs
 * beside it. If the repair would only add users, it is done at once. Otherwise an administrator must approve the plan.
 */
async function planBeforeRepair(ctx: SyncContext, server: ServerRow): Promise<Repair> {
  const state = await agentOf(server, ctx.secrets).state()
  if (!state.ok) return { kind: 'failed', message: state.message }
  const known = state.data.owner?.mark
  const { plan, harmless } = await planRepair(ctx, server, state.data)
  const { approved } = await readPlan(ctx.db, server.id)
  if (known !== undefined && (harmless || approved === plan.digest)) {
    // Only with the mark that the plan was made for. If anything was sent to the agent since, the plan waits again.
    const claimed = await claimAgent(ctx, server, { known })
    if (claimed.kind === 'open') return compareWith(ctx, claimed.agent, { ...server, removalsAllowed: true })
  }
  await requestApproval(ctx, server, plan)
  return { kind: 'planned', plan }
}

async function compareWith(ctx: SyncContext, agent: AgentClient, server: ServerRow): Promise<Repair> {
  const state = await agent.state()
  if (!state.ok) return { kind: 'failed', message: state.message }
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
  const renewed = rows.filter(row => row.wanted && row.inStep && !isAsWanted(row)).map(row => row.username)
  const unknownUsers = [...held.keys()].filter(user => !known.has(user))
  const prefixesRenewed = await hasOtherRanges(ctx, server, state.data)
  await resendTls(ctx, agent, server.id, state.data.proxy_tls)
  const users = held.size
  const mayRemove = isSafe(unknownUsers.length, users) || server.removalsAllowed || LEAVING.includes(server.status)
  const removed = mayRemove ? await removeUsers(agent, unknownUsers) : []
  const waiting = unknownUsers.length - removed.length
  await command(ctx, SYSTEM, async unit => {
    if (prefixesRenewed) await renewPrefixes(unit, server.id)
    await renewUsers(unit, server.id, renewed)
    if (!mayRemove) await requestRemovalApproval(unit, server, waiting, users)
    if (waiting > 0) return
    // The approval covers only the users that waited then.
    await allowRemovals(unit, server.id, false)
    await clearTrouble(unit, server.id, ['removals_waiting'])
    // Nothing of its old orders is left on it, so its addresses can be sold.
    if (server.status === 'returning') await endReturn(unit, server.id)
  })
  if (renewed.length + removed.length > 0 || prefixesRenewed) {
    const { epoch } = state.data
    ctx.log.warn(
      { server: server.id, epoch, renewed: renewed.length, removed: removed.length, prefixesRenewed },
      'agent differed from what is wanted of it'
    )
  }
  return { kind: 'compared', renewed: renewed.length, removed, waiting, prefixesRenewed }
}

async function hasOtherRanges(ctx: SyncContext, server: ServerRow, state: AgentState): Promise<boolean> {
  // A change that is still being sent is not a difference.
  if (server.prefixesGeneration !== server.prefixesApplied) return false
  const wanted = await serverCidrs(ctx.db, server.id)
  return wanted.length !== state.prefixes.length || !wanted.every(prefix => state.prefixes.includes(prefix))
}

/** Whether so few of an agent's users are unknown that they are removed without an approval. */
const isSafe = (unknown: number, users: number): boolean => unknown <= SAFE_REMOVALS || unknown <= users * SAFE_SHARE

/** @returns the users that the agent has removed */
async function removeUsers(agent: AgentClient, usernames: string[]): Promise<string[]> {
  const removed: string[] = []
  for (const user of usernames) {
    const reply = await agent.deleteUser(user)
    if (!reply.ok) break
    removed.push(user)
  }
  return removed
}

/** Shows how many removals wait, and notifies the administrators the first time. */
async function requestRemovalApproval(unit: Unit, server: ServerRow, count: number, users: number): Promise<void> {
  const first = await setTrouble(unit, server.id, { code: 'removals_waiting', params: { count, users } })
  if (!first) return
  await notifyAdmins(unit, {
    words: 'removals_wait',
    params: { server: server.name, ip: server.ip, users, count },
    key: `removals-wait:${server.id}:${isoOrNull(server.lastSeenAt) ?? 'new'}`,
    cause: 'server_trouble',
    about: `${server.id}:removals_waiting`
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
