import type { NoticeCause, NoticeRules, NoticeWords } from '@netlet/contract'
import { isDeepStrictEqual } from 'node:util'
import { and, eq, inArray, isNull, lt } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lock } from '../../infra/db/locks.ts'
import { MOST_FOUND, type Found, type NoticeFinder } from './found.ts'
import { readRules } from './rules.ts'
import { notices, type NoticeRow } from './tables.ts'
import { isMoreSevere, isMuted, openNotifier, type Notifier } from './notifier.ts'

/** A notice without a cause of its own ends when it was not raised again for this time. */
const FORGOTTEN_AFTER = 7 * DAY

/** A notice last found this long ago ended in between, while no search ran, for example in a restored database. */
const LONG_OVER = DAY

/** A cause's results; null: the search failed or was not due, so nothing is known. */
type Findings = Map<NoticeCause, Found[]>

/**
 * Searches all causes and sends what is new, what got worse, what lasts and what has ended. A fixed number of queries:
 * one or two for each cause, some for open notices, and those for changes.
 * @param all also searches that are not due every minute
 */
export async function watchNotices(
  ctx: AppContext,
  finders: readonly NoticeFinder[],
  { all = false }: { all?: boolean } = {}
): Promise<void> {
  const { findings, startedAt, wereOpen } = await search(ctx, finders, all)
  await command(ctx, SYSTEM, async unit => {
    const { tx } = unit
    await lock(tx, 'notices')
    const notifier = await openNotifier(unit)
    const open = await tx.select().from(notices).where(isNull(notices.closedAt))
    const before = new Map(open.map(notice => [idOf(notice), notice]))
    const seen: number[] = []
    const changed: NoticeRow[] = []
    const fresh: (typeof notices.$inferInsert)[] = []
    for (const [cause, list] of findings) {
      const setting = notifier.rules.causes[cause]
      if (!setting.enabled) continue
      for (const found of list) {
        const notice = before.get(idOf({ cause, subject: found.subject }))
        if (!notice) {
          const { words } = found
          if (words) fresh.push(newNotice(unit, cause, { ...found, words }, setting.severity))
          continue
        }
        seen.push(notice.id)
        const now = renewed(notice, found, setting.severity)
        if (now) changed.push(now)
      }
    }
    const isChanged = (notice: NoticeRow) => changed.some(({ id }) => id === notice.id)
    const ended = open.filter(
      notice =>
        !seen.includes(notice.id) && isOver(notice, { findings, rules: notifier.rules, startedAt, wereOpen, finders })
    )
    // What got worse during a mute is sent when the mute ends, although nothing changes then.
    const rest = open.filter(notice => !ended.includes(notice) && !isChanged(notice))
    const late = rest.filter(notice => isWorse(notice, unit.now))
    await openAll(unit, notifier, fresh)
    await change(unit, notifier, [...changed, ...late])
    await remind(
      unit,
      notifier,
      rest.filter(notice => !late.includes(notice))
    )
    await end(unit, notifier, ended)
    if (seen.length > 0) await tx.update(notices).set({ seenAt: unit.now }).where(inArray(notices.id, seen))
    await notifier.send()
  })
}

const idOf = ({ cause, subject }: { cause: NoticeCause; subject: string }) => `${cause} ${subject}`

async function search(ctx: AppContext, finders: readonly NoticeFinder[], all: boolean) {
  const startedAt = ctx.now()
  const minute = Math.floor(startedAt.getTime() / MINUTE)
  const rules = await readRules(ctx.db)
  const open = await ctx.db
    .select({ cause: notices.cause, subject: notices.subject })
    .from(notices)
    .where(isNull(notices.closedAt))
  const findings: Findings = new Map()
  for (const finder of finders) {
    const { cause, every, complete } = finder
    const { enabled, threshold } = rules.causes[cause]
    if (!enabled || (!all && minute % every !== 0)) continue
    const subjects = open.filter(notice => notice.cause === cause).map(({ subject }) => subject)
    try {
      const found = await finder.find(ctx, { now: startedAt, threshold: threshold ?? 0, rules, open: subjects })
      findings.set(cause, complete ? found : found.slice(0, MOST_FOUND))
    } catch (error) {
      // A failing search must not stop the others.
      ctx.log.error({ err: error, cause }, 'a cause of notices cannot be searched for')
    }
  }
  return { findings, startedAt, wereOpen: new Set(open.map(idOf)) }
}

function newNotice(
  { now }: Unit,
  cause: NoticeCause,
  { subject, words, params = {}, count = 1, severity, since }: Found & { words: NoticeWords },
  standard: NoticeRow['severity']
): typeof notices.$inferInsert {
  const highest = severity && isMoreSevere(severity, standard) ? severity : standard
  return {
    cause,
    subject,
    words,
    params,
    count,
    severity: highest,
    toldCount: count,
    toldSeverity: highest,
    toldAt: now,
    since: since ?? now,
    seenAt: now,
    changedAt: now,
    createdAt: now
  }
}

/** An open notice with its new values; undefined if nothing has changed. */
function renewed(notice: NoticeRow, found: Found, standard: NoticeRow['severity']): NoticeRow | undefined {
  const severity = found.severity && isMoreSevere(found.severity, standard) ? found.severity : standard
  // A command's words are better than a search's.
  const says = found.words && notice.key === null ? { words: found.words, params: found.params ?? {} } : {}
  const count = found.count ?? 1
  const now = { ...notice, ...says, severity, count }
  return isDeepStrictEqual(now, notice) ? undefined : now
}

type Known = {
  findings: Findings
  rules: NoticeRules
  startedAt: Date
  /** The notices that were open when the search began. */
  wereOpen: ReadonlySet<string>
  finders: readonly NoticeFinder[]
}

/**
 * Has it ended, as far as this search knows? One that was opened during the search was not searched for, even if its
 * command began earlier and waited.
 */
function isOver(notice: NoticeRow, { findings, rules, startedAt, wereOpen, finders }: Known): boolean {
  if (!rules.causes[notice.cause].enabled) return true
  const finder = finders.find(({ cause }) => cause === notice.cause)
  // Other causes without a finder end only when acknowledged.
  if (!finder) return notice.cause === 'other' && startedAt.getTime() - notice.seenAt.getTime() > FORGOTTEN_AFTER
  const found = findings.get(notice.cause)
  if (found === undefined || notice.seenAt >= startedAt || !wereOpen.has(idOf(notice))) return false
  return finder.complete === true || found.length < MOST_FOUND
}

async function openAll(unit: Unit, notifier: Notifier, fresh: (typeof notices.$inferInsert)[]): Promise<void> {
  if (fresh.length === 0) return
  const made = await unit.tx.insert(notices).values(fresh).onConflictDoNothing().returning()
  for (const notice of made) {
    notifier.tell(notice, 'opened')
    unit.publish('notice', notice.id)
  }
}

/** More severe than when it was last sent, or twice as many rows. */
function isWorse(notice: NoticeRow, now: Date): boolean {
  if (isMuted(notice, now)) return false
  const { severity, count, toldSeverity, toldCount } = notice
  return toldSeverity === null || isMoreSevere(severity, toldSeverity) || count >= 2 * Math.max(1, toldCount)
}

/** Sends what got worse. Fewer rows lower the mark for the next growth. */
async function change(unit: Unit, notifier: Notifier, changed: readonly NoticeRow[]): Promise<void> {
  const { tx, now } = unit
  for (const notice of changed) {
    const { id, words, params, severity, count } = notice
    const worse = isWorse(notice, now)
    const told = worse
      ? { toldCount: count, toldSeverity: severity, toldAt: now, changedAt: now }
      : {
          toldCount: 2 * count < notice.toldCount ? Math.max(1, count) : notice.toldCount,
          toldSeverity: notice.toldSeverity
        }
    const [row] = await tx
      .update(notices)
      .set({ words, params, severity, count, ...told })
      .where(eq(notices.id, id))
      .returning()
    if (row && worse) notifier.tell(row, 'worse')
    unit.publish('notice', id)
  }
}

/** Repeats lasting notices if the rules say so and they are not acknowledged. */
async function remind({ tx, now }: Unit, notifier: Notifier, lasting: readonly NoticeRow[]): Promise<void> {
  const { repeat_hours: hours } = notifier.rules
  if (hours === 0) return
  const due = new Date(now.getTime() - hours * HOUR)
  const again = lasting.filter(
    ({ acknowledgedAt, toldAt, mutedUntil }) =>
      acknowledgedAt === null && (toldAt === null || toldAt <= due) && (mutedUntil === null || mutedUntil <= now)
  )
  if (again.length === 0) return
  const ids = again.map(({ id }) => id)
  await tx
    .update(notices)
    .set({ toldAt: now })
    .where(and(inArray(notices.id, ids), lt(notices.toldAt, now)))
  for (const notice of again) notifier.tell(notice, 'lasts')
}

async function end(unit: Unit, notifier: Notifier, ended: readonly NoticeRow[]): Promise<void> {
  if (ended.length === 0) return
  const { tx, now } = unit
  const isLongOver = ({ seenAt }: NoticeRow) => now.getTime() - seenAt.getTime() > LONG_OVER
  const [before, lately] = [ended.filter(isLongOver), ended.filter(notice => !isLongOver(notice))]
  // Closed without a message, because the time of its end is unknown.
  if (before.length > 0) {
    const ids = before.map(({ id }) => id)
    await tx.update(notices).set({ closedAt: notices.seenAt }).where(inArray(notices.id, ids))
    for (const id of ids) unit.publish('notice', id)
  }
  if (lately.length === 0) return
  const ids = lately.map(({ id }) => id)
  const rows = await tx
    .update(notices)
    .set({ closedAt: now, changedAt: now })
    .where(inArray(notices.id, ids))
    .returning()
  for (const notice of rows) {
    notifier.tell(notice, 'ended')
    unit.publish('notice', notice.id)
  }
}
