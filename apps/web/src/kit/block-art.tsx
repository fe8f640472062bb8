import { memo } from 'react'

type Props = { seed: string; cols?: number; rows?: number; density?: number; className?: string | undefined }

/** The same text always gives the same numbers from 0 to 1. */
function* numbers(seed: string) {
  let state = 2166136261
  for (let i = 0; i < seed.length; i++) state = Math.imul(state ^ seed.charCodeAt(i), 16777619)
  for (;;) {
    state = Math.imul(state ^ (state >>> 15), 2246822507) + 0x9e3779b9
    yield ((state ^ (state >>> 13)) >>> 0) / 4294967296
  }
}

/** An address range drawn as a grid of cells, some of them leased: the shop's own ornament. Decoration only. */
export const BlockArt = memo(function BlockArt({ seed, cols = 24, rows = 9, density = 0.34, className }: Props) {
  const random = numbers(seed)
  const next = () => random.next().value ?? 0
  const cells = []
  for (let row = 0; row < rows; row++)
    for (let col = 0; col < cols; col++) {
      const run = next() < density
      const opacity = run ? 0.35 + next() * 0.65 : 0.1
      cells.push(
        <rect key={`${row}-${col}`} x={col * 10 + 1} y={row * 10 + 1} width="8" height="8" rx="1.6" opacity={opacity} />
      )
    }
  return (
    <svg className={className} viewBox={`0 0 ${cols * 10} ${rows * 10}`} fill="currentColor" aria-hidden="true">
      {cells}
    </svg>
  )
})
