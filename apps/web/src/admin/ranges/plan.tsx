import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { RangeEffect } from '@netlet/contract'
import { read } from '../../api/query.ts'
import { inventory } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { figures, useSettled, type PlanProps, type T } from '../kit/index.ts'
import classes from './ranges.module.css'

function linesOf(t: T, { sells, excluded, allowed, orders }: RangeEffect): string[] {
  const lines = [
    ...excluded.map(({ name, free, leased, orders: holders }) =>
      leased > 0
        ? t('ranges.effectExcludedLeased', { name, ...figures({ free, leased, orders: holders }) })
        : t('ranges.effectExcluded', { name, ...figures({ free }) })
    ),
    ...allowed.map(({ name, free }) => t('ranges.effectAllowed', { name, ...figures({ free }) }))
  ]
  if (lines.length === 0) return [t('ranges.effectNone')]
  if (orders > 0) lines.push(t('ranges.effectOrders', figures({ orders })))
  if (!sells) lines.push(t('ranges.effectNoServer'))
  return lines
}

/** What a change of excluded rules would do to stock and orders. */
export function RangePlan({ values, row }: PlanProps) {
  const t = useT()
  const text = useSettled(values['exclude_acl'] ?? '')
  const exclude_acl = text.split(',').filter(Boolean).map(Number)
  const { data, error } = useQuery({
    ...read(inventory.cidrEffect, { params: { id: row?.id ?? 0 }, body: { exclude_acl } }),
    placeholderData: keepPreviousData,
    staleTime: 0
  })
  return (
    <section className={classes.plan} aria-label={t('ranges.plan')} aria-live="polite">
      <h3>{t('ranges.plan')}</h3>
      {error ? (
        <p>{failureText(error)}</p>
      ) : (
        <ul>{data && linesOf(t, data).map(line => <li key={line}>{line}</li>)}</ul>
      )}
    </section>
  )
}
