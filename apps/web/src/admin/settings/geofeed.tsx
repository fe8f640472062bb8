import '../../kit/styles/tables.ts'
import type { GeofeedChange, GeofeedProposal as Proposal } from '@netlet/contract'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMay } from '../../api/session.ts'
import { read } from '../../api/query.ts'
import { fleet, settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { ErrorState } from '../../kit/states.tsx'
import { StateBadge, type Tone } from '../../kit/state-badge.tsx'
import { type Column, DataTable, figures } from '../kit/index.ts'
import { isTaken, take } from './geofeed-lines.ts'
import { Places } from './places.tsx'
import classes from './settings.module.css'

type Props = {
  text: string
  onChange: (text: string) => void
}

const TONES: Record<GeofeedChange['kind'], Tone> = { added: 'good', changed: 'wait', removed: 'bad' }

/** Proposes geofeed lines from the servers' ranges and places. Each change, or all, can be copied into the editor. */
export function GeofeedProposal({ text, onChange }: Props) {
  const t = useT()
  const { mayCall } = useMay()
  const { data, error, refetch } = useQuery(read(fleet.geofeedProposal))
  // Only roles that may save have the editor.
  const mayTake = mayCall(settings.saveConfig)
  const columns: Column<GeofeedChange>[] = [
    {
      key: 'kind',
      title: t('geofeed.kind'),
      render: ({ kind }) => <StateBadge tone={TONES[kind]}>{t(`geofeed.kind.${kind}`)}</StateBadge>
    },
    {
      key: 'prefix',
      title: t('geofeed.prefix'),
      lead: true,
      render: ({ prefix }) => <span className="mono">{prefix}</span>
    },
    {
      key: 'saved',
      title: t('geofeed.saved'),
      wide: true,
      render: ({ saved }) =>
        saved === null ? (
          '–'
        ) : (
          <del className="mono breaks" style={{ textDecoration: 'none' }}>
            {saved}
          </del>
        )
    },
    {
      key: 'proposed',
      title: t('geofeed.proposed'),
      wide: true,
      render: ({ proposed }) =>
        proposed === null ? (
          '–'
        ) : (
          <ins className="mono breaks" style={{ textDecoration: 'none' }}>
            {proposed}
          </ins>
        )
    },
    { key: 'server', title: t('geofeed.server'), wide: true, render: ({ server }) => server ?? '–' },
    {
      key: 'take',
      title: t('geofeed.take'),
      hidden: true,
      bare: true,
      render: change =>
        isTaken(text, change) ? (
          <span className="dim">{t('geofeed.taken')}</span>
        ) : (
          mayTake && (
            <Button
              size="compact-sm"
              variant="default"
              aria-label={t('geofeed.takeOne', { prefix: change.prefix })}
              onClick={() => onChange(take(text, change))}
            >
              {t('geofeed.take')}
            </Button>
          )
        )
    }
  ]
  return (
    <section className={`card stack ${classes.proposal}`} aria-labelledby="geofeed-proposal">
      <h3 id="geofeed-proposal">{t('geofeed.title')}</h3>
      <p className="dim">{t('geofeed.lead')}</p>
      {error && !data && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Skeleton height={200} />}
      {data && (
        <>
          <div className="row">
            <span>
              {t('geofeed.counts', figures({ changes: data.changes.length, same: data.same, kept: data.kept }))}
            </span>
            {mayTake && data.changes.some(change => !isTaken(text, change)) && (
              <Button size="sm" onClick={() => onChange(data.changes.reduce(take, text))}>
                {t('geofeed.takeAll')}
              </Button>
            )}
          </div>
          <DataTable
            label={t('geofeed.title')}
            columns={columns}
            rows={data.changes}
            rowKey={({ prefix }) => prefix}
            pending={false}
            empty={{ title: t(saysNothing(data) ? 'geofeed.noPlaces' : 'geofeed.nothing'), compact: true }}
          />
          <Places key={JSON.stringify(data.servers)} servers={data.servers} />
        </>
      )}
    </section>
  )
}

/** There is nothing to compare, because no server has a place yet. */
const saysNothing = ({ same, changes }: Proposal): boolean => same === 0 && changes.length === 0
