import { and, eq } from 'drizzle-orm'
import type { SyncState } from '@netlet/contract'
import { SYSTEM } from '../../../infra/actor.ts'
import { command } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import type { Report } from '../read-source.ts'
import { syncRuns } from './tables.ts'

/** Progress is written, and a cancel looked for, at most once in this time (milliseconds). */
const PROGRESS_MS = 300

/** Somebody has cancelled the sync: it ends what a worker does, and the transaction that it does it in. */
export class SyncStopped extends Error {}

/**
 * Writes how far a sync is, for all who watch it.
 * @throws SyncStopped where the sync is not in `state` any more
 */
export function reportProgress(ctx: AppContext, { id, state }: { id: number; state: SyncState }): Report {
  let [at, current] = [-Infinity, '']
  return async (step, done, total = null) => {
    if (step === current && performance.now() - at < PROGRESS_MS) return
    // By a connection of its own: what the sync itself writes is not seen before all of it is done.
    const isOn = await command(ctx, SYSTEM, async unit => {
      const written = await unit.tx
        .update(syncRuns)
        .set({ step, done, total })
        .where(and(eq(syncRuns.id, id), eq(syncRuns.state, state)))
        .returning({ id: syncRuns.id })
      unit.publish('catalog_sync', id)
      return written.length > 0
    })
    if (!isOn) throw new SyncStopped('the sync was cancelled')
    at = performance.now()
    current = step
  }
}
