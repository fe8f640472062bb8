import { memo } from 'react'
import { useBrand } from './brand.tsx'

type Motif = {
  seed: string
  cols?: number
  rows?: number
  density?: number
  /** The upper left cell of the default logo's letter. Other cells are drawn fainter. A shop of another name has none. */
  letter?: { x: number; y: number }
  className?: string | undefined
}

/** The logo's blocks: an N. */
const LETTER = ['1.....1', '11....1', '1.1...1', '1..1..1', '1...1.1', '1....11', '1.....1']

/** Pseudo-random numbers from 0 to 1, the same for the same seed. */
function* numbers(seed: string) {
  let state = 2166136261
  for (let i = 0; i < seed.length; i++) state = Math.imul(state ^ seed.charCodeAt(i), 16777619)
  for (;;) {
    state = Math.imul(state ^ (state >>> 15), 2246822507) + 0x9e3779b9
    yield ((state ^ (state >>> 13)) >>> 0) / 4294967296
  }
}

/** A decorative grid of cells that suggests an address range with some addresses leased. */
export const BlockArt = memo(function BlockArt({
  seed,
  cols = 24,
  rows = 9,
  density = 0.34,
  letter: place,
  className
}: Motif) {
  const { name, logo } = useBrand()
  const letter = name === 'Netlet' && logo === null ? place : undefined
  const random = numbers(seed)
  const next = () => random.next().value ?? 0
  const [least, most] = letter ? [0.16, 0.46] : [0.35, 1]
  const cells = Array.from({ length: cols * rows }, (_, at) => {
    const opacity = next() < density ? least + next() * (most - least) : 0.1
    const lit = letter && LETTER[Math.floor(at / cols) - letter.y]?.[(at % cols) - letter.x] === '1'
    return { opacity: lit ? 1 : opacity }
  })
  return <Grid cells={cells} cols={cols} className={className} />
})

/** By level: the more of a cell is leased, the stronger its colour. */
const EMPTY = { opacity: 0.24 }
const LEVELS = [EMPTY, ...[0.45, 0.65, 0.85, 1].map(opacity => ({ opacity }))]

type Cells = {
  cells: readonly number[]
  /** The picture's width divided by its height. */
  ratio: number
  label?: string | undefined
  className?: string | undefined
}

/** The same grid with measured levels from 0 to 4. `label` says what it shows; without it the grid is decoration. */
export const CellArt = memo(function CellArt({ cells, ratio, label, className }: Cells) {
  return (
    <Grid
      cells={cells.map(level => LEVELS[level] ?? EMPTY)}
      cols={columnsFor(cells.length, ratio)}
      label={label}
      className={className}
    />
  )
})

/** The number of columns whose grid is closest to `ratio` (width by height) and fills its last row best. */
export function columnsFor(count: number, ratio: number): number {
  const mismatch = (cols: number) => {
    const rows = Math.ceil(count / cols)
    return Math.abs(Math.log(cols / rows / ratio)) + (6 * (cols * rows - count)) / count
  }
  const all = Array.from({ length: Math.max(count, 1) }, (_, at) => at + 1)
  return all.reduce((best, cols) => (mismatch(cols) < mismatch(best) ? cols : best), 1)
}

type Cell = { opacity: number; fill?: string }
type GridProps = { cells: readonly Cell[]; cols: number; label?: string | undefined; className?: string | undefined }

function Grid({ cells, cols, label, className }: GridProps) {
  return (
    <svg
      className={className}
      viewBox={`0 0 ${cols * 10} ${Math.ceil(cells.length / cols) * 10}`}
      fill="currentColor"
      {...(label ? { role: 'img', 'aria-label': label } : { 'aria-hidden': true })}
    >
      {cells.map((cell, at) => (
        <rect
          key={at}
          x={(at % cols) * 10 + 1}
          y={Math.floor(at / cols) * 10 + 1}
          width="8"
          height="8"
          rx="1.6"
          {...cell}
        />
      ))}
    </svg>
  )
}
