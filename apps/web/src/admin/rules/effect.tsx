import type { RuleEffect } from '@netlet/contract'
import { useT } from '../../i18n/admin.ts'
import { figures, type T } from '../kit/index.ts'

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

export function EffectLines({ effect, isNew }: { effect: RuleEffect; isNew: boolean }) {
  const t = useT()
  return (
    <ul className="stack" style={{ gap: '0.2rem' }} aria-label={t('rules.effect')}>
      {effectLines(t, effect, isNew).map(line => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  )
}
