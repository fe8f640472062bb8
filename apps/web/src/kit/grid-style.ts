import type { CSSProperties } from 'react'

/**
 * The style of a grid with as many columns as fit.
 * @param least a column's least width
 * @param fill 'auto-fit' widens few cells over the whole row
 */
export const gridStyle = (
  least: string,
  gap = '1rem',
  fill: 'auto-fill' | 'auto-fit' = 'auto-fill'
): CSSProperties => ({
  display: 'grid',
  gridTemplateColumns: `repeat(${fill}, minmax(min(${least}, 100%), 1fr))`,
  gap
})
