import { and, asc, eq, isNull, sql } from '../../infra/db/drizzle.ts'
import type { AgentClient } from '../../integrations/agent/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import {
  type AgentUser,
  convergeQueue,
  enqueueRepair,
  grantLimits,
  markConverged,
  markFailing,
  readServerRow,
  type ServerRow,
  setTrouble,
  type SyncContext,
  withAccess,
  withServerLock
} from '../servers/index.ts'
import { applyUser, type ConfirmPort, type Outcome, recordOutcomes } from './apply-user.ts'
import { type RangesOutcome, sendRanges } from './send-ranges.ts'
import { tryNewCredentials } from '../proofs/index.ts'
import { sendTls } from '../certificates/index.ts'
import { claimAgent } from './ownership/claim-agent.ts'
import { isRecovering } from '../settings/index.ts'
import { agentUsers, orderAccess } from '../servers/tables.ts'
import { type AgentUserLimits } from '@netlet/contract/agent'
import { denySetHash, userHash } from '@netlet/contract/agent-hashes'
import { deniedDomains, type DenyLists } from '../inventory/index.ts'

/** How many users are planned, sent and recorded in one batch. */
const BATCH = 64
/** Users that are sent to an agent at once. */
const AT_ONCE = 8

/**
 * The agent takes no changes now: it did not answer, its answer cannot be used, or it belongs to another console.
 * `convergeFailing` tries again.
 */
export class AgentCallFailed extends Error {
  override name = 'AgentCallFailed'
}

/**
 * Brings one server's agent to its desired state: first the ranges, then batches of users to put and delete. Only one
 * process does this for a server at a time, so that an older state never overtakes a newer one.
 * @throws AgentCallFailed if the agent takes no changes now
 */
export async function convergeServer(
  ctx: SyncContext,
  serverId: number,
  confirm: ConfirmPort,
  timeoutMs?: number
): Promise<void> {
  // The repair of every server follows when all that was paid is found.
  if (await isRecovering(ctx.db)) return
  const ran = await withServerLock(
    ctx.db,
    serverId,
    async () => {
      const server = await readServerRow(ctx.db, serverId)
      if (server) await syncAgent(ctx, server, { confirm, timeoutMs })
    },
    { waitMs: 1000 }
  )
  // Another process holds the lock. It may have read the state before our change, so look again soon.
  if (!ran) {
    await command(ctx, SYSTEM, async unit =>
      unit.jobs.send(convergeQueue, { serverId }, { key: String(serverId), group: String(serverId), startIn: 1000 })
    )
  }
}

/** What the agent answered. `ranges` is null if they were already in step. */
export type Synced = { ranges: RangesOutcome | null; users: Map<string, Outcome> }

/**
 * Brings the agent to its desired state. The caller holds the server's lock.
 * @param byHandOnly leaves users of orders to the job that moves their orders on
 * @param timeoutMs for each call
 * @throws AgentCallFailed if the agent takes no changes now
 */
export async function syncAgent(
  ctx: SyncContext,
  server: ServerRow,
  {
    confirm,
    byHandOnly = false,
    timeoutMs
  }: { confirm: ConfirmPort; byHandOnly?: boolean; timeoutMs?: number | undefined }
): Promise<Synced> {
  try {
    const agent = await requireWritableAgent(ctx, server, timeoutMs)
    // After failed changes only a change that succeeds clears the failure, and there may be no user left to send.
    const behind = server.prefixesGeneration !== server.prefixesApplied || server.failingSince !== null
    let ranges = behind ? await sendRangesOrThrow(ctx, agent, server) : null
    const users = new Map<string, Outcome>()
    for (;;) {
      const batch = await planBatch(ctx, server.id, byHandOnly)
      if (batch.length === 0) break
      const answers = await sendUsers(agent, batch)
      // The ranges were in step, but the agent does not know them: it lost its state.
      const lost = ranges === null && answers.some(({ outcome }) => isOutside(outcome))
      if (lost) ranges = await sendRangesOrThrow(ctx, agent, server)
      const settled = lost ? answers.filter(({ outcome }) => !isOutside(outcome)) : answers
      const taken = settled.filter(({ outcome }) => outcome.kind === 'applied').map(({ user }) => user)
      const trials = await tryNewCredentials(ctx, server, taken)
      const answered = settled.map(one => ({ ...one, trial: trials.get(one.user.username) }))
      await recordOutcomes(ctx, answered, confirm)
      for (const { user, outcome } of settled) users.set(user.username, outcome)
      const failure = answers.find(({ outcome }) => outcome.kind === 'failed')?.outcome
      if (failure?.kind === 'failed') throw new AgentCallFailed(failure.message)
    }
    await sendTls(ctx, agent, server.id)
    // Remove the old ranges only after their users are gone.
    if (ranges?.kind === 'with_old_ranges')
      ranges = await sendRangesOrThrow(ctx, agent, server, { retryRefused: false })
    await command(ctx, SYSTEM, async unit => {
      if (ranges?.kind === 'with_old_ranges') await setTrouble(unit, server.id, { code: 'prefixes_waiting' })
      await markConverged(unit, server.id)
    })
    return { ranges, users }
  } catch (error) {
    if (error instanceof AgentCallFailed) {
      const { message } = error
      await command(ctx, SYSTEM, unit => markFailing(unit, server.id, message))
    }
    throw error
  }
}

/** @throws AgentCallFailed if the agent takes no changes from this console now */
async function requireWritableAgent(ctx: SyncContext, server: ServerRow, timeoutMs?: number): Promise<AgentClient> {
  const claimed = await claimAgent(ctx, server, { timeoutMs })
  if (claimed.kind === 'open') return claimed.agent
  // The repair works out what would change, and shows it.
  if (claimed.kind === 'older') await command(ctx, SYSTEM, async unit => enqueueRepair(unit, server.id))
  throw new AgentCallFailed(claimed.message)
}

const isOutside = (outcome: Outcome) => outcome.kind === 'refused' && outcome.reason === 'outsidePrefixes'

/** @throws AgentCallFailed if the agent takes no changes now */
async function sendRangesOrThrow(...to: Parameters<typeof sendRanges>): Promise<RangesOutcome> {
  const sent = await sendRanges(...to)
  if (sent.kind === 'failed') throw new AgentCallFailed(sent.message)
  return sent
}

/** The next users to put or delete. */
const planBatch = async (ctx: SyncContext, serverId: number, byHandOnly: boolean): Promise<PlannedUser[]> =>
  planUsers(ctx, await readPendingUsers(ctx, serverId, byHandOnly))

async function readPendingUsers(ctx: SyncContext, serverId: number, byHandOnly: boolean): Promise<AgentUser[]> {
  return ctx.db
    .select(withAccess)
    .from(agentUsers)
    .leftJoin(orderAccess, eq(orderAccess.orderId, agentUsers.orderId))
    .where(
      and(
        eq(agentUsers.serverId, serverId),
        sql`${agentUsers.generation} <> ${agentUsers.appliedGeneration}`,
        isNull(agentUsers.refusal),
        // A user that needs a refused range waits until the agent takes the range.
        sql`(not ${agentUsers.wanted} or not exists (
          select 1 from servers s, unnest(s.refused_ranges) as refused, unnest(${agentUsers.prefixes}) as prefix
          where s.id = ${serverId} and prefix::inet <<= refused::inet))`,
        byHandOnly ? isNull(agentUsers.orderId) : undefined
      )
    )
    .orderBy(asc(agentUsers.generation))
    .limit(BATCH)
}

async function sendUsers(agent: AgentClient, batch: PlannedUser[]): Promise<{ user: AgentUser; outcome: Outcome }[]> {
  const answers: { user: AgentUser; outcome: Outcome }[] = []
  for (let at = 0; at < batch.length; at += AT_ONCE) {
    const some = await Promise.all(
      batch.slice(at, at + AT_ONCE).map(async ({ user, denied, limits }) => ({
        user,
        outcome: await applyUser(agent, user, denied, limits)
      }))
    )
    answers.push(...some)
    if (some.some(({ outcome }) => outcome.kind === 'failed')) break
  }
  return answers
}

export type PlannedUser = { user: AgentUser; denied: DenyLists; limits: AgentUserLimits | undefined }

const NOTHING_DENIED: DenyLists = { denied: [], allowed: [] }

/** Users of one server with all that their agent gets. */
export async function planUsers(ctx: SyncContext, users: AgentUser[]): Promise<PlannedUser[]> {
  // Read after the users: an edit of a rule in between gives them a new generation, so they come again.
  const deniedBy = new Map<string, DenyLists>()
  for (const user of users) {
    const key = user.rules.join()
    if (user.wanted && !deniedBy.has(key)) deniedBy.set(key, await deniedDomains(ctx.db, { bought: user.rules }))
  }
  const limits = await grantLimits(ctx, users)
  return users.map(user => ({
    user,
    denied: deniedBy.get(user.rules.join()) ?? NOTHING_DENIED,
    limits: limits.get(user.username)
  }))
}

/** What the agent would report of the user after it was sent. */
export const hashOf = ({ user, denied, limits }: PlannedUser): string =>
  userHash({
    password: user.password,
    prefixes: user.prefixes,
    denySet: denySetHash(denied.denied, denied.allowed),
    allowedClientIps: user.clientIps,
    access: user.access,
    limits,
    egress: user.egress
  })
