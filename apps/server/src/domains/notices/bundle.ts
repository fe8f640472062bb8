import type { NoticeRules, NoticeTelling } from '@netlet/contract'
import { and, eq, gt, inArray, isNull, sql } from '../../infra/db/drizzle.ts'
import { HOUR, MINUTE, iso } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { noticeSends, notices, type ChannelRow, type NoticeRow } from './tables.ts'

const DAY_MINUTES = 1440

type Local = { day: string; hour: number; minutes: number }

/** The local time in a time zone: '2026-11-21', the hour, and minutes since midnight. */
export function localTime(at: Date, timeZone: string): Local {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23'
  })
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
  const hour = Number(part['hour'])
  return { day: `${part['year']}-${part['month']}-${part['day']}`, hour, minutes: hour * 60 + Number(part['minute']) }
}

const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3))

type Quiet = Pick<NoticeRules, 'time_zone' | 'quiet_hours' | 'quiet_from' | 'quiet_until'>

/**
 * When a notice that is not critical may be sent: now, or at the end of the quiet hours. The end follows the local
 * clock, also across a clock change; an end in the skipped hour moves to the next valid time.
 */
function afterQuiet(at: Date, rules: Quiet): Date {
  const [from, until] = [minutesOf(rules.quiet_from), minutesOf(rules.quiet_until)]
  if (!rules.quiet_hours || from === until) return at
  const { minutes } = localTime(at, rules.time_zone)
  const isQuiet = from < until ? minutes >= from && minutes < until : minutes >= from || minutes < until
  if (!isQuiet) return at
  const wait = (until - minutes + DAY_MINUTES) % DAY_MINUTES
  const start = Math.floor(at.getTime() / MINUTE) * MINUTE
  const end = new Date(start + wait * MINUTE)
  const off = (until - localTime(end, rules.time_zone).minutes + 2.5 * DAY_MINUTES) % DAY_MINUTES
  return new Date(end.getTime() + (off - DAY_MINUTES / 2) * MINUTE)
}

/** Immediate messages of one cause that a channel gets in an hour. The rest is combined and waits for room. */
const MOST_AN_HOUR = 20
/** More simultaneous notices of one cause than this become one message. */
const MOST_SINGLE = 5
/** After this many single messages within this time, further ones are collected. */
const AT_ONCE = 2 * MINUTE
const GATHERED_FOR = MINUTE
/** Critical notices do not wait longer for room. */
const LONGEST_WAIT = 5 * MINUTE

type NewSend = typeof noticeSends.$inferInsert
export type NoticeToSend = { notice: NoticeRow; telling: Exclude<NoticeTelling, 'digest' | 'test'> }
/** One message: of one notice, or of several. The latter has a row of its own, to which theirs refer. */
export type Planned = { key: string; dueAt: Date; sends: NewSend[]; leader?: 'new' | { id: number } }

/**
 * Plans a channel's messages for these notices. Beginnings and ends have separate budgets. Nothing is dropped: what has
 * to wait, for room or for the end of quiet hours, joins the waiting message.
 * @param toSend what this channel gets
 */
export function planMessages(
  { now }: Pick<Unit, 'now'>,
  rules: NoticeRules,
  channel: ChannelRow,
  toSend: readonly NoticeToSend[],
  { recent, held }: { recent: Recent; held: Map<string, WaitingMessage> }
): Planned[] {
  const planned: Planned[] = []
  for (const [group, list] of Map.groupBy(toSend, one => groupOf(channel, one))) {
    const [first] = list
    if (!first) continue
    const budget = budgetOf(channel.id, first.notice.cause, first.telling)
    const { count = 0, lately = 0, roomAt = null } = recent.get(budget) ?? {}
    const spend = (messages: number) =>
      recent.set(budget, { count: count + messages, lately: lately + messages, roomAt })
    const isUrgent = first.notice.severity === 'critical'
    const quietEnd = isUrgent ? now : afterQuiet(now, rules)
    const left = MOST_AN_HOUR - count
    const isMany = list.length > Math.min(MOST_SINGLE, left)
    const sendsOf = (dueAt: Date): NewSend[] => list.map(one => sendOf(one, channel, { dueAt, createdAt: now }))
    const inOne = (sends: NewSend[], dueAt: Date, leader: Planned['leader'] = 'new') =>
      planned.push({ key: `${group}:${sends[0]?.key}`, dueAt, sends, leader })
    const isFlood = !isMany && lately + list.length > MOST_SINGLE
    if (left > 0 && quietEnd <= now && !isFlood) {
      const sends = sendsOf(now)
      if (isMany) inOne(sends, now)
      else planned.push(...sends.map(send => ({ key: send.key, dueAt: now, sends: [send] })))
      spend(isMany ? 1 : list.length)
      continue
    }
    const waits = held.get(group)
    const room = left > 0 ? now.getTime() + (isFlood ? GATHERED_FOR : 0) : (roomAt?.getTime() ?? now.getTime() + HOUR)
    const wait = isUrgent ? Math.min(room, now.getTime() + LONGEST_WAIT) : room
    const dueAt = waits?.dueAt ?? new Date(Math.max(quietEnd.getTime(), wait))
    inOne(sendsOf(dueAt), dueAt, waits ? { id: waits.id } : 'new')
    if (!waits) spend(1)
  }
  return planned
}

const sendOf = (
  { notice, telling }: NoticeToSend,
  channel: ChannelRow,
  times: { dueAt: Date; createdAt: Date }
): NewSend => ({
  noticeId: notice.id,
  channelId: channel.id,
  key: `${notice.id}:${notice.told + 1}:${channel.id}`,
  telling,
  ...times
})

/** Notices with the same group may share a message. Its row's key begins with it, letter for letter. */
const groupOf = ({ id }: ChannelRow, { notice: { cause, severity }, telling }: NoticeToSend): string =>
  `bundle:${id}:${cause}:${telling}:${severity === 'critical' ? 'urgent' : 'other'}`

const budgetOf = (channelId: number, cause: string, telling: NoticeTelling): string =>
  `${channelId}:${cause}:${telling === 'ended' ? 'ends' : 'begins'}`

/** A channel's messages of the last hour and minutes, and when it has room again (null: it has). */
export type Recent = Map<string, { count: number; lately: number; roomAt: Date | null }>

export async function readRecent({ tx, now }: Unit): Promise<Recent> {
  const lately = iso(new Date(now.getTime() - AT_ONCE))
  const messages = tx
    .select({
      channelId: noticeSends.channelId,
      cause: notices.cause,
      telling: sql<NoticeTelling>`case when ${noticeSends.telling} = 'ended' then 'ended' else 'opened' end`.as('kind'),
      at: sql<Date>`min(${noticeSends.createdAt})`.as('at')
    })
    .from(noticeSends)
    .innerJoin(notices, eq(notices.id, noticeSends.noticeId))
    .where(and(gt(noticeSends.createdAt, new Date(now.getTime() - HOUR)), sql`${noticeSends.state} <> 'skipped'`))
    .groupBy(noticeSends.channelId, notices.cause, sql`3`, sql`coalesce(${noticeSends.withId}, ${noticeSends.id})`)
    .as('messages')
  const rows = await tx
    .select({
      channelId: messages.channelId,
      cause: messages.cause,
      telling: messages.telling,
      count: sql<number>`count(*)::int`,
      lately: sql<number>`(count(*) filter (where ${messages.at} > ${lately}::timestamptz))::int`,
      last: sql<
        string | null
      >`(array_agg(${messages.at} order by ${messages.at} desc))[${sql.raw(String(MOST_AN_HOUR))}]`
    })
    .from(messages)
    .groupBy(messages.channelId, messages.cause, messages.telling)
  return new Map(
    rows.map(({ channelId, cause, telling, count, lately: some, last }) => [
      budgetOf(channelId, cause, telling),
      { count, lately: some, roomAt: last === null ? null : new Date(Date.parse(last) + HOUR) }
    ])
  )
}

export type WaitingMessage = { id: number; dueAt: Date }

/** Waiting messages by group. */
export async function readWaiting({ tx, now }: Unit): Promise<Map<string, WaitingMessage>> {
  const rows = await tx
    .select({ id: noticeSends.id, key: noticeSends.key, dueAt: noticeSends.dueAt })
    .from(noticeSends)
    .where(
      and(
        eq(noticeSends.state, 'waiting'),
        eq(noticeSends.tries, 0),
        isNull(noticeSends.noticeId),
        inArray(noticeSends.telling, ['opened', 'worse', 'lasts', 'ended']),
        gt(noticeSends.dueAt, now)
      )
    )
    .for('update')
  return new Map(rows.map(({ id, key, dueAt }) => [key.split(':').slice(0, 5).join(':'), { id, dueAt }]))
}
