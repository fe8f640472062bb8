import { SYSTEM } from '../../infra/actor.ts'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { RetentionEntry } from '../../infra/retention.ts'
import { readSettings } from '../settings/index.ts'
import { areFiguresOlder, writeFigures } from './figures.ts'
import { keptFor } from './kept-for.ts'

const BATCH = 1000
/** How long one entry may take of a run; what is left is removed by the next ones. In milliseconds. */
const SLICE_MS = 30_000
/** How long a run goes on: its last entry, which is counted too, ends before the queue gives the job up. In milliseconds. */
const RUN_MS = 7 * MINUTE
/** Counting reads more than removing does. In milliseconds. */
const COUNT_EVERY = 6 * HOUR

export type RetentionPace = { batch?: number; sliceMs?: number; runMs?: number }

/**
 * Removes what the entries have kept long enough, for as long as a run may take. One that fails is logged, and keeps none of
 * the others from its turn.
 * @param from with which entry to begin; by default, and where there is none of that name, with the first
 * @returns with which entry the next run goes on; null where all of them had their turn
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
