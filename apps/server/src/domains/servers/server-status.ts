import { type Server, type ServerStatus, refuse } from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { countChanges } from '../../infra/audit-log.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { and, eq, isNull } from '../../infra/db/drizzle.ts'
import { type Result, ok } from '../../infra/result.ts'
import { clearTrouble, setTrouble, notifyWebhooks } from './agent-health.ts'
import { enqueueFullSync, renewPrefixes } from './desired/desired-users.ts'
import { isAlive } from './installations.ts'
import { readServer } from './list-servers.ts'
import { closeOutage } from './outages.ts'
import { type ServerRow, isWrongPort, lockServer, publishSelling } from './server-row.ts'
import { agentUsers, servers } from './tables.ts'

/** Sets a locked server's status. Giving it up deletes users made by hand; those of orders go with their leases. */
export async function changeStatus(unit: Unit, server: ServerRow, status: ServerStatus): Promise<void> {
  if (server.status === status) return
  const givenUp = status === 'given_up'
  await unit.tx.update(servers).set({ status }).where(eq(servers.id, server.id))
  if (givenUp) {
    await unit.tx.delete(agentUsers).where(and(eq(agentUsers.serverId, server.id), isNull(agentUsers.orderId)))
    await closeOutage(unit, server.id)
  }
  publishSelling(unit)
  unit.publish('server', server.id)
}

/**
 * `expected`: the status that the server must have, else 'stale'. `changes`: how often the status must have changed so
 * far, which also shows a change that was undone.
 */
type Expected = { expected?: ServerStatus | undefined; changes?: number | undefined }
type Changed = Server & { changes: number | null }

const CHANGES = ['server.pause', 'server.resume', 'server.drain', 'server.give_up', 'server.take_back'] as const

/** The server stops selling. It still serves its orders. */
export const pauseServer = (ctx: AppContext, by: Actor, id: number, when: Expected = {}): Promise<Result<Changed>> =>
  setStatus(ctx, by, id, { ...when, status: 'paused' })

export const resumeServer = (ctx: AppContext, by: Actor, id: number, when: Expected = {}): Promise<Result<Changed>> =>
  setStatus(ctx, by, id, { ...when, status: 'active' })

const setStatus = (
  ctx: AppContext,
  by: Actor,
  id: number,
  { status, expected, changes }: Expected & { status: 'paused' | 'active' }
): Promise<Result<Changed>> =>
  command(ctx, by, async unit => {
    const server = await lockServer(unit, id)
    if (!server) return refuse('not_found')
    if (expected !== undefined && server.status !== expected) return refuse('stale')
    const made = await countChanges(unit.tx, id, CHANGES)
    if (changes !== undefined && made !== changes) return refuse('stale')
    if (server.status === 'given_up') return refuse('server_given_up')
    // Its agent may still hold users of orders that now have other addresses.
    if (server.status === 'returning') return refuse('server_returning')
    await changeStatus(unit, server, status)
    if (server.status !== status)
      unit.audit(`server.${status === 'active' ? 'resume' : 'pause'}`, id, {
        before: { status: server.status },
        after: { status }
      })
    const now = await presented(unit, id)
    return now.ok ? ok({ ...now.data, changes: server.status === status ? null : made + 1 }) : now
  })

/** Uses a server again that was given up. It sells after a repair has removed what is left of old orders. */
export const takeBackServer = (ctx: AppContext, by: Actor, id: number): Promise<Result<Server>> =>
  command(ctx, by, async unit => {
    const server = await lockServer(unit, id)
    if (!server) return refuse('not_found')
    if (server.status === 'returning') return presented(unit, id)
    if (server.status !== 'given_up') return refuse('server_not_given_up')
    await changeStatus(unit, server, 'returning')
    await renewPrefixes(unit, id)
    enqueueFullSync(unit, id)
    unit.audit('server.take_back', id, { before: { status: server.status }, after: { status: 'returning' } })
    return presented(unit, id)
  })

/** A server that was taken back holds only what is wanted, so it sells again. */
export async function endReturn(unit: Unit, id: number): Promise<void> {
  const server = await lockServer(unit, id)
  if (server?.status === 'returning') await changeStatus(unit, server, 'active')
}

async function presented(unit: Unit, id: number): Promise<Result<Server>> {
  const server = await readServer(unit.tx, id)
  return server ? ok(server) : refuse('not_found')
}

/** Another program is about to serve there. The server sells nothing until it has passed a check. */
export async function markUnserved(unit: Unit, serverId: number): Promise<void> {
  await unit.tx.update(servers).set({ unservedSince: unit.now }).where(eq(servers.id, serverId))
  unit.publish('server', serverId)
  publishSelling(unit)
}

/**
 * Records that the proxy was tried and answers, or that a program known to serve runs again.
 * @param since the mark to clear, if given; a newer one, of a later start, stays
 */
export async function markServed(unit: Unit, serverId: number, since?: Date | null): Promise<void> {
  const { unservedSince } = servers
  const mark = since === undefined ? undefined : since === null ? isNull(unservedSince) : eq(unservedSince, since)
  const marked = await unit.tx
    .update(servers)
    .set({ unservedSince: null })
    .where(and(eq(servers.id, serverId), mark))
    .returning({ id: servers.id })
  if (marked.length === 0) return
  await clearTrouble(unit, serverId, ['not_served', 'other_port'])
  unit.publish('server', serverId)
  publishSelling(unit)
}

/**
 * Shows a server as unserved, unless an installation runs. Any other trouble stays.
 * @param reportedPort the port that its agent reports; if customers are shown another one, the server is unserved
 */
export async function showUnserved(unit: Unit, serverId: number, reportedPort?: number): Promise<void> {
  const row = await lockServer(unit, serverId)
  if (!row || isAlive(row, unit.now)) return
  const isOther = reportedPort !== undefined && isWrongPort(row, reportedPort)
  if (reportedPort !== undefined && !isOther) await clearTrouble(unit, serverId, ['other_port'])
  if (!isOther && row.unservedSince === null) return
  if (isOther) await showPort(unit, row, reportedPort)
  else if (row.trouble === null || (row.trouble === 'other_port' && reportedPort !== undefined))
    await setTrouble(unit, serverId, { code: 'not_served' })
  if (row.offline && row.unservedSince !== null) return
  const unservedSince = row.unservedSince ?? unit.now
  await unit.tx.update(servers).set({ unservedSince, offline: true }).where(eq(servers.id, serverId))
  if (!row.offline) await notifyWebhooks(unit, 'server.down', serverId)
  unit.publish('server', serverId)
  publishSelling(unit)
}

/** The port says more than `not_served`, so it replaces that trouble. */
async function showPort(unit: Unit, { id, proxyPort: ours, trouble, troubleParams }: ServerRow, theirs: number) {
  if (trouble !== null && trouble !== 'not_served' && trouble !== 'other_port') return
  const isShown = trouble === 'other_port' && troubleParams?.['theirs'] === theirs && troubleParams['ours'] === ours
  if (!isShown) await setTrouble(unit, id, { code: 'other_port', params: { theirs, ours } })
}
