import type { Proxy } from '@netlet/contract'
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react'
import { memo, type ReactNode } from 'react'
import { useT as useAccountT } from '../../i18n/account.ts'
import { useT } from '../../i18n/proxies.ts'
import { DELAY_TONES, delayLevel } from '../../kit/delay.tsx'
import { Ago } from '../../kit/time.tsx'
import type { FormatChoice } from './formats.ts'
import latencyClasses from './latency.module.css'
import { addressOf, CopyProxy, Password, PickBox, ProxyStatus, type Reveal } from './proxy-cells.tsx'
import classes from './table.module.css'
import type { Sort } from './use-proxy-list.ts'

type Props = {
  rows: Proxy[]
  stale: boolean
  reveal: Reveal
  choice: FormatChoice
  picked: ReadonlyMap<number, Proxy>
  onPick: (proxies: Proxy[], picked: boolean) => void
  sort: Sort
  onSort: (sort: Sort) => void
}

const SITES = [
  ['google_delay', 'Google'],
  ['bing_delay', 'Bing'],
  ['amazon_delay', 'Amazon']
] as const

export function ProxyTable({ rows, stale, reveal, choice, picked, onPick, sort, onSort }: Props) {
  const t = useT()
  const tAccount = useAccountT()
  const onPage = rows.filter(row => picked.has(row.id)).length
  const head = (by: Sort['by'], title: ReactNode) => <Head by={by} title={title} sort={sort} onSort={onSort} />
  return (
    <div className={classes.scroll} tabIndex={0} role="group" aria-label={t('proxy.title')} data-rows>
      <table className={classes.table} aria-busy={stale}>
        <thead>
          <tr>
            <th scope="col" className={classes.narrow}>
              <PickBox
                name={t('proxy.pickAll')}
                checked={rows.length > 0 && onPage === rows.length}
                some={onPage > 0}
                onChange={() => onPick(rows, onPage < rows.length)}
              />
            </th>
            {head('ip', tAccount('proxy.address'))}
            <th scope="col">{tAccount('proxy.username')}</th>
            <th scope="col">{tAccount('proxy.password')}</th>
            <th scope="col">{tAccount('proxy.status')}</th>
            {SITES.map(([by, title]) => (
              <Head key={by} by={by} title={title} sort={sort} onSort={onSort} />
            ))}
            <th scope="col" className={classes.last}>
              {tAccount('proxy.updated')}
            </th>
            <th scope="col" className={classes.narrow}>
              <span className="sr-only">{t('proxy.copy')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(proxy => (
            <ProxyRow key={proxy.id} {...rowOf(proxy, { reveal, choice, picked, onPick })} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

type RowProps = {
  proxy: Proxy
  isPicked: boolean
  isShown: boolean
  choice: FormatChoice
  onPick: Props['onPick']
  onToggle: Reveal['toggle']
}

const rowOf = (
  proxy: Proxy,
  { reveal, choice, picked, onPick }: Pick<Props, 'reveal' | 'choice' | 'picked' | 'onPick'>
): RowProps => ({
  proxy,
  isPicked: picked.has(proxy.id),
  isShown: reveal.shows(proxy.id),
  choice,
  onPick,
  onToggle: reveal.toggle
})

// Memoised, so that a slow machine answers a click above the list without rendering all rows.
const ProxyRow = memo(function ProxyRow({ proxy, isPicked, isShown, choice, onPick, onToggle }: RowProps) {
  return (
    <tr data-selected={isPicked || undefined}>
      <td className={classes.narrow}>
        <PickProxy proxy={proxy} isPicked={isPicked} onPick={onPick} />
      </td>
      <td className="mono">{addressOf(proxy)}</td>
      <td className="mono">{proxy.username}</td>
      <td>
        <Password proxy={proxy} shown={isShown} onToggle={onToggle} />
      </td>
      <td>
        <ProxyStatus status={proxy.status} />
      </td>
      {SITES.map(([by]) => (
        <td key={by}>
          <Latency ms={proxy[by]} />
        </td>
      ))}
      <td className={classes.last}>
        <Ago at={proxy.updated_at} />
      </td>
      <td className={classes.narrow}>
        <CopyProxy proxy={proxy} choice={choice} />
      </td>
    </tr>
  )
})

function Head({ by, title, sort, onSort }: { by: Sort['by']; title: ReactNode } & Pick<Props, 'sort' | 'onSort'>) {
  const active = sort.by === by
  const Icon = !active ? IconArrowsSort : sort.order === 'asc' ? IconArrowUp : IconArrowDown
  // The third click restores the order of delivery.
  const next: Sort = !active
    ? { by, order: 'asc' }
    : sort.order === 'asc'
      ? { by, order: 'desc' }
      : { by: 'id', order: 'asc' }
  return (
    <th scope="col" aria-sort={active ? (sort.order === 'asc' ? 'ascending' : 'descending') : undefined}>
      <button type="button" className={`row unwrapped inline bare ${classes.sort}`} onClick={() => onSort(next)}>
        {title}
        <Icon size={14} aria-hidden data-idle={!active || undefined} />
      </button>
    </th>
  )
}

function PickProxy({ proxy, isPicked, onPick }: Pick<RowProps, 'proxy' | 'isPicked' | 'onPick'>) {
  const t = useT()
  return (
    <PickBox
      name={t('proxy.pick', { address: addressOf(proxy) })}
      checked={isPicked}
      onChange={() => onPick([proxy], !isPicked)}
    />
  )
}

export function ProxyCards({ rows, stale, reveal, choice, picked, onPick }: Props) {
  const t = useT()
  return (
    <ul className={classes.cards} aria-label={t('proxy.title')} aria-busy={stale} tabIndex={-1} data-rows>
      {rows.map(proxy => (
        <ProxyCard key={proxy.id} {...rowOf(proxy, { reveal, choice, picked, onPick })} />
      ))}
    </ul>
  )
}

/** Two lines, or three once it is checked. That it is not checked yet needs no sign. */
const ProxyCard = memo(function ProxyCard({ proxy, isPicked, isShown, choice, onPick, onToggle }: RowProps) {
  const tAccount = useAccountT()
  return (
    <li data-selected={isPicked || undefined}>
      <div className={`row unwrapped ${classes.cardHead}`} style={{ gap: '0.35rem' }}>
        <PickProxy proxy={proxy} isPicked={isPicked} onPick={onPick} />
        <strong className="mono">{addressOf(proxy)}</strong>
        <CopyProxy proxy={proxy} choice={choice} />
      </div>
      <dl className={`row size-table ${classes.facts}`} style={{ gap: '0 0.6rem' }}>
        <dt className="sr-only">{tAccount('proxy.username')}</dt>
        <dd className="mono">{proxy.username}</dd>
        <dt className="sr-only">{tAccount('proxy.password')}</dt>
        <dd>
          <Password proxy={proxy} shown={isShown} onToggle={onToggle} />
        </dd>
        <dt className="sr-only">{tAccount('proxy.status')}</dt>
        <dd className={proxy.status === null ? 'sr-only' : 'push'}>
          <ProxyStatus status={proxy.status} />
        </dd>
      </dl>
      {proxy.status !== null && (
        <dl className={`row size-table ${classes.facts}`} style={{ gap: '0 0.6rem' }}>
          {SITES.map(([by, title]) => (
            <div key={by} className="row unwrapped inline" style={{ gap: '0.25rem' }}>
              <dt>{title}</dt>
              <dd>
                <Latency ms={proxy[by]} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  )
})

/** Milliseconds at which the bar is full. */
const FULL = 1500

export function Latency({ ms }: { ms: number | null }) {
  const t = useT()
  const level = delayLevel(ms)
  return (
    <span className={`num size-table ${DELAY_TONES[level]} ${latencyClasses.latency}`} data-level={level}>
      {ms !== null && (
        <span className={latencyClasses.bar} aria-hidden>
          <span style={{ width: `${Math.max(6, Math.min(100, (ms / FULL) * 100))}%` }} />
        </span>
      )}
      <span className={latencyClasses.figure}>
        {ms === null ? <span aria-hidden>–</span> : `${ms} ms`}
        <span className="sr-only"> {t(`delay.${level}`)}</span>
      </span>
    </span>
  )
}
