import { NativeSelect } from '@mantine/core'
import type { OverlapDecision, OverlapWinner, RuleCheck, RuleOverlap } from '@netlet/contract'
import { useT } from '../../i18n/admin.ts'
import { wordsOf } from '../../i18n/failures.ts'
import classes from './rules.module.css'

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
export function Overlaps({ check, own, decisions, onDecide }: Props) {
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
