import { useQuery } from '@tanstack/react-query'
import type { QueueState, Schedule } from '@netlet/contract'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { settings } from '../../api/routes.ts'
import en from '../../i18n/admin.en.json'
import { useT, type Key } from '../../i18n/admin.ts'
import { numberText } from '../../kit/number.ts'
import { StateBadge } from '../../kit/state-badge.tsx'
import { Ago } from '../../kit/time.tsx'
import { type Column, DataTable, useCommand, WorkButton } from '../kit/index.ts'
import { nameOf } from './name.ts'
import classes from './tasks.module.css'
import { none } from '../../kit/none.tsx'

/** Queues change constantly, and the change feed does not report them. */
const EVERY = 5000

const useTasks = () => useQuery({ ...read(settings.tasks), refetchInterval: EVERY })

/** Scheduled jobs: next run, last result, and a button to run now. */
export function Schedules() {
  const t = useT()
  const { data, isPending, error, refetch } = useTasks()
  const columns: Column<Schedule>[] = [
    { key: 'queue', title: t('tasks.queue'), render: row => <Name of={row} />, lead: true },
    { key: 'cron', title: t('tasks.cron'), render: row => <span className={`mono ${classes.cron}`}>{row.cron}</span> },
    { key: 'next', title: t('tasks.next'), render: row => (row.next_run ? <Ago at={row.next_run} /> : none) },
    { key: 'last', title: t('tasks.last'), render: row => <Last of={row} /> },
    { key: 'run', title: t('tasks.run'), render: row => <RunNow of={row} />, bare: true }
  ]
  return (
    <DataTable
      label={t('tasks.tab.schedules')}
      columns={columns}
      rows={data?.schedules}
      rowKey={row => row.queue}
      pending={isPending}
      error={error}
      errorText={t('tasks.failed')}
      onRetry={() => void refetch()}
      empty={{ title: t('tasks.none') }}
    />
  )
}

const TONES = { none: 'off', running: 'busy', completed: 'good', failed: 'bad' } as const

function Last({ of: { last, asked } }: { of: Schedule }) {
  const t = useT()
  return (
    <div className="stack" style={{ gap: '0.15rem' }}>
      <span>
        <StateBadge tone={TONES[last.result]}>{t(`tasks.is.${last.result}`)}</StateBadge>{' '}
        {last.at && (
          <span className="dim">
            <Ago at={last.at} />
          </span>
        )}
      </span>
      {last.error && <span className="breaks bad size-table">{last.error}</span>}
      {asked && <span className="dim">{t('tasks.asked')}</span>}
    </div>
  )
}

function RunNow({ of: { queue } }: { of: Schedule }) {
  const t = useT()
  const run = useCommand(settings.runNow, { success: t('tasks.asked'), invalidate: [settings.tasks, settings.audit] })
  return (
    <WorkButton
      size="compact-sm"
      variant="default"
      working={run.running}
      aria-label={t('tasks.runOf', { queue: nameOf(t, queue) })}
      onClick={() => void run.run({ body: { queue } })}
    >
      {t('tasks.run')}
    </WorkButton>
  )
}

/** Each queue's backlog and throughput. */
export function Queues() {
  const t = useT()
  const { data, isPending, error, refetch } = useTasks()
  const columns: Column<QueueState>[] = [
    { key: 'queue', title: t('tasks.queue'), render: row => <Name of={row} />, lead: true },
    { key: 'waiting', title: t('tasks.waiting'), render: row => numberText(row.waiting), align: 'end' },
    { key: 'oldest', title: t('tasks.oldest'), render: row => (row.oldest ? <Ago at={row.oldest} /> : none) },
    { key: 'later', title: t('tasks.later'), render: row => numberText(row.later), align: 'end' },
    { key: 'active', title: t('tasks.active'), render: row => numberText(row.active), align: 'end' },
    { key: 'rate', title: t('tasks.rate'), render: row => numberText(row.finished), align: 'end' },
    { key: 'dead', title: t('tasks.deadCount'), render: row => <DeadCount of={row} />, align: 'end' }
  ]
  return (
    <DataTable
      label={t('tasks.tab.queues')}
      columns={columns}
      rows={data?.queues}
      rowKey={row => row.queue}
      pending={isPending}
      error={error}
      errorText={t('tasks.failed')}
      onRetry={() => void refetch()}
      empty={{ title: t('tasks.none') }}
    />
  )
}

function DeadCount({ of: { queue, dead } }: { of: QueueState }) {
  if (dead === 0) return '0'
  return <Link to={`?${new URLSearchParams({ tab: 'dead', queue }).toString()}`}>{numberText(dead)}</Link>
}

/** A queue and its purpose; the server's words if it is unknown. */
function Name({ of: { queue, purpose } }: { of: { queue: string; purpose: string } }) {
  const t = useT()
  const key = `tasks.purpose.${queue}`
  const name = nameOf(t, queue)
  return (
    <div className="stack" style={{ gap: '0.15rem' }}>
      <strong>{name}</strong>
      {name !== queue && <span className="dim mono">{queue}</span>}
      <span className="dim">{key in en ? t(key as Key) : purpose}</span>
    </div>
  )
}
