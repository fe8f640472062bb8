import { refuse, sentenceOf, type Reason, type Params, type Upgrade, type UpgradeServer } from '@netlet/contract'
import { asc, eq, inArray, lt, sql } from '../../../infra/db/drizzle.ts'
import { DAY, iso, isoOrNull } from '../../../infra/clock.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { among, defineList, type ListInput } from '../../../infra/list/index.ts'
import { ok, type Result } from '../../../infra/result.ts'
import { countRows, removeRows, type RetentionEntry } from '../../../infra/retention.ts'
import { MOST_FOUND, type NoticeFinder } from '../../notices/index.ts'
import { servers } from '../../servers/tables.ts'
import { upgrades, upgradeServers } from '../tables.ts'

/** A reason with its sentence, as replies have it. */
export const worded = (reason: Reason | null, params: Params | null) => ({
  reason,
  params: { ...params },
  msg: reason && sentenceOf(refuse(reason, { params: params ?? {} }))
})

/** Upgrades, newest first. */
export const upgradeList = defineList<ListInput<'id'>, Upgrade>({
  name: 'upgrades',
  table: upgrades,
  id: upgrades.id,
  sort: { id: upgrades.id },
  load: async (db, ids) => presentUpgrades(db, await db.select().from(upgrades).where(among(upgrades.id, ids)))
})

async function presentUpgrades(db: Executor, rows: (typeof upgrades.$inferSelect)[]): Promise<Upgrade[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const counted = await db
    .select({ id: upgradeServers.upgradeId, state: upgradeServers.state, count: sql<number>`count(*)::int` })
    .from(upgradeServers)
    .where(inArray(upgradeServers.upgradeId, ids))
    .groupBy(upgradeServers.upgradeId, upgradeServers.state)
  return rows.map(row => {
    const figures = { waiting: 0, installing: 0, upgraded: 0, failed: 0, left_out: 0 }
    for (const { id, state, count } of counted) if (id === row.id) figures[state] = count
    return {
      id: row.id,
      state: row.state,
      version: row.version,
      username: row.actorName,
      created_at: iso(row.createdAt),
      ended_at: isoOrNull(row.endedAt),
      servers: figures,
      ...worded(row.reason, row.params)
    }
  })
}

export async function readUpgrade(db: Executor, id: number): Promise<Upgrade> {
  const [upgrade] = await presentUpgrades(db, await db.select().from(upgrades).where(eq(upgrades.id, id)))
  if (!upgrade) throw new Error('the upgrade is gone within its own transaction')
  return upgrade
}

export async function listUpgradeServers(db: Executor, id: number): Promise<Result<UpgradeServer[]>> {
  const [upgrade] = await db.select({ id: upgrades.id }).from(upgrades).where(eq(upgrades.id, id))
  if (!upgrade) return refuse('not_found')
  const rows = await db
    .select({ row: upgradeServers, name: servers.name })
    .from(upgradeServers)
    .innerJoin(servers, eq(servers.id, upgradeServers.serverId))
    .where(eq(upgradeServers.upgradeId, id))
    .orderBy(asc(upgradeServers.position))
  return ok(
    rows.map(({ row, name }) => ({
      id: row.serverId,
      name,
      state: row.state,
      from_version: row.fromVersion,
      ...worded(row.reason, row.params)
    }))
  )
}

/** Upgrades that stopped and need an operator. There is at most one. */
export const countStoppedUpgrades = (db: Executor): Promise<number> =>
  db.$count(upgrades, eq(upgrades.state, 'stopped'))

/** An upgrade that stopped waits for an operator. */
export const upgradeFinder: NoticeFinder = {
  cause: 'upgrade',
  every: 1,
  async find({ db }) {
    const rows = await db.select().from(upgrades).where(eq(upgrades.state, 'stopped')).limit(MOST_FOUND)
    return rows.map(({ id, version, reason, params }) => ({
      subject: String(id),
      words: 'upgrade',
      params: { version, message: reason ? sentenceOf(refuse(reason, { params: params ?? {} })) : '–' }
    }))
  }
}

const KEPT_MS = 366 * DAY

export const upgradeRetention: RetentionEntry = {
  what: 'upgrades',
  keep: { ms: KEPT_MS },
  why: 'Results of upgrades, server by server. The audit log records who upgraded which server.',
  remove: (unit, before, limit) => removeRows(unit, upgrades, lt(upgrades.endedAt, before), limit),
  count: db => countRows(db, upgrades, upgrades.endedAt)
}
