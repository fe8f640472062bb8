import { NOTICE_SEVERITIES } from '@netlet/contract'
import { and, eq, inArray, isNull, lt, ne, or, sql, type SQL } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { noticeChannels, notices, noticeSends, type ChannelRow, type NoticeRow } from './tables.ts'
import { ordersOf } from './message.ts'
import { isMuted } from './notifier.ts'

export type SendRow = typeof noticeSends.$inferSelect
export type Claimed = { send: SendRow; channel: ChannelRow; notices: NoticeRow[] }

/** Longer than any exchange takes: an older job has died. */
const CLAIM = 2 * MINUTE

/**
 * Claims a message for this job, so that it is posted once, even with several jobs.
 * @returns null if it has ended, another job has it, or it is no longer needed
 */
export const claimSend = (ctx: AppContext, sendId: number, jobId: string): Promise<Claimed | null> =>
  command(ctx, SYSTEM, async unit => {
    const { tx, now } = unit
    const stale = new Date(now.getTime() - CLAIM)
    const [send] = await tx
      .update(noticeSends)
      .set({ jobId, claimedAt: now, tries: sql`${noticeSends.tries} + 1` })
      .where(
        and(
          eq(noticeSends.id, sendId),
          eq(noticeSends.state, 'waiting'),
          or(isNull(noticeSends.claimedAt), eq(noticeSends.jobId, jobId), lt(noticeSends.claimedAt, stale))
        )
      )
      .returning()
    if (!send) return null
    const [channel] = await tx.select().from(noticeChannels).where(eq(noticeChannels.id, send.channelId))
    if (!channel) return null
    const rows = await noticesOf(unit, send, channel)
    if (send.telling !== 'test' && (!channel.enabled || rows.length === 0)) {
      await tx
        .update(noticeSends)
        .set({ state: 'skipped', endedAt: now })
        .where(and(isOf(send.id), eq(noticeSends.state, 'waiting')))
      unit.publish('notice', send.noticeId ?? undefined)
      return null
    }
    return { send, channel, notices: rows }
  })

/** A message's own row, and those of the notices in it. */
export const isOf = (sendId: number): SQL | undefined => or(eq(noticeSends.id, sendId), eq(noticeSends.withId, sendId))

/** The message's notices, the most severe first, then those with the most orders. */
async function noticesOf(unit: Unit, send: SendRow, channel: ChannelRow): Promise<NoticeRow[]> {
  const { tx } = unit
  if (send.telling === 'test') return []
  if (send.telling === 'digest') {
    const ids = send.noticeIds ?? []
    const rows = ids.length === 0 ? [] : await tx.select().from(notices).where(inArray(notices.id, ids))
    return rows.toSorted((a, b) => a.id - b.id)
  }
  const mine = await tx
    .select({ notice: notices, sendId: noticeSends.id })
    .from(noticeSends)
    .innerJoin(notices, eq(notices.id, noticeSends.noticeId))
    .where(and(isOf(send.id), eq(noticeSends.state, 'waiting')))
  const needless = await findUnneeded(
    unit,
    send,
    channel,
    mine.map(({ notice }) => notice)
  )
  const isNeeded = ({ notice }: { notice: NoticeRow }) => !needless.has(notice.id)
  const others = mine.filter(one => !isNeeded(one)).map(({ sendId }) => sendId)
  if (others.length > 0)
    await tx.update(noticeSends).set({ state: 'skipped', endedAt: unit.now }).where(inArray(noticeSends.id, others))
  return mine
    .filter(isNeeded)
    .map(({ notice }) => notice)
    .toSorted((a, b) => gravity(a) - gravity(b) || weight(b) - weight(a) || a.id - b.id)
}

const gravity = ({ severity }: NoticeRow): number => NOTICE_SEVERITIES.indexOf(severity)

/** The orders that a notice affects, or else the rows behind it. */
const weight = ({ params, count }: NoticeRow): number => ordersOf(params) ?? count

/** Notices that were muted, or whose end this channel also gets. */
async function findUnneeded(
  { tx, now }: Unit,
  send: SendRow,
  channel: ChannelRow,
  rows: readonly NoticeRow[]
): Promise<Set<number>> {
  const needless = new Set(rows.filter(notice => isMuted(notice, now)).map(({ id }) => id))
  const closed = rows.filter(({ closedAt }) => closedAt !== null).map(({ id }) => id)
  if (send.telling === 'ended' || closed.length === 0) return needless
  const sent = await tx
    .selectDistinct({ id: noticeSends.noticeId })
    .from(noticeSends)
    .where(
      and(
        inArray(noticeSends.noticeId, closed),
        eq(noticeSends.channelId, channel.id),
        eq(noticeSends.telling, 'ended'),
        ne(noticeSends.state, 'skipped')
      )
    )
  for (const { id } of sent) if (id !== null) needless.add(id)
  return needless
}
