import type { Upgrade, UpgradeServer } from '@netlet/contract'
import { Progress } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ApiError } from '../../../api/client.ts'
import { usePollInterval } from '../../../api/feed-connected.ts'
import { read, refresh } from '../../../api/query.ts'
import { fleet } from '../../../api/routes.ts'
import { useT } from '../../../i18n/admin.ts'
import { failureText } from '../../../i18n/failures.ts'
import { StateBadge } from '../../../kit/state-badge.tsx'
import { ErrorState } from '../../../kit/states.tsx'
import { Ago } from '../../../kit/time.tsx'
import { figures, May, useCommand, WorkButton, type T } from '../../kit/index.ts'
import classes from './upgrade.module.css'

/** Milliseconds between polls during an upgrade. */
const WATCH = 1500

const TONES = { running: 'busy', stopped: 'bad', ending: 'busy', done: 'good', ended: 'off' } as const
const ROW_TONES = { waiting: 'off', installing: 'busy', upgraded: 'good', failed: 'bad', left_out: 'wait' } as const

export const isOpen = ({ state }: Upgrade): boolean => state === 'running' || state === 'stopped' || state === 'ending'

/** The words that the refusal of a single call has. */
export const reasonText = ({ reason, params, msg }: Pick<UpgradeServer, 'reason' | 'params' | 'msg'>): string =>
  failureText(new ApiError('refused', msg ?? '', 409, 409, { reason, params }))

/** The newest upgrade. The shell and this page share the query. */
export function useNewestUpgrade(): Upgrade | undefined {
  const idle = usePollInterval(15_000)
  const { data } = useQuery({
    ...read(fleet.upgrades, { query: { limit: 1 } }),
    refetchInterval: query => (query.state.data?.data.some(isOpen) ? WATCH : idle)
  })
  return data?.data[0]
}

export const countsOfUpgrade = (t: T, { servers }: Upgrade): string => {
  const { waiting, installing, upgraded, failed } = servers
  return t('upgrade.counts', figures({ done: upgraded, total: waiting + installing + upgraded + failed, failed }))
}

export function UpgradeProgress({ upgrade, className }: { upgrade: Upgrade; className?: string | undefined }) {
  const t = useT()
  const { waiting, installing, upgraded, failed } = upgrade.servers
  const total = waiting + installing + upgraded + failed
  return (
    <Progress
      className={className}
      value={total ? Math.floor(((upgraded + failed) / total) * 100) : 0}
      color={failed ? 'yellow.8' : 'lagoon'}
      aria-label={t('upgrade.progress')}
      size="sm"
      animated={upgrade.state === 'running'}
    />
  )
}

/** Resumes a stopped upgrade, or ends it before the next server. */
export function UpgradeButtons({ upgrade }: { upgrade: Upgrade }) {
  const t = useT()
  const invalidate = [fleet.upgrades, fleet.upgradeServers]
  const go = useCommand(fleet.continueUpgrade, { invalidate })
  const end = useCommand(fleet.endUpgrade, { invalidate })
  const input = { params: { id: upgrade.id } }
  if (!isOpen(upgrade) || upgrade.state === 'ending') return null
  return (
    <May make={fleet.endUpgrade}>
      <span className="row inline push" style={{ gap: '0.4rem' }}>
        {upgrade.state === 'stopped' && (
          <WorkButton size="compact-sm" working={go.running} onClick={() => void go.run(input)}>
            {t('upgrade.continue')}
          </WorkButton>
        )}
        <WorkButton size="compact-sm" variant="default" working={end.running} onClick={() => void end.run(input)}>
          {t('upgrade.end')}
        </WorkButton>
      </span>
    </May>
  )
}

/** The progress of the current upgrade by server, or the result of the last. */
export function UpgradePanel() {
  const t = useT()
  const upgrade = useNewestUpgrade()
  if (!upgrade) return null
  const open = isOpen(upgrade)
  return (
    <section
      className="card stack panel"
      style={{ gap: '0.6rem', marginBottom: '1rem' }}
      aria-label={t('upgrade.label')}
    >
      <div className="row" style={{ gap: '0.35rem 0.9rem' }}>
        <h2 className="breaks size-lead">{t('upgrade.to', { version: upgrade.version })}</h2>
        <StateBadge tone={TONES[upgrade.state]}>{t(`upgrade.is.${upgrade.state}`)}</StateBadge>
        <span className="dim num" role="status">
          {countsOfUpgrade(t, upgrade)}
        </span>
        <span className="dim">
          {upgrade.username} · <Ago at={upgrade.ended_at ?? upgrade.created_at} />
        </span>
        <UpgradeButtons upgrade={upgrade} />
      </div>
      {open && <UpgradeProgress upgrade={upgrade} />}
      {upgrade.state === 'stopped' && (
        <p role="alert" className="breaks bad">
          {reasonText(upgrade)} {t('upgrade.stoppedHint')}
        </p>
      )}
      <details open={open || undefined}>
        <summary>{t('upgrade.servers')}</summary>
        <Rows upgrade={upgrade} />
      </details>
    </section>
  )
}

function Rows({ upgrade }: { upgrade: Upgrade }) {
  const t = useT()
  const { data, error, refetch } = useQuery(read(fleet.upgradeServers, { params: { id: upgrade.id } }))
  const { waiting, installing } = upgrade.servers
  // When the figures change, refetch their rows and the list below.
  useEffect(() => void refresh(fleet.upgradeServers, fleet.servers), [waiting, installing, upgrade.state])
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  return (
    <ul className={classes.rows} aria-label={t('upgrade.servers')}>
      {data?.map(row => (
        <li key={row.id} className="row baseline" style={{ gap: '0.2rem 0.7rem' }}>
          <strong>{row.name}</strong>
          <StateBadge tone={ROW_TONES[row.state]}>{t(`upgrade.server.${row.state}`)}</StateBadge>
          <span className="mono dim">{row.from_version ?? '–'}</span>
          {row.reason && <span className={row.state === 'failed' ? 'breaks bad' : 'dim'}>{reasonText(row)}</span>}
        </li>
      ))}
    </ul>
  )
}
