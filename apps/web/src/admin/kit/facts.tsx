import type { ReactNode } from 'react'
import classes from './facts.module.css'

/** A title and its value; `wide`: on a line of its own. Nothing is shown of a fact without a value. */
export type Fact = readonly [title: string, value: ReactNode, width?: 'wide']

type Props = {
  facts: readonly Fact[]
  /** The list's name, where no heading is around it. */
  label?: string
  /** Titles above their values, as many beside each other as there is room for; or one fact a line. */
  layout?: 'columns' | 'rows'
}

const hasValue = (value: ReactNode) => value !== null && value !== undefined && value !== false && value !== ''

/** What is known of one thing, as titles and values. */
export function FactList({ facts, label, layout = 'columns' }: Props) {
  return (
    <dl className={`${classes.facts} ${classes[layout]}`} aria-label={label}>
      {facts.map(
        ([title, value, width]) =>
          hasValue(value) && (
            <div key={title} data-wide={width === 'wide' || undefined}>
              <dt>{title}</dt>
              <dd>{value}</dd>
            </div>
          )
      )}
    </dl>
  )
}
