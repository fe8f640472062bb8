import { NativeSelect } from '@mantine/core'
import type { OverlapDecision, OverlapWinner, RuleCheck, RuleEffect, RuleOverlap } from '@netlet/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ApiError } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { inventory } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText, wordsOf } from '../../i18n/failures.ts'
import { figures, type PlanProps, type T, useSettled } from '../kit/index.ts'
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

/** The number of domains listed per rule. */
const LISTED = 5

type Props = {
  check: RuleCheck
  /** The edited rule; null for a new one. */
  own: number | null
  decisions: OverlapDecision[]
  onDecide: (decisions: OverlapDecision[]) => void
}

/** Other rules with sites in common. The operator decides which rule's customers reach each. */
function Overlaps({ check, own, decisions, onDecide }: Props) {
  const t = useT()
  if (check.overlap_total === 0) return null
  const byRule = Map.groupBy(check.overlaps, ({ narrow, broad }) => (narrow.id === own ? broad : narrow).id ?? 0)
  return (
    <div className="stack" style={{ gap: '0.6rem' }}>
      <p>{t('rules.overlap', { count: check.overlap_total })}</p>
      {[...byRule].map(([id, overlaps]) => (
        <WithRule
          key={id}
          id={id}
          overlaps={overlaps}
          orders={check.rules.find(rule => rule.id === id)?.orders ?? 0}
          onDecide={(winner, domain) =>
            onDecide([
              ...decisions.filter(one => one.rule_id !== id || (domain !== undefined && one.domain !== domain)),
              { rule_id: id, winner, ...(domain === undefined ? {} : { domain }) }
            ])
          }
        />
      ))}
    </div>
  )
}

type WithRuleProps = {
  id: number
  overlaps: RuleOverlap[]
  orders: number
  /** Without a domain: for all that both rules share. */
  onDecide: (winner: OverlapWinner, domain?: string) => void
}

function WithRule({ id, overlaps, orders, onDecide }: WithRuleProps) {
  const t = useT()
  const [first] = overlaps
  if (!first) return null
  const name = first.narrow.id === id ? first.narrow.name : first.broad.name
  const same = new Set(overlaps.map(({ winner }) => winner)).size === 1
  const winner = same ? (first.winner ?? '') : 'mixed'
  const chosen = first.choices.find(choice => choice.winner === winner)
  const words = (value: string, narrow: string, broad: string) => ({
    value,
    label: t(value === 'narrow' ? 'rules.narrowWins' : 'rules.broadWins', { narrow, broad })
  })
  const choices = [
    { value: '', label: t('rules.decide'), disabled: true },
    ...(same ? [] : [{ value: 'mixed', label: t('rules.mixed'), disabled: true }]),
    words('narrow', first.narrow.name, first.broad.name),
    words('broad', first.narrow.name, first.broad.name)
  ]
  return (
    <div className={`stack ${classes.withRule}`} style={{ gap: '0.4rem' }} data-open={winner === '' || undefined}>
      <NativeSelect
        size="xs"
        label={t('rules.sharedWith', { rule: name, count: overlaps.length, orders })}
        value={winner}
        data={choices}
        onChange={event => onDecide(event.currentTarget.value as OverlapWinner)}
      />
      {chosen && <p>{wordsOf(chosen.reason, chosen.params) ?? chosen.msg}</p>}
      <ul>
        {overlaps.slice(0, LISTED).map(overlap => (
          <li key={overlap.domain}>
            <span className="mono">{overlap.domain}</span> ⊂ <span className="mono">{overlap.within}</span>
            {overlaps.length > 1 && (
              <NativeSelect
                size="xs"
                aria-label={t('rules.winnerOf', { domain: overlap.domain })}
                value={overlap.winner ?? ''}
                data={[
                  { value: '', label: t('rules.decide'), disabled: true },
                  words('narrow', overlap.narrow.name, overlap.broad.name),
                  words('broad', overlap.narrow.name, overlap.broad.name)
                ]}
                onChange={event => onDecide(event.currentTarget.value as OverlapWinner, overlap.domain)}
              />
            )}
          </li>
        ))}
      </ul>
      {overlaps.length > LISTED && <p className="dim">{t('rules.more', { count: overlaps.length - LISTED })}</p>}
    </div>
  )
}

/** What saving a rule does to stock, orders and agents, one sentence each. */
function effectLines(t: T, effect: RuleEffect, isNew: boolean): string[] {
  const { groups: _, ...numbers } = effect
  const { orders, added, removed, agents } = numbers
  const values = figures(numbers)
  const lines = []
  if (isNew) lines.push(t('rules.effectNew', values))
  else if (orders > 0) lines.push(t('rules.effectOrders', values))
  else lines.push(t('rules.effectNoOrders', values))
  if (added > 0) lines.push(t('rules.effectAdded', values))
  if (removed > 0) lines.push(t('rules.effectRemoved', values))
  if (agents > 0) lines.push(t('rules.effectAgents', values))
  return lines
}

export function removalText(t: T, name: string, effect: RuleEffect): string {
  const { groups, ...numbers } = effect
  const { agents } = numbers
  const values = figures(numbers)
  const lines = [t('list.deleteBody'), t('rules.removal', { name, ...values })]
  if (agents > 0) lines.push(t('rules.effectAgents', values))
  if (groups.length > 0) lines.push(t('rules.removalGroups', { groups: groups.map(group => group.name).join(', ') }))
  return lines.join('\n')
}

/** Why a rule cannot be deleted: it has orders. */
export const blockedText = (t: T, { orders, addresses }: RuleEffect): string =>
  t('rules.removalRefused', figures({ orders, addresses }))

function EffectLines({ effect, isNew }: { effect: RuleEffect; isNew: boolean }) {
  const t = useT()
  return (
    <ul className="stack" style={{ gap: '0.2rem' }} aria-label={t('rules.effect')}>
      {effectLines(t, effect, isNew).map(line => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  )
}
