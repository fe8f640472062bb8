import type { SyncRun } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Button } from '@mantine/core'
import { Link, useLocation } from 'react-router'
import { useMay } from '../../api/session.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import {
  CancelSync,
  countsOf,
  isRunning,
  isReady,
  SCREENS,
  stepOf,
  SyncProgress,
  useSyncRuns
} from '../catalog-sync/sync-progress.tsx'
import classes from './running-work.module.css'

/** Syncs that run or await a decision, except where their dialog is open. */
export function RunningSyncs() {
  return useMay().mayCall(catalog.syncRuns) ? <Running /> : null
}

function Running() {
  const t = useT()
  const { pathname, search } = useLocation()
  const { mayCall } = useMay()
  const { data } = useSyncRuns()
  const isOpen = (run: SyncRun) =>
    pathname === pageAt(SCREENS[run.what]) && new URLSearchParams(search).get('sync') === 'true'
  const running =
    data?.filter(run => (isRunning(run) || (isReady(run) && mayCall(catalog.applySync))) && !isOpen(run)) ?? []
  if (running.length === 0) return null
  return (
    <section className={`stack ${classes.work}`} style={{ gap: '0.5rem' }} aria-label={t('sync.now')}>
      {running.map(run => (
        <Sync key={run.id} run={run} />
      ))}
    </section>
  )
}

function Sync({ run }: { run: SyncRun }) {
  const t = useT()
  const title = t(`sync.title.${run.what}`)
  return (
    <div className="row" style={{ gap: '0.35rem 0.9rem' }}>
      <strong>{title}</strong>
      <span className="dim" role="status">
        {stepOf(t, run)} <span className="num">{countsOf(t, run)}</span>
      </span>
      <span className="dim">{run.username}</span>
      <SyncProgress className={classes.bar} run={run} label={`${t('run.progress')}: ${title}`} />
      <span className="row inline push" style={{ gap: '0.4rem' }}>
        <Button size="compact-sm" variant="default" component={Link} to={`${pageAt(SCREENS[run.what])}?sync=true`}>
          {t('run.show')}
        </Button>
        <CancelSync run={run} label={`${t('run.cancel')}: ${title}`} />
      </span>
    </div>
  )
}
