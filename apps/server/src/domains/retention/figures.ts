import type { Retained, RetentionFigures, Settings } from '@netlet/contract'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, HOUR, MINUTE, isoOrNull } from '../../infra/clock.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, eq, gt } from '../../infra/db/drizzle.ts'
import type { Counted, Keep, RetentionEntry } from '../../infra/retention.ts'
import { readSettings } from '../settings/index.ts'
import { retentionFigures } from './tables.ts'

/** How long rows are kept, in milliseconds. */
const keptFor = (keep: Keep, settings: Settings): number => ('ms' in keep ? keep.ms : settings[keep.setting] * DAY)

/** Were an entry's rows last counted before `since`, or never? */
async function areFiguresOlder(db: Executor, what: Retained, since: Date): Promise<boolean> {
  return (
    (await db.$count(retentionFigures, and(eq(retentionFigures.what, what), gt(retentionFigures.countedAt, since)))) ===
    0
  )
}

/** @param removed what this run removed; 0 keeps the figures of the last removal */
async function writeFigures(
  { tx, now }: Unit,
  what: Retained,
  { rows, oldest, removed }: Counted & { removed: number }
): Promise<void> {
  const values = { rows, oldest, countedAt: now, ...(removed > 0 ? { removed, removedAt: now } : {}) }
  await tx
    .insert(retentionFigures)
    .values({ what, ...values })
    .onConflictDoUpdate({ target: retentionFigures.what, set: values })
}

/** What is kept, how long and why, with the last run's figures. */
export async function retentionOverview(
  { db, secrets }: Pick<AppContext, 'db' | 'secrets'>,
  entries: readonly RetentionEntry[]
): Promise<RetentionFigures[]> {
  const settings = await readSettings(db, secrets)
  const figures = new Map((await db.select().from(retentionFigures)).map(row => [row.what, row]))
  return entries.map(({ what, why, keep }) => {
    const found = figures.get(what)
    return {
      what,
      why,
      keep_hours: keptFor(keep, settings) / HOUR,
      setting: 'setting' in keep ? keep.setting : null,
      rows: found?.rows ?? null,
      oldest: isoOrNull(found?.oldest ?? null),
      removed: found?.removed ?? 0,
      removed_at: isoOrNull(found?.removedAt ?? null),
      counted_at: isoOrNull(found?.countedAt ?? null)
    }
  })
}

const BATCH = 1000
/** How long a run may spend on one entry, in milliseconds. Later runs remove the rest. */
const SLICE_MS = 30_000
/** When a run stops, in milliseconds: early enough to finish and count its last entry before the queue's limit. */
const RUN_MS = 7 * MINUTE
/** Counting reads more than removing does. In milliseconds. */
const COUNT_EVERY = 6 * HOUR

export type RetentionPace = { batch?: number; sliceMs?: number; runMs?: number }

/**
 * Removes rows whose time is over, within the time of a run. A failing entry is logged and does not stop the others.
 * @param from the first entry; by default, or if unknown, the first of all
 * @returns the entry with which the next run continues; null if all are done
 */
export async function applyRetention(
  ctx: AppContext,
  entries: readonly RetentionEntry[],
  { batch = BATCH, sliceMs = SLICE_MS, runMs = RUN_MS, from }: RetentionPace & { from?: string | undefined } = {}
): Promise<string | null> {
  const end = performance.now() + runMs
  const settings = await readSettings(ctx.db, ctx.secrets)
  const first = Math.max(
    0,
    entries.findIndex(({ what }) => what === from)
  )
  for (const [i, entry] of entries.entries()) {
    if (i < first) continue
    if (i > first && performance.now() >= end) return entry.what
    try {
      await applyOne(ctx, entry, {
        before: new Date(ctx.now().getTime() - keptFor(entry.keep, settings)),
        batch,
        until: Math.min(performance.now() + sliceMs, end)
      })
    } catch (error) {
      ctx.log.error({ err: error, what: entry.what }, 'what is kept long enough was not removed')
    }
  }
  return null
}

async function applyOne(
  ctx: AppContext,
  entry: RetentionEntry,
  { before, batch, until }: { before: Date; batch: number; until: number }
): Promise<void> {
  let removed = 0
  for (;;) {
    const some = await command(ctx, SYSTEM, unit => entry.remove(unit, before, batch))
    removed += some
    if (some === 0 || performance.now() > until) break
  }
  if (removed > 0) ctx.log.info({ what: entry.what, removed }, 'removed what was kept long enough')
  if (removed === 0 && !(await areFiguresOlder(ctx.db, entry.what, new Date(ctx.now().getTime() - COUNT_EVERY)))) return
  const counted = await entry.count(ctx.db)
  await command(ctx, SYSTEM, unit => writeFigures(unit, entry.what, { ...counted, removed }))
}
