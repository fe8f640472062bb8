import {
  noticeSentence,
  refuse,
  type Notice,
  type NoticeCause,
  type NoticeDetail,
  type NoticeSend,
  type NoticeSendState,
  type NoticeSeverity
} from '@netlet/contract'
import { and, asc, desc, eq, exists, inArray, isNotNull, isNull, max, sql, type SQL } from '../../infra/db/drizzle.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { ok, type Result } from '../../infra/result.ts'
import { mailStates } from '../mail/index.ts'
import { pathOf } from './path.ts'
import { readRules } from './rules.ts'
import { noticeChannels, notices, noticeSends, type NoticeRow } from './tables.ts'

type Query = ListInput<'id'> & {
  state?: 'open' | 'closed' | 'failed' | undefined
  cause?: NoticeCause | undefined
  severity?: NoticeSeverity | undefined
}

/** A channel did not get it, and no operator has acknowledged it here. */
const isUntold = (db: Executor): SQL | undefined =>
  and(
    isNull(notices.acknowledgedAt),
    exists(
      db
        .select({ one: sql`1` })
        .from(noticeSends)
        .where(and(eq(noticeSends.noticeId, notices.id), eq(noticeSends.state, 'failed')))
    )
  )

/** How many notices could not be delivered: the list's state `failed` shows them. */
export const countUndeliveredNotices = (db: Executor): Promise<number> => db.$count(notices, isUntold(db))

/** Letter for letter the expression of its index. */
const searched = sql`(${notices.subject} || ' ' || ${notices.params}::text)`

/** Notices to operators, by their subject and parameters. */
export const noticeList = defineList<Query, Notice>({
  name: 'notices',
  table: notices,
  id: notices.id,
  sort: { id: notices.id },
  match: (db, { state, cause, severity, search }) => ({
    text: search ? { in: searched, term: search } : undefined,
    where: [
      state === 'open' ? isNull(notices.closedAt) : undefined,
      state === 'closed' ? isNotNull(notices.closedAt) : undefined,
      state === 'failed' ? isUntold(db) : undefined,
      cause === undefined ? undefined : eq(notices.cause, cause),
      severity === undefined ? undefined : eq(notices.severity, severity)
    ]
  }),
  load: async (db, ids) => presentAll(db, await db.select().from(notices).where(among(notices.id, ids)))
})

async function presentAll(db: Executor, rows: NoticeRow[]): Promise<Notice[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const { time_zone: timeZone } = await readRules(db)
  const counted = await db
    .select({
      id: noticeSends.noticeId,
      state: noticeSends.state,
      count: sql<number>`count(*)::int`,
      last: max(noticeSends.endedAt)
    })
    .from(noticeSends)
    .where(inArray(noticeSends.noticeId, ids))
    .groupBy(noticeSends.noticeId, noticeSends.state)
  return rows.map(row => {
    const sends: Record<NoticeSendState, number> = { waiting: 0, sent: 0, failed: 0, skipped: 0 }
    const ofRow = counted.filter(({ id }) => id === row.id)
    for (const { state, count } of ofRow) sends[state] = count
    const toldAt = ofRow.find(({ state }) => state === 'sent')?.last ?? null
    return present(row, { sends, toldAt, timeZone })
  })
}

type Known = Pick<Notice, 'sends'> & { toldAt: Date | null; timeZone: string }

function present(row: NoticeRow, { sends, toldAt, timeZone }: Known): Notice {
  const said = noticeSentence(row.words, row.params, timeZone)
  return {
    id: row.id,
    cause: row.cause,
    subject: row.subject,
    severity: row.severity,
    title: { en: said.en.title, 'zh-CN': said['zh-CN'].title },
    text: { en: said.en.text, 'zh-CN': said['zh-CN'].text },
    params: { ...row.params },
    path: pathOf(row),
    count: row.count,
    state: row.closedAt === null ? 'open' : 'closed',
    since: iso(row.since),
    told_at: isoOrNull(toldAt),
    closed_at: isoOrNull(row.closedAt),
    acknowledged_at: isoOrNull(row.acknowledgedAt),
    acknowledged_by: row.acknowledgedBy,
    muted_until: isoOrNull(row.mutedUntil),
    sends
  }
}

const MOST_SENDS = 100

/** One notice with its latest messages, newest first. */
export async function readNotice(db: Executor, id: number): Promise<Result<NoticeDetail>> {
  const [notice] = await presentAll(db, await db.select().from(notices).where(eq(notices.id, id)))
  if (!notice) return refuse('not_found')
  return ok({ ...notice, log: await readSends(db, eq(noticeSends.noticeId, id)) })
}

export async function readSend(db: Executor, id: number): Promise<Result<NoticeSend>> {
  const [send] = await readSends(db, eq(noticeSends.id, id))
  return send ? ok(send) : refuse('not_found')
}

async function readSends(db: Executor, where: SQL): Promise<NoticeSend[]> {
  const rows = await db
    .select({ send: noticeSends, channel: noticeChannels.name, kind: noticeChannels.kind })
    .from(noticeSends)
    .innerJoin(noticeChannels, eq(noticeChannels.id, noticeSends.channelId))
    .where(where)
    .orderBy(desc(noticeSends.id), asc(noticeSends.channelId))
    .limit(MOST_SENDS)
  const mails = await mailStates(
    db,
    rows.flatMap(({ send }) => send.mailKeys ?? [])
  )
  return rows.map(({ send, channel, kind }) => ({
    id: send.id,
    channel,
    kind,
    telling: send.telling,
    state: send.state,
    tries: send.tries,
    status: send.status,
    failure: send.failure,
    detail: send.detail,
    due_at: iso(send.dueAt),
    ended_at: isoOrNull(send.endedAt),
    mails: (send.mailKeys ?? []).flatMap(key => mails.get(key) ?? [])
  }))
}
