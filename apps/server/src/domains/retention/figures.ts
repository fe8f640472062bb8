import type { Retained, RetentionFigures, Settings } from '@netlet/contract'
import { and, eq, gt } from '../../infra/db/drizzle.ts'
import { DAY, HOUR, isoOrNull } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { Counted, Keep, RetentionEntry } from '../../infra/retention.ts'
import { readSettings } from '../settings/index.ts'
import { retentionFigures } from './tables.ts'

/** How long rows are kept, in milliseconds. */
export const keptFor = (keep: Keep, settings: Settings): number =>
  'ms' in keep ? keep.ms : settings[keep.setting] * DAY

/** Were an entry's rows last counted before `since`, or never? */
export async function areFiguresOlder(db: Executor, what: Retained, since: Date): Promise<boolean> {
  return (
    (await db.$count(retentionFigures, and(eq(retentionFigures.what, what), gt(retentionFigures.countedAt, since)))) ===
    0
  )
}

/** @param removed what this run removed; 0 keeps the figures of the last removal */
export async function writeFigures(
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
