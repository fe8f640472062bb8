import {
  type AgentReport,
  type BulkSelection,
  MAX_UPGRADE_SERVERS,
  type Params,
  type Reason,
  type Upgrade,
  type UpgradeForm,
  type UpgradePlan,
  refuse,
  routes
} from '@netlet/contract'
import { and, eq, inArray, isNull, sql } from '../../../infra/db/drizzle.ts'
import type { z } from 'zod'
import type { UserActor } from '../../../infra/actor.ts'
import { command, type Unit } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { matchingIds } from '../../../infra/list/index.ts'
import { ok, type Result } from '../../../infra/result.ts'
import { isInstalling, serverList, usersOfServers, type ServerRow } from '../../servers/index.ts'
import { agentVersion } from '../../../integrations/agent/index.ts'
import { tunnelEffect } from '../machine-settings.ts'
import { serverReports, servers } from '../../servers/tables.ts'
import { upgrades, upgradeServers } from '../tables.ts'
import { readUpgrade, worded } from './list-upgrades.ts'
import { isFromSources } from '@netlet/contract/agent-version'
import { queue } from '../../../infra/jobs.ts'

type LastReport = Partial<Pick<AgentReport, 'at' | 'connections' | 'hands_over'>>
/** A server, with the version and state that its agent last reported; null: none. */
export type Candidate = { server: ServerRow; version: string | null; lastReport: LastReport | null }
export type Why = { reason: Reason; params: Params }

const why = (reason: Reason, params: Params = {}): Why => ({ reason, params })

/** Why a server is left out of an upgrade to this version; null: it is not. */
export function whyExcluded({ server, version }: Candidate, to: string): Why | null {
  if (server.deletedAt !== null) return why('not_found')
  if (server.status === 'given_up') return why('server_given_up')
  if (server.status === 'returning') return why('server_returning')
  if (server.status === 'paused') return why('upgrade_paused')
  if (isInstalling(server)) return why('server_installing')
  if (server.trouble === 'foreign_console') return why('upgrade_foreign')
  if (server.trouble === 'older_console') return why('upgrade_unapproved')
  if (server.sshPassword === null) return why('upgrade_no_login')
  // An upgrade is not needed to find out that it does not answer.
  if (!server.connected) return why('upgrade_no_answer')
  const isCurrent = version === to || (version !== null && isFromSources(version))
  return isCurrent ? why('upgrade_not_needed') : null
}

/** An agent's last report without its hours of traffic, which are long and not needed here. */
const LAST_REPORT = sql<LastReport | null>`${serverReports.report} - 'hours'`

/** The servers with these ids, including deleted ones, and the versions that their agents last reported. */
export async function readCandidates(db: Executor, ids: readonly number[]): Promise<Map<number, Candidate>> {
  const rows = await db
    .select({
      server: servers,
      version: sql<string | null>`${serverReports.report} ->> 'version'`,
      lastReport: LAST_REPORT
    })
    .from(servers)
    .leftJoin(serverReports, eq(serverReports.serverId, servers.id))
    .where(inArray(servers.id, [...ids]))
  return new Map(rows.map(row => [row.server.id, row]))
}

async function idsOf(db: Executor, selection: z.output<typeof BulkSelection>): Promise<Result<number[]>> {
  if ('ids' in selection) {
    const ids = [...new Set(selection.ids)]
    return ids.length > MAX_UPGRADE_SERVERS ? tooMany() : ok(ids)
  }
  const query = routes.fleet.servers.query?.strict().safeParse(selection.query)
  if (!query?.success) return refuse('bad_request')
  const ids = await matchingIds(db, serverList, query.data, { limit: MAX_UPGRADE_SERVERS + 1 })
  return ids.length > MAX_UPGRADE_SERVERS ? tooMany() : ok(ids)
}

async function ordersOf(db: Executor, ids: number[]): Promise<(id: number) => number> {
  const found = new Map((await usersOfServers(db, ids)).map(row => [row.serverId, row.orders]))
  return id => found.get(id) ?? 0
}

const tooMany = () => refuse('bulk_too_many', { params: { max: MAX_UPGRADE_SERVERS } })

/** Which servers would be upgraded, those with the fewest orders first, and which would not. Nothing changes. */
export async function planUpgrade(
  { db }: Pick<AppContext, 'db'>,
  selection: z.output<typeof BulkSelection>
): Promise<Result<UpgradePlan>> {
  const ids = await idsOf(db, selection)
  if (!ids.ok) return ids
  const version = await agentVersion()
  const found = [...(await readCandidates(db, ids.data)).values()].filter(({ server }) => server.deletedAt === null)
  const orders = await ordersOf(db, ids.data)
  const left = found.flatMap(one => {
    const why = whyExcluded(one, version)
    return why ? [{ id: one.server.id, name: one.server.name, ...worded(why.reason, why.params) }] : []
  })
  const isLeft = new Set(left.map(({ id }) => id))
  const taken = found
    .filter(({ server }) => !isLeft.has(server.id))
    .map(({ server, version, lastReport }) => ({
      id: server.id,
      name: server.name,
      version,
      orders: orders(server.id),
      effect: tunnelEffect({ service: server.agentService, handsOver: lastReport?.hands_over ?? null }),
      connections: lastReport?.connections ?? null
    }))
    .toSorted((a, b) => a.orders - b.orders || a.id - b.id)
  const open = await db.$count(upgrades, isNull(upgrades.endedAt))
  return ok({ version, servers: taken, left_out: left, is_free: open === 0 })
}

/** Begins an upgrade of exactly these servers. Each is checked again before it begins. */
export async function startUpgrade(ctx: AppContext, by: UserActor, form: UpgradeForm): Promise<Result<Upgrade>> {
  const version = await agentVersion()
  if (form.version !== version) return refuse('stale')
  return command(ctx, by, { unique: { upgrades_one_key: 'upgrade_running' } }, async unit => {
    const { tx, now } = unit
    const chosen = [...new Set(form.ids)]
    if (!chosen.includes(form.first_id)) return refuse('upgrade_first')
    const orders = await ordersOf(tx, chosen)
    const ids = chosen.toSorted((a, b) => orders(a) - orders(b) || a - b)
    const candidates = await readCandidates(tx, ids)
    const rows = ids.flatMap(id => {
      const one = candidates.get(id)
      return one ? [{ id, version: one.version, why: whyExcluded(one, version) }] : []
    })
    if (rows.every(({ why }) => why)) return refuse('upgrade_none')
    if (rows.find(({ id }) => id === form.first_id)?.why !== null) return refuse('upgrade_first')
    const [upgrade] = await tx
      .insert(upgrades)
      .values({ version, actorId: by.id, actorName: by.username, actorIp: by.ip, createdAt: now })
      .returning({ id: upgrades.id })
    if (!upgrade) throw new Error('the upgrade was not added')
    const { id } = upgrade
    await tx.insert(upgradeServers).values(
      rows.map(({ id: serverId, version: fromVersion, why }, at) => ({
        upgradeId: id,
        serverId,
        position: serverId === form.first_id ? 0 : at + 1,
        fromVersion,
        ...(why ? { state: 'left_out' as const, ...why } : {})
      }))
    )
    const versions = [...new Set(rows.flatMap(row => (row.why ? [] : [row.version ?? '?'])))]
    unit.audit('upgrade.start', id, {
      before: { agent_versions: versions },
      after: { agent_version: version, servers: rows.length, first_id: form.first_id }
    })
    goOn(unit, id)
    return ok(await readUpgrade(tx, id))
  })
}

const goOn = (unit: Unit, id: number): void => unit.jobs.send(upgradeQueue, { upgradeId: id }, { key: String(id) })

/** Continues an upgrade that stopped. The servers that failed stay as they are. Repeating it changes nothing. */
export const continueUpgrade = (ctx: AppContext, by: UserActor, id: number): Promise<Result<Upgrade>> =>
  command(ctx, by, async unit => {
    const [upgrade] = await unit.tx.select().from(upgrades).where(eq(upgrades.id, id)).for('update')
    if (!upgrade) return refuse('not_found')
    if (upgrade.endedAt !== null) return refuse('already_over')
    if (upgrade.state === 'ending') return refuse('upgrade_not_stopped')
    if (upgrade.state === 'stopped') {
      const now = await agentVersion()
      if (now !== upgrade.version) return refuse('upgrade_other_version', { params: { now, version: upgrade.version } })
      // From now on it runs in the name of the person who continues it.
      const actor = { actorId: by.id, actorName: by.username, actorIp: by.ip }
      await unit.tx
        .update(upgrades)
        .set({ state: 'running', reason: null, params: null, ...actor })
        .where(eq(upgrades.id, id))
      unit.audit('upgrade.continue', id, {
        before: { reason: upgrade.reason },
        after: { agent_version: upgrade.version }
      })
      goOn(unit, id)
    }
    return ok(await readUpgrade(unit.tx, id))
  })

/** No further server begins; those under way finish. Repeating it changes nothing. */
export const endUpgrade = (ctx: AppContext, by: UserActor, id: number): Promise<Result<Upgrade>> =>
  command(ctx, by, async unit => {
    const [upgrade] = await unit.tx.select().from(upgrades).where(eq(upgrades.id, id)).for('update')
    if (!upgrade) return refuse('not_found')
    if (upgrade.state === 'done') return refuse('already_over')
    if (upgrade.endedAt === null && upgrade.state !== 'ending') {
      const working = await unit.tx.$count(
        upgradeServers,
        and(eq(upgradeServers.upgradeId, id), eq(upgradeServers.state, 'installing'))
      )
      const ends = working > 0 ? { state: 'ending' as const } : { state: 'ended' as const, endedAt: unit.now }
      await unit.tx.update(upgrades).set(ends).where(eq(upgrades.id, id))
      unit.audit('upgrade.end', id, { before: { state: upgrade.state } })
    }
    return ok(await readUpgrade(unit.tx, id))
  })

/** Advances an upgrade of several servers. */
export const upgradeQueue = queue<{ upgradeId: number }>('advance-upgrade', { deleteAfterSeconds: 3600 })
