import type { ReactNode } from 'react'
import classes from './stat-list.module.css'

type Props = {
  stats: readonly (readonly [title: string, value: ReactNode])[]
  label?: string
  pending?: boolean
}

/** A card with a screen's key figures. */
export function StatList({ stats, label, pending }: Props) {
  return (
    <dl className={`card ${classes.stats}`} aria-label={label} aria-busy={pending}>
      {stats.map(([title, value]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
