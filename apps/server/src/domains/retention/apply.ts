import { SYSTEM } from '../../infra/actor.ts'
import { HOUR } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { RetentionEntry } from '../../infra/retention.ts'
import { readSettings } from '../settings/index.ts'
import { areFiguresOlder, writeFigures } from './figures.ts'
import { keptFor } from './kept-for.ts'

const BATCH = 1000
/** How long one entry may take of a run; what is left is removed by the next ones. In milliseconds. */
const SLICE_MS = 30_000
/** Counting reads more than removing does. In milliseconds. */
const COUNT_EVERY = 6 * HOUR

/** Removes what every entry has kept long enough. One that fails is logged, and keeps none of the others from its turn. */
export async function applyRetention(
  ctx: AppContext,
  entries: readonly RetentionEntry[],
  { batch = BATCH, sliceMs = SLICE_MS }: { batch?: number; sliceMs?: number } = {}
): Promise<void> {
  const settings = await readSettings(ctx.db, ctx.secrets)
  for (const entry of entries) {
    try {
      await applyOne(ctx, entry, {
        before: new Date(ctx.now().getTime() - keptFor(entry.keep, settings)),
        batch,
        sliceMs
      })
    } catch (error) {
      ctx.log.error({ err: error, what: entry.what }, 'what is kept long enough was not removed')
    }
  }
}

async function applyOne(
  ctx: AppContext,
  entry: RetentionEntry,
  { before, batch, sliceMs }: { before: Date; batch: number; sliceMs: number }
): Promise<void> {
  const until = performance.now() + sliceMs
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
