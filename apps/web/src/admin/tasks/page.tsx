import { Button, Tabs } from '@mantine/core'
import type { QueueState, Schedule } from '@netlet/contract'
import { IconArrowLeft, IconArrowRight, IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useCallback, useRef, useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { read } from '../../api/query.ts'
import { settings } from '../../api/routes.ts'
import en from '../../i18n/admin.en.json'
import { type Key, useT } from '../../i18n/admin.ts'
import { none } from '../../kit/none.tsx'
import { numberText } from '../../kit/money.ts'
import { StateBadge } from '../../kit/state-badge.tsx'
import { Ago } from '../../kit/time.tsx'
import { type Column, DataTable, TabBar, UnavailableHint, useCommand, WorkButton } from '../kit/index.ts'
import { DeadLetters, nameOf } from './dead-letters.tsx'
import classes from './tasks.module.css'
import '../kit/styles.ts'
import '../../kit/styles/forms.ts'

/** Queues change constantly, and the change feed does not report them. */
const EVERY = 5000

const useTasks = () => useQuery({ ...read(settings.tasks), refetchInterval: EVERY })

/** Scheduled jobs: next run, last result, and a button to run now. */
function Schedules() {
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
function Queues() {
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

/** The job queue's own monitor in a frame. It is on our origin, so we can navigate it. */
function Monitor() {
  const t = useT()
  const frame = useRef<HTMLIFrameElement>(null)
  const [can, setCan] = useState({ back: false, forward: false })
  const inFrame = (act: (view: Window) => void) => {
    const view = frame.current?.contentWindow
    if (view) act(view)
  }
  // `navigation` covers only the frame; the frame's `history` is the whole tab's.
  const look = useCallback(() => {
    const navigation = frame.current?.contentWindow?.navigation
    if (navigation) setCan({ back: navigation.canGoBack, forward: navigation.canGoForward })
  }, [])
  const follow = () => {
    look()
    inFrame(view => view.navigation?.addEventListener('currententrychange', look))
  }
  return (
    <div className="stack">
      <div className={classes.tools}>
        <UnavailableHint why={can.back ? undefined : t('tasks.noBack')}>
          <Button
            variant="default"
            leftSection={<IconArrowLeft size={16} aria-hidden />}
            onClick={() => inFrame(view => view.navigation.back())}
          >
            {t('tasks.back')}
          </Button>
        </UnavailableHint>
        <UnavailableHint why={can.forward ? undefined : t('tasks.noForward')}>
          <Button
            variant="default"
            leftSection={<IconArrowRight size={16} aria-hidden />}
            onClick={() => inFrame(view => view.navigation.forward())}
          >
            {t('tasks.forward')}
          </Button>
        </UnavailableHint>
        <Button
          variant="default"
          leftSection={<IconRefresh size={16} aria-hidden />}
          onClick={() => inFrame(view => view.location.reload())}
        >
          {t('tasks.refresh')}
        </Button>
        <span className="dim">{t('tasks.monitorHint')}</span>
      </div>
      <iframe
        ref={frame}
        className={classes.frame}
        src="/task-monitor"
        title={t('tasks.tab.monitor')}
        onLoad={follow}
      />
    </div>
  )
}

const TABS = { schedules: Schedules, queues: Queues, dead: DeadLetters, monitor: Monitor } as const
type TabId = keyof typeof TABS

/** Background work: schedules, queues, failures and the job queue's own monitor. */
export default function TasksPage() {
  const t = useT()
  const [params, setParams] = useSearchParams()
  const asked = params.get('tab') ?? ''
  const tab: TabId = asked in TABS ? (asked as TabId) : 'schedules'
  const Shown = TABS[tab]
  return (
    <Tabs value={tab} onChange={id => id && setParams({ tab: id })} keepMounted={false}>
      <TabBar value={tab}>
        {(Object.keys(TABS) as TabId[]).map(id => (
          <Tabs.Tab key={id} value={id}>
            {t(`tasks.tab.${id}`)}
          </Tabs.Tab>
        ))}
      </TabBar>
      <Tabs.Panel value={tab} pt="md">
        <Shown />
      </Tabs.Panel>
    </Tabs>
  )
}
