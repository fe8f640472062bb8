import { refuse, type AbuseAlarm } from '@netlet/contract'
import type { AgentAlarm } from '@netlet/contract/agent-live'
import { and, desc, eq, inArray, isNull, sql } from '../../infra/db/drizzle.ts'
import type { Actor } from '../../infra/actor.ts'
import { DAY, iso, isoOrNull, MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { ok, type Result } from '../../infra/result.ts'
import { storableText } from '../../infra/text.ts'
import { abuseAlarms } from './tables.ts'
import { agentUsers, servers } from '../servers/tables.ts'
import type { NoticeFinder } from '../notices/index.ts'

/** An alarm that resumes within this time is the same alarm. Restarts of an agent fall into it. */
const GAP_MS = 15 * MINUTE
const SHOWN = 100
const KEPT_MS = 30 * DAY

/**
 * Stores the abuse alarms of a server's agent, one row for each user and kind. The agent repeats an alarm for an hour
 * with each health check; a repeat costs no write. An alarm that starts again must be acknowledged again.
 */
export async function recordAlarms(unit: Unit, serverId: number, alarms: AgentAlarm[]): Promise<void> {
  if (alarms.length === 0) return
  const { tx, now } = unit
  const users = await tx
    .select({ username: agentUsers.username, orderId: agentUsers.orderId })
    .from(agentUsers)
    .where(
      and(
        eq(agentUsers.serverId, serverId),
        inArray(
          agentUsers.username,
          alarms.map(alarm => alarm.user)
        )
      )
    )
  const orderOf = new Map(users.map(({ username, orderId }) => [username, orderId]))
  // One statement can change a row only once, so only the newest alarm of each cause stays.
  const causes = new Map(alarms.toReversed().map(alarm => [`${alarm.kind} ${alarm.user}`, alarm]))
  const notAfterNow = (time: string) => new Date(Math.min(Date.parse(time), now.getTime()))
  const values = [...causes.values()].map(({ kind, user, subject, count, since, last }) => ({
    serverId,
    kind,
    username: user,
    orderId: orderOf.get(user) ?? null,
    subject: storableText(subject),
    count,
    startedAt: notAfterNow(since),
    lastAt: notAfterNow(last)
  }))
  const goesOn = sql`excluded.started_at <= ${abuseAlarms.lastAt} + ${GAP_MS} * interval '1 millisecond'`
  const kept = (column: unknown, otherwise: unknown) => sql`case when ${goesOn} then ${column} else ${otherwise} end`
  const changed = await tx
    .insert(abuseAlarms)
    .values(values.toSorted((a, b) => (`${a.kind} ${a.username}` < `${b.kind} ${b.username}` ? -1 : 1)))
    .onConflictDoUpdate({
      target: [abuseAlarms.serverId, abuseAlarms.kind, abuseAlarms.username],
      set: {
        orderId: sql`excluded.order_id`,
        subject: sql`excluded.subject`,
        count: kept(sql`greatest(${abuseAlarms.count}, excluded.count)`, sql`excluded.count`),
        startedAt: kept(abuseAlarms.startedAt, sql`excluded.started_at`),
        lastAt: sql`excluded.last_at`,
        acknowledgedAt: kept(abuseAlarms.acknowledgedAt, sql`null`),
        acknowledgedBy: kept(abuseAlarms.acknowledgedBy, sql`null`)
      },
      setWhere: sql`excluded.last_at > ${abuseAlarms.lastAt}`
    })
    .returning({ id: abuseAlarms.id })
  if (changed.length > 0) unit.publish('server', serverId)
}

/** The number of open alarms. `listAlarms` without a filter shows the newest of them. */
export const countOpenAlarms = (db: Executor): Promise<number> =>
  db.$count(abuseAlarms, isNull(abuseAlarms.acknowledgedAt))

type Of = { server_id?: number | undefined; order_id?: number | undefined }

/** The newest alarms: the open ones, or all of a server or an order. */
export async function listAlarms(db: Executor, of: Of): Promise<{ alarms: AbuseAlarm[] }> {
  const { server_id: serverId, order_id: orderId } = of
  const open = serverId === undefined && orderId === undefined ? isNull(abuseAlarms.acknowledgedAt) : undefined
  const rows = await selectAlarms(db)
    .where(
      and(
        open,
        serverId === undefined ? undefined : eq(abuseAlarms.serverId, serverId),
        orderId === undefined ? undefined : eq(abuseAlarms.orderId, orderId)
      )
    )
    .orderBy(desc(abuseAlarms.lastAt), desc(abuseAlarms.id))
    .limit(SHOWN)
  return { alarms: rows.map(present) }
}

const selectAlarms = (db: Executor) =>
  db
    .select({ alarm: abuseAlarms, server: servers.name })
    .from(abuseAlarms)
    .innerJoin(servers, eq(servers.id, abuseAlarms.serverId))

type Row = { alarm: typeof abuseAlarms.$inferSelect; server: string }

const present = ({ alarm, server }: Row): AbuseAlarm => ({
  id: alarm.id,
  kind: alarm.kind,
  server_id: alarm.serverId,
  server,
  username: alarm.username,
  order_id: alarm.orderId,
  subject: alarm.subject,
  count: alarm.count,
  started_at: iso(alarm.startedAt),
  last_at: iso(alarm.lastAt),
  acknowledged_at: isoOrNull(alarm.acknowledgedAt),
  acknowledged_by: alarm.acknowledgedBy
})

/** Marks an alarm as seen. Doing it again changes nothing. */
export const acknowledgeAlarm = (ctx: AppContext, by: Actor, id: number): Promise<Result<AbuseAlarm>> =>
  command(ctx, by, async unit => {
    const { tx, now } = unit
    const [taken] = await tx
      .update(abuseAlarms)
      .set({ acknowledgedAt: now, acknowledgedBy: by.kind === 'user' ? by.username : by.kind })
      .where(and(eq(abuseAlarms.id, id), isNull(abuseAlarms.acknowledgedAt)))
      .returning()
    if (taken) {
      const { kind, username, subject } = taken
      unit.audit('server.acknowledge_alarm', taken.serverId, { after: { kind, username, subject } })
    }
    const [row] = await selectAlarms(tx).where(eq(abuseAlarms.id, id))
    return row ? ok(present(row)) : refuse('not_found')
  })

export const alarmRetention: RetentionEntry[] = [
  {
    what: 'abuse_alarms',
    keep: { ms: KEPT_MS },
    why: 'Signs of abuse that agents reported. If the abuse continues, they report it again.',
    remove: (unit, before, limit) =>
      removeRows(unit, abuseAlarms, sql`${abuseAlarms.lastAt} < ${before.toISOString()}`, limit),
    count: db => countRows(db, abuseAlarms, abuseAlarms.lastAt)
  }
]

export const abuseFinder: NoticeFinder = {
  cause: 'abuse',
  every: 1,
  async find({ db }) {
    const count = await countOpenAlarms(db)
    return count === 0 ? [] : [{ subject: '', words: 'abuse', params: { count }, count }]
  }
}
