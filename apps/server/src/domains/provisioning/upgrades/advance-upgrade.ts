import { mayOperate, refuse, sentenceOf, type Params, type Reason } from '@netlet/contract'
import { asc, eq, isNull, sql } from '../../../infra/db/drizzle.ts'
import { actorOf } from '../../../infra/actor.ts'
import { MINUTE } from '../../../infra/clock.ts'
import { command, type Unit } from '../../../infra/command.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { notifyAdmins } from '../../accounts/index.ts'
import { users } from '../../accounts/tables.ts'
import { type SyncContext, isAlive, requestProvisioning, lockServer } from '../../servers/index.ts'
import { agentVersion } from '../../../integrations/agent/index.ts'
import { upgrades, upgradeServers } from '../tables.ts'
import { type Candidate, type Why, whyExcluded, readCandidates } from './start-upgrade.ts'

type Row = typeof upgradeServers.$inferSelect
type Upgrade = typeof upgrades.$inferSelect

/** The most servers upgraded at once. More would wait for a worker, and might be taken for dead. */
const MOST_AT_ONCE = 4

/** How long after its installation a server may take to report its version. Health is checked each minute. */
const FRESH_MS = 3 * MINUTE

/** How many servers begin next: one, then two, then a quarter of all at a time. */
export function nextBatchSize(upgraded: number, total: number): number {
  if (upgraded === 0) return 1
  return upgraded < 3 ? 2 : Math.min(MOST_AT_ONCE, Math.max(2, Math.ceil(total / 4)))
}

/** Advances each upgrade that has not ended: after an installation, each minute, and when a worker starts. */
export async function advanceUpgrades(ctx: SyncContext): Promise<void> {
  const open = await ctx.db.select({ id: upgrades.id }).from(upgrades).where(isNull(upgrades.endedAt))
  for (const { id } of open) await advanceUpgrade(ctx, id)
}

/**
 * Records the results of the servers under way, and begins the next ones once all of those are done. All state is in
 * the database, so any process can go on with it. Calls at the same time wait for each other.
 */
export async function advanceUpgrade(ctx: SyncContext, id: number): Promise<void> {
  const version = await agentVersion()
  const [asked] = await ctx.db.select().from(upgrades).where(eq(upgrades.id, id))
  if (!asked) return
  // In the name of the person who started it, so that the audit log says who upgraded which server. Their permission is
  // checked before servers begin.
  await command(ctx, actorOf(asked, null), async unit => {
    const { tx, now } = unit
    const [upgrade] = await tx.select().from(upgrades).where(eq(upgrades.id, id)).for('update')
    if (!upgrade || upgrade.endedAt !== null) return
    const rows = await tx
      .select()
      .from(upgradeServers)
      .where(eq(upgradeServers.upgradeId, id))
      .orderBy(asc(upgradeServers.position))
    const installing = rows.filter(({ state }) => state === 'installing')
    const candidates = await readCandidates(
      tx,
      installing.map(({ serverId }) => serverId)
    )
    const failed: { row: Row; why: Why }[] = []
    for (const row of installing) {
      const outcome = outcomeOf(row, candidates.get(row.serverId), upgrade.version, now)
      if (outcome === 'goes on') continue
      if (outcome !== 'upgraded') failed.push({ row, why: outcome })
      Object.assign(row, await settle(unit, row, outcome))
    }
    const working = rows.some(({ state }) => state === 'installing')
    const [first] = failed
    if (upgrade.state === 'ending' && first)
      await notifyAdministrators(unit, upgrade, first.why, namesOf(failed, candidates))
    if (upgrade.state === 'ending' && !working) return end(unit, upgrade, 'ended')
    if (upgrade.state === 'running' && first) return stop(unit, upgrade, first.why, namesOf(failed, candidates))
    if (upgrade.state !== 'running' || working) return
    const waiting = rows.filter(({ state }) => state === 'waiting')
    if (waiting.length === 0) return end(unit, upgrade, 'done')
    const halt = await whyStopped(tx, upgrade, version)
    if (halt) return stop(unit, upgrade, halt, [])
    const upgraded = rows.filter(({ state }) => state === 'upgraded').length
    const total = rows.filter(({ state }) => state !== 'left_out').length
    let begun = 0
    for (const row of waiting) {
      if (begun >= nextBatchSize(upgraded, total)) break
      const why = await begin(unit, upgrade, row)
      if (!why) begun += 1
      // An operator chose the first server as a trial. No other one takes its place.
      else if (row.position === 0) return stop(unit, upgrade, why, [])
    }
    // All waiting servers were left out.
    if (begun === 0) await end(unit, upgrade, 'done')
  })
}

/** Starts the installation of one server, unless it no longer qualifies. @returns why it does not begin */
async function begin(unit: Unit, { version }: Upgrade, row: Row): Promise<Why | null> {
  const server = await lockServer(unit, row.serverId)
  const candidate = (await readCandidates(unit.tx, [row.serverId])).get(row.serverId)
  const why = server && candidate ? whyExcluded({ ...candidate, server }, version) : gone
  if (why || !server) {
    await write(unit, row, { state: 'left_out', ...(why ?? gone) })
    return why ?? gone
  }
  const askedAt = await requestProvisioning(unit, server, {
    run_init: true,
    update_cidr: false,
    asApplied: true
  })
  await write(unit, row, { state: 'installing', askedAt })
  unit.audit('server.upgrade', row.serverId, {
    before: { agent_version: row.fromVersion },
    after: { agent_version: version }
  })
  return null
}

const gone: Why = { reason: 'not_found', params: {} }

async function write(unit: Unit, row: Row, columns: Partial<Row>): Promise<void> {
  await unit.tx
    .update(upgradeServers)
    .set(columns)
    .where(sql`${upgradeServers.upgradeId} = ${row.upgradeId} and ${upgradeServers.serverId} = ${row.serverId}`)
  unit.publish('upgrade', row.upgradeId)
}

async function settle(unit: Unit, row: Row, outcome: 'upgraded' | Why): Promise<Partial<Row>> {
  const columns = outcome === 'upgraded' ? { state: outcome } : { state: 'failed' as const, ...outcome }
  await write(unit, row, columns)
  return columns
}

/** The result of the installation that this row waits for. */
function outcomeOf(
  { askedAt }: Pick<Row, 'askedAt'>,
  candidate: Candidate | undefined,
  to: string,
  now: Date
): 'goes on' | 'upgraded' | Why {
  const why = (reason: Reason, params: Params = {}): Why => ({ reason, params })
  const last = candidate?.server.provisioning
  if (!candidate || !last || last.steps[0]?.started_at !== askedAt) return why('upgrade_lost')
  if (last.status === 'failed') return why('upgrade_failed', { message: last.message })
  if (last.status === 'cancelled') return why('upgrade_cancelled')
  if (last.status === 'running') return isAlive(candidate.server, now) ? 'goes on' : why('upgrade_lost')
  if (last.said?.some(({ code }) => code === 'proxy_silent')) return why('upgrade_silent')
  if (last.said?.some(({ code }) => code === 'proxy_not_tried')) return why('upgrade_not_tried')
  if (candidate.version === to) return 'upgraded'
  // A report from before the end of the installation may be about the previous program. Wait for a newer one.
  const endedAt = Date.parse(last.at)
  const isFresh = Date.parse(candidate.lastReport?.at ?? '') >= endedAt
  if (!isFresh && now.getTime() < endedAt + FRESH_MS) return 'goes on'
  return why('upgrade_is_other', { version: candidate.version ?? '?' })
}

/** Why no more servers begin: the console was upgraded, or the person who started it no longer has the permission. */
async function whyStopped(db: Executor, { version, actorId, actorName }: Upgrade, now: string): Promise<Why | null> {
  if (now !== version) return { reason: 'upgrade_other_version', params: { now, version } }
  const [actor] = await db
    .select({ isAdmin: sql<boolean>`${users.isActive} and ${users.isSuperuser}`, role: users.operatorRole })
    .from(users)
    .where(eq(users.id, actorId))
  const may = actor?.isAdmin && mayOperate(actor.role, 'servers.change')
  return may ? null : { reason: 'bulk_not_allowed', params: { username: actorName } }
}

const namesOf = (failed: readonly { row: Row }[], candidates: ReadonlyMap<number, Candidate>): string[] =>
  failed.map(({ row }) => candidates.get(row.serverId)?.server.name ?? `#${row.serverId}`)

async function stop(unit: Unit, upgrade: Upgrade, why: Why, names: string[]): Promise<void> {
  await unit.tx
    .update(upgrades)
    .set({ state: 'stopped', ...why })
    .where(eq(upgrades.id, upgrade.id))
  unit.publish('upgrade', upgrade.id)
  await notifyAdministrators(unit, upgrade, why, names)
}

/** Notifies the administrators why no more servers begin, or of a failure after the upgrade was ended. */
async function notifyAdministrators(unit: Unit, { id, version }: Upgrade, why: Why, names: string[]): Promise<void> {
  const done = sql`${upgradeServers.upgradeId} = ${id} and ${upgradeServers.state} in ('upgraded', 'failed')`
  const sentence = sentenceOf(refuse(why.reason, { params: why.params }))
  await notifyAdmins(unit, {
    words: names.length > 0 ? 'upgrade_failed' : 'upgrade_stopped',
    params: { version, servers: names.join(', '), message: sentence },
    // One for each stop: every stop has more servers behind it, or another cause.
    key: `upgrade-stopped:${id}:${why.reason}:${await unit.tx.$count(upgradeServers, done)}`,
    cause: 'upgrade',
    about: id
  })
}

async function end(unit: Unit, { id }: Upgrade, state: 'done' | 'ended'): Promise<void> {
  await unit.tx.update(upgrades).set({ state, endedAt: unit.now }).where(eq(upgrades.id, id))
  unit.publish('upgrade', id)
}
