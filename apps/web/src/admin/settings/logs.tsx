import '@mantine/core/styles/FloatingIndicator.layer.css'
import '@mantine/core/styles/SegmentedControl.layer.css'
import { Button, NativeSelect, SegmentedControl, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { keyOf } from '../../api/query.ts'
import { settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { ErrorState } from '../../kit/states.tsx'
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react'
import type { LogLevel, LogSource, LogTail } from '@netlet/contract'
import { useEffect, useRef, useState } from 'react'
import { call } from '../../api/client.ts'
import { numberText } from '../../kit/money.ts'
import { useAddress } from '../../kit/use-address.ts'
import classes from './settings.module.css'

const POLL_MS = 2000
/** The number of lines the server keeps per log. */
const KEPT_LINES = 500

const SEVERITY: Record<LogLevel, number> = { INFO: 0, WARN: 1, ERROR: 2, FATAL: 3 }
const SOURCES: readonly LogSource[] = ['server', 'task']

/** The latest log lines of the web server and the workers. Updates until paused. */
export function Logs() {
  const t = useT()
  const { query: params, change } = useAddress()
  const source: LogSource = params.get('log') === 'task' ? 'task' : 'server'
  const level =
    params.get('level') === 'WARN' || params.get('level') === 'ERROR' ? (params.get('level') as LogLevel) : null
  const [paused, setPaused] = useState(false)
  const search = params.get('find') ?? ''
  // A choice adds a history entry, typing does not.
  const choose = (name: string, value: string) => change({ [name]: value || null }, { push: name !== 'find' })
  const { lines, error, refetch } = useTail(source, paused)
  const term = search.trim().toLowerCase()
  const shown = lines?.filter(
    line => SEVERITY[line.level] >= SEVERITY[level ?? 'INFO'] && (!term || line.line.toLowerCase().includes(term))
  )
  return (
    <section className="stack" aria-label={t(`webSettings.logs.${source}`)}>
      <div className="row" style={{ gap: '0.6rem' }}>
        <SegmentedControl
          aria-label={t('webSettings.logs.source')}
          value={source}
          data={SOURCES.map(value => ({ value, label: t(`webSettings.logs.${value}`) }))}
          onChange={value => choose('log', value)}
        />
        <NativeSelect
          aria-label={t('webSettings.logs.level')}
          value={level ?? ''}
          data={[
            { value: '', label: t('webSettings.logs.any') },
            { value: 'WARN', label: t('webSettings.logs.from.WARN') },
            { value: 'ERROR', label: t('webSettings.logs.from.ERROR') }
          ]}
          onChange={event => choose('level', event.currentTarget.value)}
        />
        <TextInput
          type="search"
          aria-label={t('webSettings.logs.search')}
          placeholder={t('webSettings.logs.search')}
          value={search}
          onChange={event => choose('find', event.currentTarget.value)}
        />
        <Button
          variant="default"
          leftSection={paused ? <IconPlayerPlay size={16} aria-hidden /> : <IconPlayerPause size={16} aria-hidden />}
          onClick={() => setPaused(!paused)}
        >
          {t(paused ? 'webSettings.logs.resume' : 'webSettings.logs.pause')}
        </Button>
        {shown && <span className="dim">{t('webSettings.logs.count', { count: numberText(shown.length) })}</span>}
      </div>
      {error && !lines ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Lines
          lines={shown ?? []}
          empty={lines && t(lines.length === 0 ? 'webSettings.logs.none' : 'webSettings.logs.noMatch')}
        />
      )}
    </section>
  )
}

type Line = LogTail['lines'][number]

/** All known lines of a log. Each poll requests only new ones. */
function useTail(source: LogSource, paused: boolean) {
  const known = useRef<{ source: LogSource; lines: Line[] }>({ source, lines: [] })
  const { data, error, refetch } = useQuery({
    queryKey: [...keyOf(settings.logTail), source],
    queryFn: async ({ signal }) => {
      const before = known.current.source === source ? known.current.lines : []
      const after = before.at(-1)?.id ?? 0
      const { lines } = await call(settings.logTail, { query: { source, after_id: after } }, { signal })
      known.current = { source, lines: [...before, ...lines].slice(-KEPT_LINES) }
      return known.current
    },
    refetchInterval: paused ? false : POLL_MS,
    refetchOnWindowFocus: !paused,
    staleTime: 0,
    gcTime: 0
  })
  return { lines: data?.source === source ? data.lines : undefined, error, refetch }
}

/** Scrolls with new lines unless the reader has scrolled up. */
function Lines({ lines, empty }: { lines: readonly Line[]; empty: string | undefined }) {
  const t = useT()
  const box = useRef<HTMLDivElement>(null)
  const follows = useRef(true)
  const last = lines.at(-1)?.id
  useEffect(() => {
    if (follows.current && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [last])
  return (
    <div
      ref={box}
      className={`card mono size-label ${classes.log}`}
      role="log"
      aria-live="off"
      aria-label={t('webSettings.tab.logs')}
      // Focusable for scrolling by keyboard.
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        follows.current = scrollHeight - scrollTop - clientHeight < 40
      }}
    >
      {lines.length === 0 && <p className="dim">{empty}</p>}
      {lines.map(line => (
        <div key={line.id} data-level={line.level}>
          {line.line}
        </div>
      ))}
    </div>
  )
}
