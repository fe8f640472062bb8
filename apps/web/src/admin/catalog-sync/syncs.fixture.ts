import type { SyncPlan, SyncRun } from '@netlet/contract'
import { catalog } from '../../api/routes.ts'
import { answer } from '../../testing/answers.ts'

const at = '2026-06-15T08:00:00.000Z'

/** A sync that is reading products, with `more` changed. */
export const syncRun = (more: Partial<SyncRun> = {}): SyncRun => ({
  id: 4,
  what: 'catalogue',
  state: 'reading',
  step: 'products',
  done: 20,
  total: 80,
  username: 'ann',
  created_at: at,
  ready_at: null,
  ended_at: null,
  counts: null,
  reason: null,
  params: {},
  msg: null,
  ...more
})

export const readyRun = (more: Partial<SyncRun> = {}): SyncRun =>
  syncRun({ state: 'ready', ready_at: new Date().toISOString(), ...more })

export const failedRun = (more: Partial<SyncRun> = {}): SyncRun =>
  syncRun({ state: 'failed', ended_at: at, reason: 'stale', msg: 'This has changed since you opened it.', ...more })

/**
 * Answers as a server with one sync: starting, applying and cancelling change it. Tests advance it through `now`.
 * @param plan what it would do when ready
 */
export function answerSync(plan: SyncPlan, first?: SyncRun) {
  const kept: { now: SyncRun | undefined } = { now: first }
  const { what } = plan
  const ready = () => readyRun({ what, id: (kept.now?.id ?? 3) + 1 })
  answer(catalog.syncRuns, () => (kept.now ? [kept.now] : []))
  answer(catalog.syncPlan, plan)
  answer(catalog.startSync, () => (kept.now = ready()))
  answer(catalog.applySync, () => (kept.now = { ...(kept.now ?? ready()), state: 'applied', ended_at: at, counts }))
  answer(catalog.cancelSync, () => {
    if (kept.now) kept.now = { ...kept.now, state: 'cancelled', ended_at: at }
    return null
  })
  return kept
}

const counts = { created: 1, updated: 1, removed: 1 }
