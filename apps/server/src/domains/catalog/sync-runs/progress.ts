import { and, eq } from 'drizzle-orm'
import type { SyncState } from '@netlet/contract'
import { SYSTEM } from '../../../infra/actor.ts'
import { command } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import type { Report } from '../read-source.ts'
import { syncRuns } from './tables.ts'

/** The least time between two writes of progress, each of which also checks for a cancellation, in milliseconds. */
const PROGRESS_MS = 300

/** The sync was cancelled: ends the worker's run and rolls back its transaction. */
export class SyncStopped extends Error {}

/** Writes a sync's progress for all viewers. @throws SyncStopped if the sync is no longer in `state` */
export function reportProgress(ctx: AppContext, { id, state }: { id: number; state: SyncState }): Report {
  let [at, current] = [-Infinity, '']
  return async (step, done, total = null) => {
    if (step === current && performance.now() - at < PROGRESS_MS) return
    // On another connection: the sync's own transaction is invisible until it commits.
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
