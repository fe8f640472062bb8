import { Button, Skeleton } from '@mantine/core'
import type { Occupancy } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { IconArrowLeft, IconZoomIn, IconZoomOut } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { parseAsInteger, parseAsString, useQueryStates } from 'nuqs'
import { type CSSProperties, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { inventory } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { numberText } from '../../kit/money.ts'
import { ErrorState } from '../../kit/states.tsx'
import type { T } from '../kit/index.ts'
import classes from './ranges.module.css'

function Legend({ excluded }: { excluded: boolean }) {
  const t = useT()
  return (
    <>
      <ul className={`row stretch ${classes.legend}`} style={{ gap: '0.3rem 1rem' }}>
        {KINDS.map(kind => (
          <li key={kind} data-kind={kind === 'free' && excluded ? 'excluded' : kind}>
            {t(kind === 'free' && excluded ? 'ranges.kind.excluded' : `ranges.kind.${kind}`)}
          </li>
        ))}
      </ul>
      <p className="dim">{t('ranges.blockedHint')}</p>
    </>
  )
}

/** The picture as a table of the blocks in use. */
function BlockTable({ occupancy }: { occupancy: Occupancy }) {
  const t = useT()
  const used = occupancy.blocks.filter(({ free }) => free < occupancy.block_units)
  return (
    <details>
      <summary>{t('ranges.asTable', { count: used.length })}</summary>
      <div
        className={classes.tables}
        tabIndex={0}
        role="group"
        aria-label={t('ranges.asTable', { count: used.length })}
      >
        <table className={classes.figures}>
          <thead>
            <tr>
              <th scope="col">{t('ranges.block')}</th>
              {KINDS.map(kind => (
                <th key={kind} scope="col" data-align="end">
                  {t(`ranges.kind.${kind}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {used.map(block => (
              <tr key={block.part}>
                <th scope="row">
                  <Link
                    className="mono"
                    to={`${pageAt('addresses')}?${new URLSearchParams({ address: block.part, from: 'now' })}`}
                  >
                    {block.part}
                  </Link>
                </th>
                {KINDS.map(kind => (
                  <td key={kind} data-align="end" className="num">
                    {numberText(block[kind])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}

/** The selected block in words, with links into it and to its orders. */
function BlockFacts({ block, units, onOpen }: { block: Block; units: number; onOpen: () => void }) {
  const t = useT()
  return (
    <div className="row" style={{ gap: '0.4rem 0.9rem', minHeight: '2rem' }}>
      <p aria-live="polite">{blockText(t, block)}</p>
      {units > 1 && (
        <Button size="compact-sm" variant="default" leftSection={<IconZoomIn size={15} aria-hidden />} onClick={onOpen}>
          {t('ranges.open')}
        </Button>
      )}
      <Link to={`${pageAt('addresses')}?${new URLSearchParams({ address: block.part, from: 'now' })}`}>
        {t('ranges.ordersThere')}
      </Link>
    </div>
  )
}

/** Milliseconds. Orders change it too often to follow each change. */
const REFRESH = 30_000

type Props = { id: number; onBack: () => void }

/** How a range is used: its blocks as a picture, for all rules or one, with figures by rule. */
export function RangeOccupancy({ id, onBack }: Props) {
  const t = useT()
  const [{ part, rule }, go] = useQueryStates({ part: parseAsString, rule: parseAsInteger }, { history: 'push' })
  const [selected, setSelected] = useState(0)
  const query = { ...(part ? { part } : {}), ...(rule ? { rule } : {}) }
  const { data, error, isFetching, refetch } = useQuery({
    ...read(inventory.cidrBlocks, { params: { id }, query }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH
  })
  const back = () => {
    void go({ part: null, rule: null }, { history: 'replace' })
    onBack()
  }
  const show = (next: { part?: string | null; rule?: number | null }) => {
    if ('part' in next) setSelected(0)
    void go(next)
  }
  const block = data?.blocks[Math.min(selected, data.blocks.length - 1)]
  const excluded = data?.rules.find(one => one.id === data.rule?.id)?.excluded ?? false
  return (
    <section className="stack" aria-label={t('ranges.occupancy')} aria-busy={isFetching}>
      <header className="row" style={{ gap: '0.4rem 0.9rem' }}>
        <Button variant="default" leftSection={<IconArrowLeft size={16} aria-hidden />} onClick={back}>
          {t('ranges.back')}
        </Button>
        {data && (
          <>
            <h2 className="mono size-lead">{data.part}</h2>
            <span className="dim">
              {t('ranges.of', { cidr: data.cidr, server: data.server?.name ?? t('ranges.unreferenced') })}
            </span>
            {data.part !== data.cidr && (
              <Button
                variant="default"
                size="compact-sm"
                leftSection={<IconZoomOut size={15} aria-hidden />}
                onClick={() => show({ part: null })}
              >
                {t('ranges.whole', { cidr: data.cidr })}
              </Button>
            )}
          </>
        )}
      </header>
      {error && !data ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !data || !block ? (
        <Skeleton height={420} />
      ) : (
        <div className={classes.columns}>
          <div className="card stack shrinks size-body" style={{ gap: '0.7rem', padding: '0.9rem 1rem' }}>
            <h3 className="size-body">
              {data.rule ? t('ranges.pictureOf', { rule: data.rule.name }) : t('ranges.pictureOfAll')}
            </h3>
            <p className="dim">
              {t(excluded ? 'ranges.pictureExcluded' : 'ranges.pictureHint', { units: data.block_units })}
            </p>
            <Picture
              key={data.part}
              occupancy={data}
              excluded={excluded}
              selected={selected}
              onSelect={setSelected}
              onOpen={one => data.block_units > 1 && show({ part: one.part })}
            />
            <Legend excluded={excluded} />
            <BlockFacts block={block} units={data.block_units} onOpen={() => show({ part: block.part })} />
          </div>
          <div className="card stack shrinks size-body" style={{ gap: '0.7rem', padding: '0.9rem 1rem' }}>
            <RuleTable occupancy={data} onChoose={chosen => show({ rule: chosen })} />
            <BlockTable occupancy={data} />
          </div>
        </div>
      )}
    </section>
  )
}

type RuleTableProps = { occupancy: Occupancy; onChoose: (rule: number | null) => void }

/** Figures by rule. Clicking a rule shows the picture for it alone. */
function RuleTable({ occupancy, onChoose }: RuleTableProps) {
  const t = useT()
  return (
    <div className={classes.tables} tabIndex={0} role="group" aria-label={t('ranges.byRule')}>
      <table className={classes.figures}>
        <caption>{t('ranges.byRule')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('ranges.rule')}</th>
            {KINDS.map(kind => (
              <th key={kind} scope="col" data-align="end">
                {t(`ranges.kind.${kind}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row" colSpan={KINDS.length + 1}>
              <button
                type="button"
                className="bare"
                aria-pressed={occupancy.rule === null}
                onClick={() => onChoose(null)}
              >
                {t('ranges.allRules')}
              </button>
            </th>
          </tr>
          {occupancy.rules.map(rule => (
            <tr key={rule.id}>
              <th scope="row">
                <button
                  type="button"
                  className="bare"
                  aria-pressed={occupancy.rule?.id === rule.id}
                  onClick={() => onChoose(rule.id)}
                >
                  {rule.name}
                </button>
                {rule.excluded && (
                  <span className="bad size-label" style={{ marginInlineStart: '0.5rem' }}>
                    {t('ranges.kind.excluded')}
                  </span>
                )}
              </th>
              {KINDS.map(kind => (
                <td key={kind} data-align="end" className="num">
                  {rule.excluded && kind === 'free' ? '–' : numberText(rule[kind])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Blocks in a row. */
const ACROSS = 16

type Block = Occupancy['blocks'][number]
const KINDS = ['leased', 'held', 'resting', 'blocked', 'free'] as const

type KINDSProps = {
  occupancy: Occupancy
  /** The shown rule never sells this range. */
  excluded: boolean
  selected: number
  onSelect: (nth: number) => void
  onOpen: (block: Block) => void
}

/** '127.10.3.0/24: leased 12, free 244', without zeros. */
const blockText = (t: T, block: Block): string =>
  `${block.part}: ${KINDS.filter(kind => block[kind] > 0)
    .map(kind => `${t(`ranges.kind.${kind}`)} ${block[kind]}`)
    .join(', ')}`

/** A background with the share of each kind, from the bottom. */
function fillOf(block: Block): CSSProperties {
  const total = KINDS.reduce((sum, kind) => sum + block[kind], 0) || 1
  let at = 0
  const stops = KINDS.flatMap(kind => {
    if (block[kind] === 0) return []
    const from = at
    at += (block[kind] / total) * 100
    return `var(--${kind}) ${from.toFixed(2)}% ${at.toFixed(2)}%`
  })
  return { backgroundImage: `linear-gradient(to top, ${stops.join(', ')})` }
}

const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -ACROSS, ArrowDown: ACROSS }

/** The blocks by address. Arrow keys move, Enter opens. */
function Picture({ occupancy, excluded, selected, onSelect, onOpen }: KINDSProps) {
  const t = useT()
  const { blocks } = occupancy
  const grid = useRef<HTMLDivElement>(null)
  const moved = useRef(false)
  useEffect(() => {
    if (moved.current) grid.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus()
    moved.current = false
  }, [selected])
  const move = (event: KeyboardEvent) => {
    const step = STEPS[event.key]
    const next =
      event.key === 'Home' ? 0 : event.key === 'End' ? blocks.length - 1 : step === undefined ? -1 : selected + step
    if (next < 0 || next >= blocks.length) return
    event.preventDefault()
    moved.current = true
    onSelect(next)
  }
  const rows = Array.from({ length: Math.ceil(blocks.length / ACROSS) }, (_, row) =>
    blocks.slice(row * ACROSS, (row + 1) * ACROSS)
  )
  return (
    <div
      ref={grid}
      role="grid"
      aria-label={t('ranges.blocksOf', { part: occupancy.part })}
      className={`stack ${classes.picture}`}
      style={{ gap: '2px' }}
      data-excluded={excluded || undefined}
      onKeyDown={move}
    >
      {rows.map((row, at) => (
        <div role="row" key={row[0]?.part}>
          {row.map((block, column) => {
            const nth = at * ACROSS + column
            return (
              <button
                key={block.part}
                type="button"
                role="gridcell"
                aria-label={blockText(t, block)}
                aria-selected={nth === selected}
                title={blockText(t, block)}
                tabIndex={nth === selected ? 0 : -1}
                style={fillOf(block)}
                onClick={() => (nth === selected ? onOpen(block) : onSelect(nth))}
                onDoubleClick={() => onOpen(block)}
              />
            )
          })}
        </div>
      ))}
    </div>
  )
}
