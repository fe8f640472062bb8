import { Button, Skeleton } from '@mantine/core'
import { IconArrowLeft, IconZoomIn, IconZoomOut } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { parseAsInteger, parseAsString, useQueryStates } from 'nuqs'
import { useState } from 'react'
import { read } from '../../api/query.ts'
import { inventory } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { ErrorState } from '../../kit/states.tsx'
import { type Block, KINDS, Picture, blockText } from './picture.tsx'
import { RuleTable } from './rule-table.tsx'
import classes from './ranges.module.css'
import { pageAt } from '@netlet/contract/pages'
import { Link } from 'react-router'
import type { Occupancy } from '@netlet/contract'
import { numberText } from '../../kit/number.ts'

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
