import { pageAt } from '@netlet/contract/pages'
import { Button, Skeleton } from '@mantine/core'
import { usePrefetchQuery, useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { rewards } from '../../api/routes.ts'
import { useSession } from '../../api/session.ts'
import { useT } from '../../i18n/account.ts'
import { useLevelNames } from '../../i18n/names.ts'
import { DataTable } from '../../kit/data-table.tsx'
import { numberText } from '../../kit/money.ts'
import { ErrorState } from '../../kit/states.tsx'
import { usePointReason } from '../../kit/point-reason.ts'
import { Day } from '../../kit/time.tsx'
import { useAddressPaging } from '../../kit/use-paging.ts'
import { ExchangeList } from './exchange-list.tsx'
import classes from './rewards.module.css'

type Standing = {
  level: number
  /** Level points to the next level; 0 at the highest. */
  missing: number
}

/** The level that the points reach: level 1 at the first threshold, 5 at the fifth. Sorts the thresholds. */
export function standingOf(points: number, thresholds: readonly number[]): Standing {
  const sorted = thresholds.toSorted((one, other) => one - other).slice(0, 5)
  const level = sorted.filter(threshold => points >= threshold).length
  return { level, missing: (sorted[level] ?? points) - points }
}

/** The filled part of each level's section, from 0 to 1. */
export function fillOf(points: number, thresholds: readonly number[]): number[] {
  const sorted = thresholds.toSorted((one, other) => one - other).slice(0, 5)
  return sorted.map((threshold, index) => {
    const from = sorted[index - 1] ?? 0
    if (threshold <= from) return points >= threshold ? 1 : 0
    return Math.min(1, Math.max(0, (points - from) / (threshold - from)))
  })
}

export default function RewardsPage() {
  const t = useT()
  const activity = useActivity()
  // Prefetched, because it renders later.
  usePrefetchQuery(read(rewards.exchangeList))
  return (
    <div className="stack" style={{ gap: '1.75rem' }}>
      <Level />
      <section className="stack" aria-label={t('points.title')}>
        <h2 className="size-title">{t('points.title')}</h2>
        <Activity {...activity} />
      </section>
      {/* Wait for the rows above, whose number is unknown, or this part would move. */}
      {!activity.isPending && (
        <section className="stack" aria-label={t('exchange.title')}>
          <h2 className="size-title">{t('exchange.title')}</h2>
          <ExchangeList />
        </section>
      )}
    </div>
  )
}

function Level() {
  const t = useT()
  const { fullNameOf } = useLevelNames()
  const { user } = useSession()
  const { data, isPending, error, refetch } = useQuery(read(rewards.levelCodes, { query: { limit: 10 } }))
  if (error && !data)
    return (
      <div className="card">
        <ErrorState error={error} onRetry={() => void refetch()} />
      </div>
    )
  if (isPending || !user) return <Skeleton className={classes.levelPlace} radius="md" />
  const thresholds = data.data.map(code => code.point).toSorted((one, other) => one - other)
  const { level, missing } = standingOf(user.level_points, thresholds)
  return (
    <section
      className={`card stack ${classes.level}`}
      style={{ gap: '1.25rem', padding: '1.4rem' }}
      aria-label={t('level.title')}
    >
      <div className="row bottom between" style={{ gap: '0.5rem 2rem' }}>
        <div>
          <p className="dim">{t('level.yours')}</p>
          <h2 className="size-figure">{fullNameOf(level)}</h2>
        </div>
        <p className="row baseline" style={{ gap: '0.5rem' }}>
          <strong className="num size-figure">{numberText(user.level_points)}</strong>
          <span className="dim">{t('level.points')}</span>
        </p>
      </div>
      <ol className={classes.bar} aria-label={t('level.progress')}>
        {fillOf(user.level_points, thresholds).map((filled, index) => (
          <li key={thresholds[index]} data-reached={filled === 1}>
            <div className={classes.track}>
              <div style={{ width: `${filled * 100}%` }} />
            </div>
            <span>{fullNameOf(index + 1)}</span>
            <span className="dim num">{numberText(thresholds[index] ?? 0)}</span>
          </li>
        ))}
      </ol>
      <p>
        {level >= 5
          ? t('level.highest')
          : t('level.missing', { points: numberText(missing), name: fullNameOf(level + 1) })}
      </p>
    </section>
  )
}

function useActivity() {
  const paging = useAddressPaging(4)
  const query = useQuery({
    ...read(rewards.pointRecords, { query: { limit: paging.limit, offset: paging.offset } }),
    placeholderData: previous => previous
  })
  return { ...query, paging }
}

function Activity({ paging, data, isPending, isPlaceholderData, error, refetch }: ReturnType<typeof useActivity>) {
  const t = useT()
  const reasonOf = usePointReason()
  return (
    <DataTable
      label={t('points.title')}
      columns={[
        { key: 'created', title: t('points.date'), render: record => <Day at={record.created_at} /> },
        { key: 'reason', title: t('points.reason'), lead: true, render: reasonOf },
        {
          key: 'point',
          title: t('points.point'),
          align: 'end',
          render: record => (
            <span>
              {record.point > 0 ? '+' : ''}
              {numberText(record.point)} <span className="dim">{t(`points.${record.kind}`)}</span>
              {record.pending_until && (
                <span className="dim">
                  {' '}
                  <Day at={record.pending_until}>{day => t('points.pending', { day })}</Day>
                </span>
              )}
            </span>
          )
        }
      ]}
      rows={data?.data}
      rowKey={record => record.id}
      pending={isPending}
      stale={isPlaceholderData}
      error={error}
      onRetry={() => void refetch()}
      empty={{
        title: t('points.none'),
        body: t('points.noneHint'),
        action: (
          <Button component={Link} to={pageAt('invite')} variant="default">
            {t('points.invite')}
          </Button>
        )
      }}
      paging={paging}
      total={data?.total}
    />
  )
}
