import type { NoticeCause, NoticeRules, NoticeSeverity, NoticeWords, Params } from '@netlet/contract'
import { SYSTEM } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { eq, ne, sql } from '../../infra/db/drizzle.ts'
import { countDeadByQueue } from '../../infra/dead-letters.ts'
import { queue } from '../../infra/jobs.ts'
import { hashToken } from '../../infra/secrets.ts'
import { mailTroubles, unsentMails } from '../mail/index.ts'
import { refusedTokens } from './tables.ts'

/** A problem that a command reports to operators. */
export type Raised = {
  cause: NoticeCause
  /** The subject within its cause, as the cause's finder names it. */
  subject: string
  /** The unique occurrence, such as 'payment:evt-1'. A known one is ignored. */
  key: string
  /** Since when, ISO 8601; by default the command's time. */
  since?: string
  /** A sentence of the contract, and its parameters. */
  words: NoticeWords
  params: Params
}

/** Its jobs are deleted after minutes, because their data names orders. */
export const raiseNoticeQueue = queue<Raised & { at: string }>('raise-notice', { deleteAfterSeconds: 300 })

/**
 * Notifies operators if, and only if, the command commits. Use it for problems that a finder could not detect later, or
 * that the command can describe better.
 */
export function raiseNotice(unit: Unit, raised: Raised): void {
  unit.jobs.send(raiseNoticeQueue, { ...raised, at: iso(unit.now) }, { key: raised.key })
}

/** A present problem. Without `words` it only confirms that an open notice lasts. */
export type Found = {
  subject: string
  words?: NoticeWords
  params?: Params
  /** How many rows are behind it. When they double, it is sent again. By default 1. */
  count?: number
  /** Replaces the cause's severity if it is more severe. */
  severity?: NoticeSeverity
  /** By default the time of the search. */
  since?: Date | null
}

export type Search = {
  now: Date
  /** The configured limit of the cause; 0 if it has none. */
  threshold: number
  rules: NoticeRules
  /** Subjects of the cause's open notices. */
  open: readonly string[]
}

/** Further results are ignored, and a search with this many results ends no notices. */
export const MOST_FOUND = 50

/**
 * Finds the present problems of one cause, with the condition of the console's lists and counts. It uses a bounded
 * number of queries and returns the most severe results first; only `MOST_FOUND` of them count.
 */
export type NoticeFinder = {
  cause: NoticeCause
  /** It decides about every open notice: all results count, and notices without a result have ended. */
  complete?: true
  /** Minutes between two searches; slow searches run less often. */
  every: number
  find(ctx: Pick<AppContext, 'db' | 'config' | 'secrets' | 'now'>, search: Search): Promise<Found[]>
}

const waitFor = ({ count, since, reason }: { count: number; since: Date; reason: string }): Found => ({
  subject: 'service',
  words: 'mails_wait',
  params: { count, since: iso(since), reason },
  since,
  count
})

/** This domain's own finders: mails and jobs, which do not know notices. */
export const ownFinders: NoticeFinder[] = [
  {
    cause: 'mails',
    every: 1,
    async find({ db }, { now }) {
      const { failed: count } = await mailTroubles(db)
      const unsent = await unsentMails(db, now)
      return [
        ...(unsent ? [waitFor(unsent)] : []),
        ...(count === 0 ? [] : [{ subject: '', words: 'mails', params: { count }, count } as const])
      ]
    }
  },
  {
    cause: 'dead_letter',
    every: 1,
    async find({ db }) {
      const rows = await countDeadByQueue(db, MOST_FOUND)
      return rows.map(({ queue, count }) => ({ subject: queue, words: 'dead_letter', params: { queue, count }, count }))
    }
  }
]

/** The services of this file, by their names in notices. */
const SERVICES = {
  platform: 'E-commerce platform',
  platform_key: 'E-commerce platform (API key and secret)',
  chat_client: 'Chat login (client ID and secret)'
} as const
type Service = keyof typeof SERVICES

/** A service refused these credentials. Operators get one notice, at once. */
export async function recordRefusal(ctx: AppContext, service: Service, token: string, message: string): Promise<void> {
  const hash = hashToken(token)
  if (await readRefusal(ctx.db, service, hash)) return
  await command(ctx, SYSTEM, async unit => {
    const row = { token: hash, message, since: unit.now }
    const [news] = await unit.tx
      .insert(refusedTokens)
      .values({ service, ...row })
      .onConflictDoUpdate({ target: refusedTokens.service, set: row, setWhere: ne(refusedTokens.token, hash) })
      .returning({ service: refusedTokens.service })
    // Many jobs meet a refusal at the same time.
    if (!news) return
    const params = { service: SERVICES[service], message }
    raiseNotice(unit, {
      cause: 'token',
      subject: service,
      key: `token:${service}:${iso(unit.now)}`,
      words: 'token',
      params
    })
  })
}

/** A service accepted its credentials, so its earlier refusal is deleted. */
export async function recordAcceptance(ctx: AppContext, service: Service): Promise<void> {
  const [known] = await ctx.db
    .select({ one: sql`1` })
    .from(refusedTokens)
    .where(eq(refusedTokens.service, service))
  if (known) await command(ctx, SYSTEM, unit => unit.tx.delete(refusedTokens).where(eq(refusedTokens.service, service)))
}

async function readRefusal(db: Executor, service: Service, token: Buffer) {
  const [row] = await db.select().from(refusedTokens).where(eq(refusedTokens.service, service))
  return row?.token.equals(token) ? row : undefined
}

/** For the finder of the cause `token`: were exactly these credentials refused? */
export async function findRefusal(db: Executor, service: Service, token: string): Promise<Found[]> {
  const row = await readRefusal(db, service, hashToken(token))
  if (!row) return []
  const params = { service: SERVICES[service], message: row.message }
  return [{ subject: service, words: 'token', params, since: row.since }]
}
