import {
  type Notice,
  type NoticeCause,
  type NoticeDetail,
  type NoticeSend,
  type NoticeSendState,
  type NoticeSeverity,
  noticeSentence,
  refuse
} from '@netlet/contract'
import type { UserActor } from '../../infra/actor.ts'
import { HOUR, iso, isoOrNull } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { type SQL, and, asc, desc, eq, exists, inArray, isNotNull, isNull, max, sql } from '../../infra/db/drizzle.ts'
import { lock } from '../../infra/db/locks.ts'
import { type ListInput, among, defineList } from '../../infra/list/index.ts'
import { type Result, done, ok } from '../../infra/result.ts'
import { mailStates } from '../mail/index.ts'
import type { NoticeFinder } from './found.ts'
import { readRules } from './rules.ts'
import { type NoticeRow, noticeChannels, noticeSends, notices } from './tables.ts'

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

/**
 * Acknowledges a notice: it is not sent again unless it gets worse or ends. A notice without a finder ends with it. A
 * repeat changes nothing and keeps the first person's name.
 */
export const acknowledgeNotice = (
  ctx: AppContext,
  by: UserActor,
  finders: readonly NoticeFinder[],
  id: number
): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const { tx, now } = unit
    await lock(tx, 'notices')
    const [notice] = await tx.select().from(notices).where(eq(notices.id, id))
    if (!notice) return refuse('not_found')
    if (notice.acknowledgedAt !== null) return done
    const isSearched = finders.some(({ cause }) => cause === notice.cause)
    const ended = isSearched || notice.closedAt !== null ? {} : { closedAt: now, changedAt: now }
    const { username } = by.impersonator ?? by
    await tx
      .update(notices)
      .set({ acknowledgedAt: now, acknowledgedBy: username, ...ended })
      .where(eq(notices.id, id))
    unit.audit('notice.acknowledge', id, { after: { cause: notice.cause, subject: notice.subject } })
    return done
  })

/** Mutes an open notice for some hours, including its end; 0 unmutes it. */
export const muteNotice = (ctx: AppContext, by: UserActor, id: number, hours: number): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const { tx, now } = unit
    await lock(tx, 'notices')
    const [notice] = await tx.select().from(notices).where(eq(notices.id, id))
    if (!notice) return refuse('not_found')
    if (notice.closedAt !== null) return refuse('already_over')
    const mutedUntil = hours === 0 ? null : new Date(now.getTime() + hours * HOUR)
    await tx.update(notices).set({ mutedUntil }).where(eq(notices.id, id))
    unit.audit('notice.mute', id, { after: { cause: notice.cause, subject: notice.subject, hours } })
    return done
  })

const index = '/dashboard/index'

/** The console's page with the rows behind a notice. */
const PATHS: Record<NoticeCause, (subject: string, params: NoticeRow['params']) => string> = {
  server_down: id => `${index}/servers?open=${firstOf(id)}`,
  server_trouble: id => `${index}/servers?open=${firstOf(id)}`,
  undelivered: () => `${index}/orders?problem=1`,
  dispute: () => `${index}/payments`,
  payment: (_, { order }) =>
    order === undefined || order === 'unknown'
      ? `${index}/payments?unresolved=1`
      : `${index}/payments?search=${encodeURIComponent(order)}`,
  order_trouble: id => `${index}/order/${firstOf(id)}`,
  proofs: () => `${index}/health#proofs`,
  inventory: () => `${index}/health`,
  late_events: () => `${index}/health`,
  webhooks: () => `${index}/health`,
  upgrade: () => `${index}/servers`,
  dead_letter: queue => `${index}/tasks?tab=dead&queue=${encodeURIComponent(queue)}`,
  mails: subject => `${index}/mails?state=${subject === 'service' ? 'waiting' : 'failed'}`,
  certificate: subject => (subject === 'public' ? `${index}/health` : `${index}/servers?open=${firstOf(subject)}`),
  token: subject =>
    /^\d+$/.test(subject)
      ? `${index}/servers?open=${subject}`
      : `${index}/WebsiteSettings?tab=${TABS[subject] ?? 'system'}`,
  stock: () => `${index}/servergroup`,
  abuse: () => `${index}/health#abuse`,
  prices: () => `${index}/health#prices`,
  tickets: () => `${index}/tickets?state=open`,
  other: () => `${index}/health`
}

const firstOf = (subject: string): string => /^\d+/.exec(subject)?.[0] ?? ''
const TABS: Readonly<Record<string, string>> = {
  platform: 'shopify',
  platform_key: 'shopify',
  platform_token: 'shopify',
  mail: 'email',
  chat: 'discord',
  chat_client: 'discord'
}

export const pathOf = ({ cause, subject, params }: Pick<NoticeRow, 'cause' | 'subject' | 'params'>): string =>
  PATHS[cause](subject, params)
