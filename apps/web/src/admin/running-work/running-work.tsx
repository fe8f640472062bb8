import type { BulkRun } from '@netlet/contract'
import { type PageId, pageAt } from '@netlet/contract/pages'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from 'react-router'
import { usePollInterval } from '../../api/feed-connected.ts'
import { read } from '../../api/query.ts'
import { bulk, fleet } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { actionName, CancelRun, countsOf, isRunning, RunProgress } from '../kit/index.ts'
import { RunningInstalls } from './running-installs.tsx'
import { RunningSyncs } from './running-syncs.tsx'
import classes from './running-work.module.css'
import { useMay } from '../../api/session.ts'
import {
  UpgradeButtons,
  UpgradeProgress,
  countsOfUpgrade,
  isOpen,
  useNewestUpgrade
} from '../servers/upgrade/panel.tsx'

const PLACE = pageAt('servers')

/** The upgrade that runs or awaits a decision, on every screen except its own. */
function RunningUpgrade() {
  return useMay().mayCall(fleet.upgrades) ? <Running /> : null
}

function Running() {
  const t = useT()
  const { pathname } = useLocation()
  const upgrade = useNewestUpgrade()
  if (!upgrade || !isOpen(upgrade) || pathname === PLACE) return null
  return (
    <section className={`stack ${classes.work}`} style={{ gap: '0.5rem' }} aria-label={t('upgrade.label')}>
      <div className="row" style={{ gap: '0.35rem 0.9rem' }}>
        <strong>{t('upgrade.to', { version: upgrade.version })}</strong>
        <span className="dim">{t(`upgrade.is.${upgrade.state}`)}</span>
        <span className="dim num" role="status">
          {countsOfUpgrade(t, upgrade)}
        </span>
        <span className="dim">{upgrade.username}</span>
        <UpgradeProgress upgrade={upgrade} className={classes.bar} />
        <span className="row inline push" style={{ gap: '0.4rem' }}>
          <Button size="compact-sm" variant="default" component={Link} to={PLACE}>
            {t('run.show')}
          </Button>
          <UpgradeButtons upgrade={upgrade} />
        </span>
      </div>
    </section>
  )
}

/** Milliseconds between polls: while something runs, and otherwise without the change feed. */
const WATCH = 1500
const IDLE = 15_000
/** The number of newest runs to read. Usually one runs at a time, so active runs are among them. */
const NEWEST = 20

/** All operators' running work with progress and Cancel, on every screen and in every tab. */
export default function RunningWork() {
  const t = useT()
  const { search } = useLocation()
  const idle = usePollInterval(IDLE)
  const { data } = useQuery({
    ...read(bulk.runs, { query: { limit: NEWEST } }),
    refetchInterval: query => (query.state.data?.data.some(isRunning) ? WATCH : idle)
  })
  // The screen already shows this one.
  const followed = Number(new URLSearchParams(search).get('run'))
  const running = data?.data.filter(run => isRunning(run) && run.id !== followed) ?? []
  return (
    <>
      <RunningUpgrade />
      <RunningInstalls />
      <RunningSyncs />
      {running.length > 0 && (
        <section className={`stack ${classes.work}`} style={{ gap: '0.5rem' }} aria-label={t('run.now')}>
          {running.map(run => (
            <Run key={run.id} run={run} />
          ))}
        </section>
      )}
    </>
  )
}

/** The screen that shows a run row by row. */
const placeOf = ({ id, action }: BulkRun) =>
  `${pageAt(PLACES[action.slice(0, action.indexOf('.'))] ?? 'Orders')}?run=${id}`

const PLACES: Record<string, PageId> = { coupon: 'promocode', gift_card: 'giftcard', level_code: 'leveldiscount' }

function Run({ run }: { run: BulkRun }) {
  const t = useT()
  const name = actionName(t, run.action)
  return (
    <div className="row" style={{ gap: '0.35rem 0.9rem' }}>
      <strong>{name}</strong>
      <span className="dim num" role="status">
        {countsOf(t, run)}
      </span>
      <span className="dim">{run.username}</span>
      <RunProgress className={classes.bar} run={run} label={`${t('run.progress')}: ${name}`} />
      <span className="row inline push" style={{ gap: '0.4rem' }}>
        <Button size="compact-sm" variant="default" component={Link} to={placeOf(run)}>
          {t('run.show')}
        </Button>
        <CancelRun run={run} label={`${t('run.cancel')}: ${name}`} />
      </span>
    </div>
  )
}
