import type { Occupancy } from '@netlet/contract'
import { useEffect, useRef, type CSSProperties, type KeyboardEvent } from 'react'
import { useT } from '../../i18n/admin.ts'
import type { T } from '../kit/index.ts'
import classes from './ranges.module.css'

/** Blocks in a row. */
const ACROSS = 16

export type Block = Occupancy['blocks'][number]
export const KINDS = ['leased', 'held', 'resting', 'blocked', 'free'] as const

type Props = {
  occupancy: Occupancy
  /** The shown rule never sells this range. */
  excluded: boolean
  selected: number
  onSelect: (nth: number) => void
  onOpen: (block: Block) => void
}

/** '127.10.3.0/24: leased 12, free 244', without zeros. */
export const blockText = (t: T, block: Block): string =>
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
export function Picture({ occupancy, excluded, selected, onSelect, onOpen }: Props) {
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
