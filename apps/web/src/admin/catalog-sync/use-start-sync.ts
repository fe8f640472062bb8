import type { SyncKind, SyncRun } from '@netlet/contract'
import { useRef, useState } from 'react'
import { call } from '../../api/client.ts'
import { keyOf, queryClient, refresh } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { failureText } from '../../i18n/failures.ts'

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
