import { SYNC_PLAN_MS, type SyncKind, type SyncRun } from '@netlet/contract'
import type { PageId } from '@netlet/contract/pages'
import { useQuery } from '@tanstack/react-query'
import { usePollInterval } from '../../api/feed-connected.ts'
import { keyOf, queryClient, read, refresh } from '../../api/query.ts'
import { catalog, inventory } from '../../api/routes.ts'
import { figures, type T, useCommand, WorkButton } from '../kit/index.ts'
import { useRef, useState } from 'react'
import { call } from '../../api/client.ts'
import { failureText } from '../../i18n/failures.ts'
import { Progress } from '@mantine/core'
import { useMay } from '../../api/session.ts'
import { useT } from '../../i18n/admin.ts'

export type StartSync = { run: () => Promise<void>; running: boolean; failure: string }

/** Puts the server's new sync into the cache, so that the previous one does not flash up. */
export function showRun(run: SyncRun): void {
  queryClient.setQueryData<SyncRun[]>(keyOf(catalog.syncRuns, {}), (runs = []) => [
    ...runs.filter(one => one.what !== run.what),
    run
  ])
  void refresh(catalog.syncRuns)
}

/** Starts a sync. Its dialog reports a failure. */
export function useStartSync(what: SyncKind): StartSync {
  const [running, setRunning] = useState(false)
  const [failure, setFailure] = useState('')
  const out = useRef(false)
  const run = async () => {
    if (out.current) return
    out.current = true
    setRunning(true)
    setFailure('')
    try {
      showRun(await call(catalog.startSync, { body: { what } }))
    } catch (problem) {
      setFailure(failureText(problem))
    } finally {
      out.current = false
      setRunning(false)
    }
  }
  return { run, running, failure }
}

/** Milliseconds between polls: during a sync, and otherwise without the change feed. */
const WATCH = 1000
const IDLE = 15_000

export const SCREENS = {
  catalogue: 'productManager',
  collections: 'productType',
  tags: 'productTag'
} as const satisfies Record<SyncKind, PageId>

/** Calls to refetch after a sync or its undo. */
export const SHOWN = [catalog.products, catalog.collections, catalog.tags, catalog.priceDrift, inventory.rules]

export const isRunning = ({ state }: SyncRun): boolean => state === 'reading' || state === 'applying'

/** Can its plan still be applied? */
export const isReady = ({ state, ready_at }: SyncRun): boolean =>
  state === 'ready' && ready_at !== null && Date.now() - Date.parse(ready_at) < SYNC_PLAN_MS

/** The newest sync of each kind, no matter which operator started it. */
export function useSyncRuns() {
  const idle = usePollInterval(IDLE)
  return useQuery({
    ...read(catalog.syncRuns),
    refetchInterval: query => (query.state.data?.some(isRunning) ? WATCH : idle)
  })
}

export const stepOf = (t: T, run: SyncRun): string => t(run.state === 'ready' ? 'sync.ready' : `sync.step.${run.step}`)

/** '20 of 340'; '' if it is not counted or has ended. */
export function countsOf(t: T, run: SyncRun): string {
  const { done, total } = run
  if (!isRunning(run)) return ''
  if (total !== null) return t('sync.ofTotal', figures({ done, total }))
  return done > 0 ? figures({ done }).done : ''
}

export function SyncProgress({ run, label, className }: { run: SyncRun; label: string; className?: string }) {
  const { done, total } = run
  if (!total || !isRunning(run)) return null
  return (
    <Progress
      className={className}
      value={Math.floor((done / total) * 100)}
      color="lagoon"
      aria-label={label}
      size="sm"
      animated
    />
  )
}

/**
 * Cancels a sync, if the role may start one.
 * @param words the button's text, by default 'Cancel'
 * @param label names the sync if the text does not
 */
export function CancelSync({
  run,
  words,
  label,
  onDone
}: {
  run: SyncRun
  words?: string
  label?: string
  onDone?: () => void
}) {
  const t = useT()
  const { mayCall } = useMay()
  const cancel = useCommand(catalog.cancelSync, { invalidate: [catalog.syncRuns] })
  if (!mayCall(catalog.cancelSync)) return null
  return (
    <WorkButton
      size={label ? 'compact-sm' : 'sm'}
      variant="default"
      working={cancel.running}
      aria-label={label}
      onClick={() => void cancel.run({ params: { id: run.id } }).then(isDone => isDone && onDone?.())}
    >
      {words ?? t('run.cancel')}
    </WorkButton>
  )
}
