import type { Resource } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import classes from './facts.module.css'
import { May } from './words.tsx'

/** A title and its value; `wide` gives it its own line. Facts without a value are not shown. */
export type Fact = readonly [title: string, value: ReactNode, width?: 'wide']

type FactListProps = {
  facts: readonly Fact[]
  /** The list's name, if it has no heading. */
  label?: string
  /** Columns with titles above values, or one fact a line. */
  layout?: 'columns' | 'rows'
}

const hasValue = (value: ReactNode) => value !== null && value !== undefined && value !== false && value !== ''

export function FactList({ facts, label, layout = 'columns' }: FactListProps) {
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

type StatListProps = {
  stats: readonly (readonly [title: string, value: ReactNode])[]
  label?: string
  pending?: boolean
}

/** A card with a screen's key figures. */
export function StatList({ stats, label, pending }: StatListProps) {
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

export const auditPath = (of: Resource, id: number | string): string =>
  `${pageAt('audit')}?${new URLSearchParams({ target_type: of, target_id: String(id) }).toString()}`

export function AuditLink({ of, id }: { of: Resource; id: number | string }) {
  const t = useT()
  return (
    <May make={settings.audit}>
      <Link to={auditPath(of, id)}>{t('audit.entries')}</Link>
    </May>
  )
}
