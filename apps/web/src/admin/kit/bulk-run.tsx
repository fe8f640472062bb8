import { Button, NativeSelect, Progress } from '@mantine/core'
import type { BulkRow, BulkRun } from '@netlet/contract'
import { RUN_PERMISSIONS } from '@netlet/contract/permissions'
import { useQuery } from '@tanstack/react-query'
import { useQueryStates } from 'nuqs'
import { useEffect, useRef, useState } from 'react'
import { ApiError, type Endpoint } from '../../api/client.ts'
import { read, refresh } from '../../api/query.ts'
import { bulk } from '../../api/routes.ts'
import { useMay } from '../../api/session.ts'
import en from '../../i18n/admin.en.json'
import { type Key, useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { ErrorState } from '../../kit/states.tsx'
import { UnavailableHint } from '../../kit/unavailable-hint.tsx'
import classes from './bulk-run.module.css'
import { RESULTS } from './list-state.ts'
import type { T } from './resource.ts'
import { useCommand } from './use-command.ts'
import { figures, WorkButton } from './words.tsx'

/** Milliseconds between polls of an active run. */
const WATCH = 1000
const ROWS = 10

type Props = {
  id: number
  /** Calls to refetch as the run changes rows. */
  invalidate: readonly Endpoint[]
  onClose: () => void
}

/** A bulk run's progress and the result of each row. The address holds it, so it survives a reload. */
export function BulkRunPanel({ id, invalidate, onClose }: Props) {
  const t = useT()
  const [, choose] = useQueryStates(RESULTS)
  const close = () => {
    // The next run starts without a filter.
    void choose(null)
    onClose()
  }
  const { data, error, refetch } = useQuery({
    ...read(bulk.run, { params: { id } }),
    staleTime: 0,
    refetchInterval: ({ state: { data: run } }) => (run && isRunning(run) ? WATCH : false)
  })
  const done = data?.done ?? 0
  const changed = useRef(invalidate)
  changed.current = invalidate
  useEffect(() => {
    if (done > 0) void refresh(...changed.current)
  }, [done])

  if (error && !data)
    return (
      <section className="card" aria-label={t('run.label')}>
        <ErrorState error={error} onRetry={() => void refetch()} />
        <div className="row unwrapped" style={{ paddingTop: '0.5rem' }}>
          <Button size="compact-sm" variant="default" onClick={close}>
            {t('list.close')}
          </Button>
        </div>
      </section>
    )
  return (
    <section className="card stack" style={{ gap: '0.7rem', padding: '0.9rem 1rem' }} aria-label={t('run.label')}>
      <div className="row" style={{ gap: '0.3rem 1rem' }}>
        <h2 className="size-lead">{data ? actionName(t, data.action) : t('run.label')}</h2>
        <span className={`strong size-label ${toneOf(data?.state)}`}>{data && t(`run.${data.state}`)}</span>
        <span className="dim num" role="status">
          {data && countsOf(t, data)}
        </span>
        <span className="row push" style={{ gap: '0.5rem' }}>
          {data && <CancelRun run={data} />}
          <Button size="compact-sm" variant="default" onClick={close}>
            {t('list.close')}
          </Button>
        </span>
      </div>
      <RunProgress run={data} label={t('run.progress')} />
      {data?.msg && <p className="bad">{reasonOf(data)}</p>}
      {data && data.total > 0 && <Results run={data} />}
    </section>
  )
}

const TONES = { good: ['done', 'succeeded'], bad: ['failed', 'refused'], dim: ['cancelled', 'pending'] }
/** The colour of a run's or a row's state. */
const toneOf = (state = ''): string => Object.entries(TONES).find(([, states]) => states.includes(state))?.[0] ?? 'info'

function Results({ run }: { run: BulkRun }) {
  const t = useT()
  const [{ results: state, results_page: page }, set] = useQueryStates(RESULTS, { history: 'push' })
  const setPage = (next: number) => void set({ results_page: next })
  const { data, error, refetch } = useQuery({
    ...read(bulk.rows, {
      params: { id: run.id },
      query: { limit: ROWS, offset: (Math.max(1, page) - 1) * ROWS, ...(state ? { state } : {}) }
    }),
    staleTime: 0,
    placeholderData: previous => previous,
    refetchInterval: isRunning(run) ? WATCH : false
  })
  // Also once at the end, when polling stops.
  useEffect(() => void refresh(bulk.rows), [run.done, run.state])
  const total = data?.total ?? 0
  // Stay open once opened: returning to the first page without a filter must not fold it.
  const [open, setOpen] = useState(state !== null || page > 1)
  if (!open && (run.refused > 0 || error !== null)) setOpen(true)
  return (
    <details className={classes.results} open={open || undefined}>
      <summary>{t('run.results')}</summary>
      <NativeSelect
        style={{ maxWidth: '12rem' }}
        size="xs"
        aria-label={t('run.filter')}
        value={state ?? ''}
        data={[
          { value: '', label: t('run.all') },
          { value: 'refused', label: t('run.row.refused') },
          { value: 'succeeded', label: t('run.row.succeeded') },
          { value: 'pending', label: t('run.row.pending') }
        ]}
        onChange={event => {
          const next = RESULTS.results.parse(event.currentTarget.value)
          void set({ results: next, results_page: null })
        }}
      />
      {error && <ErrorState error={error} onRetry={() => void refetch()} />}
      <ul className={`size-body ${classes.resultList}`} style={{ marginTop: '0.5rem' }} aria-label={t('run.results')}>
        {data?.data.map(row => (
          <li key={row.id}>
            <span className="mono">{row.label}</span>
            <span className={`strong size-label ${toneOf(row.state)}`}>{t(`run.row.${row.state}`)}</span>
            {row.state === 'refused' && <span>{reasonOf(row)}</span>}
          </li>
        ))}
      </ul>
      {total > ROWS && (
        <div className="row unwrapped" style={{ paddingTop: '0.5rem' }}>
          <UnavailableHint why={page <= 1 ? t('list.isFirst') : undefined}>
            <Button size="compact-sm" variant="default" onClick={() => setPage(page - 1)}>
              {t('list.previous')}
            </Button>
          </UnavailableHint>
          <span className="num">{t('list.page', { page })}</span>
          <UnavailableHint why={page * ROWS >= total ? t('list.isLast') : undefined}>
            <Button size="compact-sm" variant="default" onClick={() => setPage(page + 1)}>
              {t('list.next')}
            </Button>
          </UnavailableHint>
        </div>
      )}
    </details>
  )
}

/** The words that the refusal of a single call has. */
const reasonOf = ({ reason, params, msg }: Pick<BulkRow, 'reason' | 'params' | 'msg'>): string =>
  failureText(new ApiError('refused', msg ?? '', 409, 409, { reason, params }))

export const isRunning = ({ state }: BulkRun): boolean => state === 'queued' || state === 'running'

/** A newer server may send an action that has no word here. */
export const actionName = (t: T, action: string): string =>
  `bulk.${action}` in en ? t(`bulk.${action}` as Key) : '未知操作类型'

/** '5 of 1,200 done, 1 refused'. */
export const countsOf = (t: T, { done, total, refused }: BulkRun): string =>
  t('run.counts', figures({ done, total, refused }))

export function RunProgress({
  run,
  label,
  className
}: {
  run: BulkRun | undefined
  label: string
  className?: string
}) {
  const { done, total, refused } = run ?? { done: 0, total: 0, refused: 0 }
  return (
    <Progress
      className={className}
      value={total ? Math.floor((done / total) * 100) : 0}
      color={refused ? 'yellow.8' : 'lagoon'}
      aria-label={label}
      size="sm"
      animated={run !== undefined && isRunning(run)}
    />
  )
}

/** Cancels an active run, if the role may start such runs. @param label names the run if the button's words do not */
export function CancelRun({ run, label }: { run: BulkRun; label?: string }) {
  const t = useT()
  const { may } = useMay()
  const cancel = useCommand(bulk.cancel, { invalidate: [bulk.runs, bulk.run] })
  if (!isRunning(run) || !may(RUN_PERMISSIONS[run.action])) return null
  return (
    <WorkButton
      size="compact-sm"
      variant="default"
      working={cancel.running}
      aria-label={label}
      onClick={() => void cancel.run({ params: { id: run.id } })}
    >
      {t('run.cancel')}
    </WorkButton>
  )
}
