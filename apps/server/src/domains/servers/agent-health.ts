import type { Params, ServerTrouble } from '@netlet/contract'
import { and, eq, inArray, isNotNull, isNull, lte, or, sql } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import { isoOrNull } from '../../infra/clock.ts'
import { startOf } from '../../infra/text.ts'
import { emitEvent } from '../webhooks/index.ts'
import { closeOutage, openOutage } from './outages.ts'
import { publishSelling } from './server-row.ts'
import { servers } from './tables.ts'

/** The longest pause in seconds between two tries of a failing agent. */
export const LONGEST_PAUSE_S = 60

/** Failures in a row that raise an alarm. */
export const ALARM_AFTER = 5

export type Trouble = { code: ServerTrouble; params?: Params }

/**
 * Records that the agent answered.
 * @param options.mayNotServe its proxy has yet to be tried: a server that is out of stock stays so
 * @returns whether it was away until now, or is seen for the first time
 */
export async function markReachable(unit: Unit, serverId: number, { mayNotServe = false } = {}): Promise<boolean> {
  const back = await unit.tx
    .update(servers)
    .set({ connected: true, lastSeenAt: unit.now, unreachableSince: null, failures: 0, nextTryAt: null })
    .where(and(eq(servers.id, serverId), or(eq(servers.connected, false), sql`${servers.failures} > 0`)))
    .returning({ id: servers.id })
  await clearTrouble(unit, serverId, ['unreachable', 'token_unreadable'])
  if (back.length > 0) await closeOutage(unit, serverId)
  if (!mayNotServe) await sellAgain(unit, serverId)
  if (back.length === 0) {
    await unit.tx.update(servers).set({ lastSeenAt: unit.now }).where(eq(servers.id, serverId))
    return false
  }
  unit.publish('server', serverId)
  return true
}

/**
 * Records that the agent did not answer the health check.
 * @returns the number of failures in a row
 */
export async function markUnreachable(unit: Unit, serverId: number, trouble: Trouble): Promise<number> {
  const [row] = await unit.tx
    .update(servers)
    .set({
      connected: false,
      unreachableSince: sql`coalesce(${servers.unreachableSince}, ${unit.now.toISOString()}::timestamptz)`,
      failures: sql`${servers.failures} + 1`,
      ...columnsOf(trouble)
    })
    .where(eq(servers.id, serverId))
    .returning({ failures: servers.failures, since: servers.unreachableSince, status: servers.status })
  if (row?.since && row.status !== 'given_up') await openOutage(unit, serverId, row.since)
  unit.publish('server', serverId)
  return row?.failures ?? 0
}

/**
 * Records that a change could not be sent: the agent did not answer, or not as an agent does. The pause before the next
 * try grows with each failure.
 */
export async function markFailing(unit: Unit, serverId: number, message: string): Promise<void> {
  const now = sql`${unit.now.toISOString()}::timestamptz`
  await unit.tx
    .update(servers)
    .set({
      failingSince: sql`coalesce(${servers.failingSince}, ${now})`,
      failedTries: sql`${servers.failedTries} + 1`,
      nextTryAt: sql`${now} + least(power(2, least(${servers.failedTries}, 10)), ${LONGEST_PAUSE_S}) * interval '1 second'`
    })
    .where(eq(servers.id, serverId))
  // Keep a more specific problem: these explain more than 'changes failing'.
  await unit.tx
    .update(servers)
    .set(columnsOf({ code: 'changes_failing', params: { message } }))
    .where(
      and(
        eq(servers.id, serverId),
        sql`coalesce(${servers.trouble}, '') not in ('unreachable', 'token_unreadable', 'foreign_console', 'older_console')`
      )
    )
  unit.publish('server', serverId)
}

/** Records that the agent took its changes. */
export async function markConverged(unit: Unit, serverId: number): Promise<void> {
  // This runs after each change of an agent. Nearly always nothing was wrong, and then one statement is enough.
  const fine = await unit.tx
    .update(servers)
    .set({ lastSeenAt: unit.now })
    .where(
      and(
        eq(servers.id, serverId),
        eq(servers.connected, true),
        eq(servers.failures, 0),
        eq(servers.offline, false),
        isNull(servers.unreachableSince),
        isNull(servers.failingSince),
        sql`coalesce(${servers.trouble}, '') not in ('unreachable', 'token_unreadable', 'changes_failing', 'foreign_console', 'older_console')`
      )
    )
    .returning({ id: servers.id })
  if (fine.length > 0) return
  const recovered = await unit.tx
    .update(servers)
    .set({ failingSince: null, failedTries: 0, nextTryAt: null })
    .where(and(eq(servers.id, serverId), isNotNull(servers.failingSince)))
    .returning({ id: servers.id })
  if (recovered.length > 0) unit.publish('server', serverId)
  await clearTrouble(unit, serverId, ['changes_failing', 'foreign_console', 'older_console'])
  await markReachable(unit, serverId)
}

/** Since when a server has not answered or has failed to take changes; null if neither. */
export const troubledSince = sql<Date | null>`least(${servers.unreachableSince}, ${servers.failingSince})`

/** Takes a server out of stock if it has been in trouble since before `deadline`, until the trouble ends. */
export async function markOffline(unit: Unit, serverId: number, deadline: Date): Promise<void> {
  const gone = await unit.tx
    .update(servers)
    .set({ offline: true })
    .where(and(eq(servers.id, serverId), eq(servers.offline, false), lte(troubledSince, deadline)))
    .returning({ id: servers.id })
  if (gone.length === 0) return
  await notifyWebhooks(unit, 'server.down', serverId)
  unit.publish('server', serverId)
  publishSelling(unit)
}

/** Tells the operators' webhooks that a server went out of stock because it does not serve, or that it sells again. */
export async function notifyWebhooks(unit: Unit, type: 'server.down' | 'server.up', serverId: number): Promise<void> {
  const [server] = await unit.tx
    .select({
      name: servers.name,
      unreachableSince: servers.unreachableSince,
      failingSince: servers.failingSince,
      unservedSince: servers.unservedSince
    })
    .from(servers)
    .where(eq(servers.id, serverId))
  if (!server) return
  const since = server.unreachableSince ?? server.failingSince ?? server.unservedSince
  await emitEvent(unit, {
    type,
    userId: null,
    data: { server_id: serverId, server: server.name, ...(type === 'server.down' ? { since: isoOrNull(since) } : {}) }
  })
}

async function sellAgain(unit: Unit, serverId: number): Promise<void> {
  const sellsAgain = await unit.tx
    .update(servers)
    .set({ offline: false })
    .where(
      and(
        eq(servers.id, serverId),
        eq(servers.offline, true),
        isNull(servers.failingSince),
        isNull(servers.unservedSince),
        // The agent that answers belongs to another console.
        sql`${servers.trouble} is distinct from 'foreign_console'`
      )
    )
    .returning({ id: servers.id })
  if (sellsAgain.length === 0) return
  await notifyWebhooks(unit, 'server.up', serverId)
  publishSelling(unit)
}

/**
 * Records why a reachable agent does not hold its desired state.
 * @returns whether the trouble is new
 */
export async function setTrouble(unit: Unit, serverId: number, trouble: Trouble): Promise<boolean> {
  const changed = await unit.tx
    .update(servers)
    .set(columnsOf(trouble))
    .where(and(eq(servers.id, serverId), sql`${servers.trouble} is distinct from ${trouble.code}`))
    .returning({ id: servers.id })
  if (changed.length === 0) await unit.tx.update(servers).set(columnsOf(trouble)).where(eq(servers.id, serverId))
  unit.publish('server', serverId)
  return changed.length > 0
}

/** Clears the server's trouble if it is one of these. */
export async function clearTrouble(unit: Unit, serverId: number, codes: ServerTrouble[]): Promise<void> {
  const cleared = await unit.tx
    .update(servers)
    .set({ trouble: null, troubleParams: null })
    .where(and(eq(servers.id, serverId), inArray(servers.trouble, codes)))
    .returning({ id: servers.id })
  if (cleared.length > 0) unit.publish('server', serverId)
}

const columnsOf = ({ code, params = {} }: Trouble) => ({ trouble: code, troubleParams: cutTexts(params) })

/** An agent's texts can have any length. */
const cutTexts = (params: Params): Params =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, typeof value === 'string' ? startOf(value, 500) : value])
  )
