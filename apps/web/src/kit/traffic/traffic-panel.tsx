import type { OrderTraffic, Traffic, TrafficStep } from '@netlet/contract'
import { Button, NativeSelect, Skeleton } from '@mantine/core'
import { type QueryKey, useQuery, type UseQueryOptions } from '@tanstack/react-query'
import { lazy, Suspense, useId, useRef } from 'react'
import { type Key, useT } from '../../i18n/account.ts'
import { useLanguage } from '../../i18n/language.ts'
import { bytesText, numberText } from '../money.ts'
import { passFocus } from '../focus-return.ts'
import { EmptyState, ErrorState } from '../states.tsx'
import { useAddress } from '../use-address.ts'
import classes from './traffic.module.css'
import { gridStyle } from '../grid-style.ts'
import { AGENT_ERRORS, AGENT_REFUSALS } from '@netlet/contract/agent-codes'

// The chart library is larger than the screens that use it.
const TrafficChart = lazy(() => import('./traffic-chart.tsx'))

export type TrafficRange = { by: TrafficStep; last: number }

const RANGES = {
  '48h': { by: 'hour', last: 48 },
  '7d': { by: 'hour', last: 168 },
  '30d': { by: 'day', last: 30 },
  '1y': { by: 'day', last: 365 }
} as const satisfies Record<string, TrafficRange>
type RangeName = keyof typeof RANGES
const NAMES = Object.keys(RANGES) as RangeName[]

/** The agents' figures are collected once a minute. */
const EVERY = 60_000

type Query<T extends Traffic, K extends QueryKey> = Pick<UseQueryOptions<T, Error, T, K>, 'queryKey' | 'queryFn'>

/** Traffic over a selectable range, as charts and figures. @param query reads the traffic of a range */
export function TrafficPanel<T extends Traffic | OrderTraffic, K extends QueryKey>({
  query
}: {
  query: (range: TrafficRange) => Query<T, K>
}) {
  const t = useT()
  const id = useId()
  const { query: address, change } = useAddress()
  const name = NAMES.find(one => one === address.get('span')) ?? '48h'
  const { data, error, refetch } = useQuery({ ...query(RANGES[name]), refetchInterval: EVERY })
  const field = useRef<HTMLSelectElement>(null)
  const choose = (span: string) => {
    passFocus(field.current)
    change({ span: span === '48h' ? null : span }, { push: true })
  }
  return (
    <section className={`card ${classes.panel}`} aria-labelledby={id} aria-busy={!data && !error}>
      <div className="row between">
        <h2 id={id} className="size-lead">
          {t('traffic.title')}
        </h2>
        <NativeSelect
          ref={field}
          size="sm"
          aria-label={t('traffic.range')}
          data={NAMES.map(value => ({ value, label: t(`traffic.range.${value}`) }))}
          value={name}
          onChange={event => choose(event.currentTarget.value)}
        />
      </div>
      {data ? (
        <>
          {'allowed' in data && <Allowance traffic={data} />}
          <Figures traffic={data} onLonger={name === '1y' ? undefined : () => choose('1y')} />
        </>
      ) : error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton height={240} />
      )}
    </section>
  )
}

/** An order's used and remaining traffic, and its plan's other limits. */
function Allowance({ traffic }: { traffic: OrderTraffic }) {
  const t = useT()
  const { used, allowed, mbps, connections, connections_per_second: rate } = traffic
  const limits = [
    mbps === null ? null : t('traffic.limit.mbps', { count: numberText(mbps) }),
    connections === null ? null : t('traffic.limit.connections', { count: numberText(connections) }),
    rate === null ? null : t('traffic.limit.connections_per_second', { count: numberText(rate) })
  ].filter(text => text !== null)
  if (allowed === null && limits.length === 0) return null
  const left = allowed === null ? 0 : Math.max(0, allowed - used)
  return (
    <div className="stack" style={{ gap: '0.35rem' }}>
      {allowed !== null && (
        <>
          <p>
            {t(left > 0 ? 'traffic.left' : 'traffic.usedUp', {
              left: bytesText(left),
              used: bytesText(used),
              allowed: bytesText(allowed)
            })}
          </p>
          <progress className={classes.used} aria-label={t('traffic.used')} max={Math.max(1, allowed)} value={used} />
        </>
      )}
      {limits.length > 0 && <p className="dim">{limits.join(', ')}</p>}
    </div>
  )
}

const SUMS = [
  'down',
  'up',
  'requests',
  'connections',
  'refused',
  'failed'
] as const satisfies (keyof Traffic['total'])[]
const textOf = (name: (typeof SUMS)[number], value: number) =>
  name === 'down' || name === 'up' ? bytesText(value) : numberText(value)
const isNothing = (sums: Traffic['total']) => SUMS.every(name => sums[name] === 0)

function Figures({ traffic, onLonger }: { traffic: Traffic; onLonger: (() => void) | undefined }) {
  const t = useT()
  const language = useLanguage()
  const labelOf = labels(traffic.by, language)
  if (isNothing(traffic.total))
    return (
      <EmptyState compact title={t('traffic.none')} body={t('traffic.noneHint')}>
        {onLonger && (
          <Button variant="default" onClick={onLonger}>
            {t('traffic.longer')}
          </Button>
        )}
      </EmptyState>
    )
  return (
    <>
      <dl style={gridStyle('7.5rem', '0.75rem', 'auto-fit')}>
        {SUMS.map(name => (
          <div key={name}>
            <dt className="quiet size-table">{t(`traffic.${name}`)}</dt>
            <dd className="num strong">{textOf(name, traffic.total[name])}</dd>
          </div>
        ))}
      </dl>
      <p className="dim">{t('traffic.probes')}</p>
      <Suspense fallback={<Skeleton height={360} />}>
        <TrafficChart traffic={traffic} labelOf={labelOf} />
      </Suspense>
      <Steps traffic={traffic} labelOf={labelOf} />
      <div style={gridStyle('15rem', '1rem 2rem', 'auto-fit')}>
        <Codes title="traffic.refusals" counts={traffic.refusals} />
        <Codes title="traffic.errors" counts={traffic.errors} />
      </div>
    </>
  )
}

function labels(by: TrafficStep, language: string): (at: string) => string {
  const format = new Intl.DateTimeFormat(
    language,
    by === 'hour'
      ? { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' }
      : { month: 'short', day: 'numeric', timeZone: 'UTC' }
  )
  return at => format.format(new Date(at))
}

function Codes({ title, counts }: { title: Key; counts: Traffic['refusals'] }) {
  const t = useT()
  const id = useId()
  if (counts.length === 0) return null
  return (
    <div>
      <h3 id={id} style={{ marginBottom: '0.4rem' }}>
        {t(title)}
      </h3>
      <ul aria-labelledby={id}>
        {counts.map(({ code, count }) => (
          <li key={code} className="row unwrapped stretch between" style={{ gap: '1rem' }}>
            <span>{codeText(t, code)}</span> <span className="num">{numberText(count)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The charts' data as a table for screen readers. */
function Steps({ traffic, labelOf }: { traffic: Traffic; labelOf: (at: string) => string }) {
  const t = useT()
  return (
    <div className="sr-only">
      <table>
        <caption>{t('traffic.title')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('traffic.time')}</th>
            {SUMS.map(name => (
              <th key={name} scope="col">
                {t(`traffic.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {traffic.steps
            .filter(step => !isNothing(step))
            .map(step => (
              <tr key={step.at}>
                <th scope="row">{labelOf(step.at)}</th>
                {SUMS.map(name => (
                  <td key={name}>{textOf(name, step[name])}</td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  )
}

/** Codes in the agents' access log that have words. `other`: codes of newer agents. */
const CODES = [...AGENT_REFUSALS, ...AGENT_ERRORS, 'other'] as const satisfies (Key extends infer K
  ? K extends `traffic.code.${infer Code}`
    ? Code
    : never
  : never)[]

/** The meaning of a code; an unknown code unchanged. */
export function codeText(t: ReturnType<typeof useT>, code: string): string {
  const known = CODES.find(one => one === code)
  return known ? t(`traffic.code.${known}`) : code
}
