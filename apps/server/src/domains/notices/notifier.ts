import type { NoticeRules, NoticeSeverity } from '@netlet/contract'
import { NOTICE_SEVERITIES } from '@netlet/contract'
import { and, asc, eq, gt, inArray, isNotNull, not, sql } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import { queue } from '../../infra/jobs.ts'
import { planMessages, readWaiting, readRecent, type Planned, type NoticeToSend } from './bundle.ts'
import { readRules } from './rules.ts'
import { noticeChannels, noticeSends, notices, type ChannelRow, type NoticeRow } from './tables.ts'

export const sendNoticeQueue = queue<{ sendId: number }>('send-notice')

type NewSend = typeof noticeSends.$inferInsert

export const isMoreSevere = (one: NoticeSeverity, than: NoticeSeverity): boolean =>
  NOTICE_SEVERITIES.indexOf(one) < NOTICE_SEVERITIES.indexOf(than)

export const isMuted = ({ mutedUntil }: Pick<NoticeRow, 'mutedUntil'>, now: Date): boolean =>
  mutedUntil !== null && mutedUntil > now

/** Collects a command's notices and enqueues their messages at the end, with a fixed number of queries. */
export type Notifier = {
  rules: NoticeRules
  channels: readonly ChannelRow[]
  tell(notice: NoticeRow, telling: NoticeToSend['telling']): void
  send(): Promise<void>
}

/** Call it under the lock `notices`. */
export async function openNotifier(unit: Unit): Promise<Notifier> {
  const { tx, now } = unit
  const rules = await readRules(tx)
  const channels = await tx
    .select()
    .from(noticeChannels)
    .where(eq(noticeChannels.enabled, true))
    .orderBy(asc(noticeChannels.id))
  const told: NoticeToSend[] = []
  return {
    rules,
    channels,
    tell(notice, telling) {
      if (!isMuted(notice, now)) told.push({ notice, telling })
    },
    async send() {
      if (told.length === 0) return
      const ids = told.map(({ notice }) => notice.id)
      const before = await earlierSends(unit, told)
      const known = { recent: await readRecent(unit), held: await readWaiting(unit) }
      const planned = channels.flatMap(channel => {
        const gets = told.filter(({ notice, telling }) =>
          // A channel that got the beginning gets the end.
          telling === 'ended' ? before.has(`${notice.id}:${channel.id}`) : channel.severities.includes(notice.severity)
        )
        return planMessages(unit, rules, channel, gets, known)
      })
      await tx
        .update(notices)
        .set({ told: sql`${notices.told} + 1` })
        .where(inArray(notices.id, ids))
      await enqueuePlanned(unit, planned)
    }
  }
}

/**
 * The channels that got these notices or are about to. Waiting messages are skipped: the new one replaces them, or the
 * problem has already ended. A critical one is still sent, in its waiting message, which says that it has ended.
 * @returns 'notice:channel'
 */
async function earlierSends({ tx, now }: Unit, told: readonly NoticeToSend[]): Promise<Set<string>> {
  const ofThese = inArray(
    noticeSends.noticeId,
    told.map(({ notice }) => notice.id)
  )
  const waits = and(eq(noticeSends.state, 'waiting'), eq(noticeSends.tries, 0), gt(noticeSends.dueAt, now))
  const critical = told.filter(({ notice, telling }) => telling === 'ended' && notice.severity === 'critical')
  const isKept = and(
    isNotNull(noticeSends.withId),
    inArray(
      noticeSends.noticeId,
      critical.map(({ notice }) => notice.id)
    )
  )
  await tx
    .update(noticeSends)
    .set({ state: 'skipped', endedAt: now })
    .where(and(ofThese, waits, critical.length > 0 && isKept ? not(isKept) : undefined))
  const rows = await tx
    .selectDistinct({ noticeId: noticeSends.noticeId, channelId: noticeSends.channelId })
    .from(noticeSends)
    .where(and(ofThese, inArray(noticeSends.state, ['waiting', 'sent']), sql`not (${waits})`))
  return new Set(rows.map(row => `${row.noticeId}:${row.channelId}`))
}

/** Inserts the planned messages: first the shared ones, to which the others refer. */
async function enqueuePlanned(unit: Unit, planned: readonly Planned[]): Promise<void> {
  const leaders = planned.flatMap(({ key, dueAt, sends: [first], leader }) =>
    leader === 'new' && first
      ? [{ channelId: first.channelId, key, telling: first.telling, dueAt, createdAt: unit.now }]
      : []
  )
  const made = await enqueueSends(unit, leaders)
  const singles: NewSend[] = []
  const members: NewSend[] = []
  for (const { key, sends, leader } of planned) {
    const withId = leader === 'new' ? made.get(key) : leader?.id
    if (leader === undefined) singles.push(...sends)
    else if (withId !== undefined) members.push(...sends.map(send => ({ ...send, withId })))
  }
  await enqueueSends(unit, singles)
  if (members.length > 0)
    await unit.tx.insert(noticeSends).values(members).onConflictDoNothing({ target: noticeSends.key })
}

/**
 * Inserts messages and enqueues each for its time; known ones stay as they are.
 * @returns the ids of new ones, by key
 */
export async function enqueueSends(unit: Unit, sends: readonly NewSend[]): Promise<Map<string, number>> {
  if (sends.length === 0) return new Map()
  const made = await unit.tx
    .insert(noticeSends)
    .values([...sends])
    .onConflictDoNothing({ target: noticeSends.key })
    .returning({ id: noticeSends.id, key: noticeSends.key, dueAt: noticeSends.dueAt })
  for (const { id, dueAt } of made) enqueueSend(unit, id, dueAt.getTime() - unit.now.getTime())
  return new Map(made.map(({ id, key }) => [key, id]))
}

export const enqueueSend = (unit: Unit, id: number, startIn: number): void =>
  unit.jobs.send(sendNoticeQueue, { sendId: id }, { key: String(id), ...(startIn > 0 ? { startIn } : {}) })
