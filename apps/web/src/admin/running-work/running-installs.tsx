import type { Server } from '@netlet/contract'
import { pagePaths } from '@netlet/contract/pages'
import { Button, Progress } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from 'react-router'
import { usePollInterval } from '../../api/feed-connected.ts'
import { useMay } from '../../api/session.ts'
import { read } from '../../api/query.ts'
import { fleet } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { CancelInstall, INSTALL_STEPS } from '../servers/steps.tsx'
import classes from './running-work.module.css'

/** Milliseconds between polls: during an installation, and otherwise without the change feed. */
const WATCH = 1500
const IDLE = 15_000
/** The number of installations shown. More at once belong to an upgrade, which has its own line. */
const MOST = 5

/** All operators' running installations, on every screen except the one that shows their steps. */
export function RunningInstalls() {
  return useMay().mayCall(fleet.servers) ? <Running /> : null
}

const isRunning = ({ provisioning }: Server) => provisioning?.status === 'running' && !provisioning.as_applied

function Running() {
  const t = useT()
  const { pathname, search } = useLocation()
  const idle = usePollInterval(IDLE)
  const { data } = useQuery({
    ...read(fleet.servers, { query: { state: 'installing', limit: MOST } }),
    refetchInterval: query => (query.state.data?.data.some(isRunning) ? WATCH : idle)
  })
  // The list's drawer and Manage show the steps.
  const params = new URLSearchParams(search)
  const shown = pathname === pagePaths.servers ? [params.get('open'), params.get('detail')] : []
  const running = data?.data.filter(server => isRunning(server) && !shown.includes(String(server.id))) ?? []
  if (running.length === 0) return null
  return (
    <section className={`stack ${classes.work}`} style={{ gap: '0.5rem' }} aria-label={t('servers.installing')}>
      {running.map(server => (
        <Install key={server.id} server={server} />
      ))}
    </section>
  )
}

function Install({ server: { id, name, provisioning }, server }: { server: Server }) {
  const t = useT()
  const step = provisioning?.step ?? 'waiting'
  const reached = INSTALL_STEPS.findIndex(one => one === step) + 1
  return (
    <div className="row" style={{ gap: '0.35rem 0.9rem' }}>
      <strong>{t('servers.installingOf', { name })}</strong>
      <span className="dim" role="status">
        {t(provisioning?.cancelling ? 'servers.progress.cancelling' : `servers.step.${step}`)}
      </span>
      <Progress
        className={classes.bar}
        value={Math.floor((reached / INSTALL_STEPS.length) * 100)}
        color="lagoon"
        aria-label={t('servers.installingOf', { name })}
        size="sm"
      />
      <span className="row inline push" style={{ gap: '0.4rem' }}>
        <Button size="compact-sm" variant="default" component={Link} to={`${pagePaths.servers}?open=${id}`}>
          {t('run.show')}
        </Button>
        {!provisioning?.cancelling && <CancelInstall server={server} size="compact-sm" />}
      </span>
    </div>
  )
}
