import { and, eq, isNull } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import { clearTrouble, setTrouble, tellWebhooks } from './agent-health.ts'
import { isAlive } from './installations.ts'
import { type ServerRow, isWrongPort, lockServer, publishSelling } from './server-row.ts'
import { servers } from './tables.ts'

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
 * @param told the port that its agent reports; if customers are shown another one, the server is unserved
 */
export async function showUnserved(unit: Unit, serverId: number, told?: number): Promise<void> {
  const row = await lockServer(unit, serverId)
  if (!row || isAlive(row, unit.now)) return
  const isOther = told !== undefined && isWrongPort(row, told)
  if (told !== undefined && !isOther) await clearTrouble(unit, serverId, ['other_port'])
  if (!isOther && row.unservedSince === null) return
  if (isOther) await showPort(unit, row, told)
  else if (row.trouble === null || (row.trouble === 'other_port' && told !== undefined))
    await setTrouble(unit, serverId, { code: 'not_served' })
  if (row.offline && row.unservedSince !== null) return
  const unservedSince = row.unservedSince ?? unit.now
  await unit.tx.update(servers).set({ unservedSince, offline: true }).where(eq(servers.id, serverId))
  if (!row.offline) await tellWebhooks(unit, 'server.down', serverId)
  unit.publish('server', serverId)
  publishSelling(unit)
}

/** The port says more than `not_served`, so it replaces that trouble. */
async function showPort(unit: Unit, { id, proxyPort: ours, trouble, troubleParams }: ServerRow, theirs: number) {
  if (trouble !== null && trouble !== 'not_served' && trouble !== 'other_port') return
  const isShown = trouble === 'other_port' && troubleParams?.['theirs'] === theirs && troubleParams['ours'] === ours
  if (!isShown) await setTrouble(unit, id, { code: 'other_port', params: { theirs, ours } })
}
