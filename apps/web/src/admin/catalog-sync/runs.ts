import { SYNC_PLAN_MS, type SyncKind, type SyncRun } from '@netlet/contract'
import type { PageId } from '@netlet/contract/pages'
import { useQuery } from '@tanstack/react-query'
import { usePollInterval } from '../../api/feed-connected.ts'
import { read } from '../../api/query.ts'
import { catalog, inventory } from '../../api/routes.ts'
import type { T } from '../kit/index.ts'
import { figures } from '../kit/index.ts'

/** Milliseconds between two looks: while one goes on, and while none does and no feed tells of one that begins. */
const WATCH = 1000
const IDLE = 15_000

/** The screen that shows each kind of sync. */
export const SCREENS = {
  catalogue: 'productManager',
  collections: 'productType',
  tags: 'productTag'
} as const satisfies Record<SyncKind, PageId>

/** What reads what a sync, or its undo, changes. */
export const SHOWN = [catalog.products, catalog.collections, catalog.tags, catalog.priceDrift, inventory.rules]

export const goesOn = ({ state }: SyncRun): boolean => state === 'reading' || state === 'applying'

/** Can its plan still be applied? */
export const isReady = ({ state, ready_at }: SyncRun): boolean =>
  state === 'ready' && ready_at !== null && Date.now() - Date.parse(ready_at) < SYNC_PLAN_MS

/** The newest sync of each kind, of whoever asked for it, in every tab. */
export function useSyncRuns() {
  const idle = usePollInterval(IDLE)
  return useQuery({
    ...read(catalog.syncRuns),
    refetchInterval: query => (query.state.data?.some(goesOn) ? WATCH : idle)
  })
}

/** What it does now. */
export const stepOf = (t: T, run: SyncRun): string => t(run.state === 'ready' ? 'sync.ready' : `sync.step.${run.step}`)

/** '20 of 340'; nothing where it is not counted, or over. */
export function countsOf(t: T, run: SyncRun): string {
  const { done, total } = run
  if (!goesOn(run)) return ''
  if (total !== null) return t('sync.ofTotal', figures({ done, total }))
  return done > 0 ? figures({ done }).done : ''
}
