import type { OverlapDecision, RuleCheck } from '@netlet/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ApiError } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { inventory } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { useSettled, type PlanProps } from '../kit/index.ts'
import { EffectLines } from './effect.tsx'
import { Overlaps } from './overlaps.tsx'
import classes from './rules.module.css'

/** The number of orders named per pair of rules. */
const NAMED = 10

const decisionsOf = (text: string | undefined): OverlapDecision[] =>
  text ? (JSON.parse(text) as OverlapDecision[]) : []

/** Checks the entered domains while they are typed: overlaps with other rules, and what saving would do. */
export function RulePlan({ values, row, set }: PlanProps) {
  const t = useT()
  const asked = useSettled(
    JSON.stringify({
      acl_value: values['acl_value'] ?? '',
      decisions: decisionsOf(values['decisions']),
      ...(values['name']?.trim() ? { name: values['name'].trim().slice(0, 255) } : {}),
      ...(row ? { id: row.id } : {})
    })
  )
  const body = JSON.parse(asked) as { acl_value: string; decisions: OverlapDecision[] }
  const { data, error, isFetching } = useQuery({
    ...read(inventory.checkRule, { body }),
    enabled: body.acl_value.trim() !== '',
    // Keep the last result until the next one arrives.
    placeholderData: keepPreviousData,
    staleTime: 0
  })
  if (body.acl_value.trim() === '') return null
  return (
    <section
      className={`stack size-table breaks ${classes.plan}`}
      style={{ gap: '0.6rem' }}
      aria-label={t('rules.plan')}
      aria-busy={isFetching}
      aria-live="polite"
    >
      <h3 className="size-body">{t('rules.plan')}</h3>
      {error ? (
        <p className="warn">{error instanceof ApiError ? failureText(error) : t('rules.planFailed')}</p>
      ) : data ? (
        <>
          <Duplicates check={data} own={row?.id ?? null} />
          <Overlaps
            check={data}
            own={row?.id ?? null}
            decisions={decisionsOf(values['decisions'])}
            onDecide={decisions => set('decisions', decisions.length > 0 ? JSON.stringify(decisions) : '')}
          />
          <Shared check={data} />
          <EffectLines effect={data.effect} isNew={!row} />
        </>
      ) : (
        <p className="dim">{t('rules.planRunning')}</p>
      )}
    </section>
  )
}

/** Domains that another rule has. They are refused. */
function Duplicates({ check, own }: { check: RuleCheck; own: number | null }) {
  const t = useT()
  if (check.duplicate_total === 0) return null
  return (
    <div className="warn">
      <p>{t('rules.taken', { count: check.duplicate_total })}</p>
      <ul>
        {check.duplicates.slice(0, 10).map(({ domain, rules }) => (
          <li key={domain}>
            {t('rules.takenLine', {
              domain,
              rules: rules
                .filter(({ id }) => id !== own)
                .map(({ name }) => name)
                .join(', ')
            })}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Rules that would share a site while two orders hold the same address under them. Also refused. */
function Shared({ check }: { check: RuleCheck }) {
  const t = useT()
  if (check.shared.length === 0) return null
  return (
    <ul className="warn">
      {check.shared.map(({ rules, orders }) => (
        <li key={rules.map(({ name }) => name).join(' ')}>
          {t('rules.sharedAddresses', {
            rules: rules.map(({ name }) => name).join(', '),
            orders: orders
              .slice(0, NAMED)
              .map(({ order_id }) => order_id)
              .join(', ')
          })}
          {orders.length > NAMED && ` ${t('rules.more', { count: orders.length - NAMED })}`}
        </li>
      ))}
    </ul>
  )
}
