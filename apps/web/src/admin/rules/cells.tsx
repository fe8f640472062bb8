import type { AclRule, RuleConflicts } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { useMay } from '../../api/may.ts'
import { read } from '../../api/query.ts'
import { catalog, inventory } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { money } from '../../kit/money.ts'
import { PriceChoices } from '../price-drift/choices.tsx'
import { none } from '../../kit/none.tsx'

/** The name, and what is wrong with its product on the platform. */
export function NameCell({ rule }: { rule: AclRule }) {
  const t = useT()
  const { unpublished, subscription_only, platform_stock: stock, shipped } = rule
  if (!unpublished && !subscription_only && stock === 'none' && !shipped) return rule.name
  return (
    <span className="stack bottom inline" style={{ gap: 0 }}>
      {rule.name}
      {unpublished && <span className="warn">{t('rules.unpublished')}</span>}
      {subscription_only && <span className="warn">{t('rules.subscription')}</span>}
      {stock !== 'none' && <span className="warn">{t(`rules.stock.${stock}`)}</span>}
      {shipped && <span className="warn">{t('rules.shipped')}</span>}
    </span>
  )
}

/** The price. If the platform's differs, both, with buttons to resolve it. */
export function PriceCell({ rule }: { rule: AclRule }) {
  const t = useT()
  const { mayCall } = useMay()
  const { data } = useQuery({
    ...read(catalog.priceDrift, { query: { limit: 500 } }),
    enabled: mayCall(catalog.priceDrift)
  })
  const drift = data?.data.find(({ kind, target_id }) => kind === 'rule' && target_id === rule.id)
  return (
    <span className="stack bottom inline" style={{ gap: 0 }}>
      {money(rule.price)}
      {drift && (
        <>
          <Link to={`${pageAt('health')}#prices`} className="warn size-label unbroken">
            {t('rules.drift', { price: money(drift.platform_price) })}
          </Link>
          <PriceChoices drift={drift} />
        </>
      )}
    </span>
  )
}

const domainsOf = (text: string) =>
  text
    .split('\n')
    .map(line => line.replace(/#.*/, '').trim())
    .filter(Boolean)

/** The first domains, and the number of others. */
export function DomainsCell({ rule }: { rule: AclRule }) {
  const t = useT()
  const domains = domainsOf(rule.acl_value)
  const more = domains.length - 2
  return (
    <span className="breaks" title={domains.slice(0, 20).join('\n')}>
      <span className="mono">{domains.slice(0, 2).join(', ')}</span>
      {more > 0 && <span className="dim"> {t('rules.more', { count: more })}</span>}
    </span>
  )
}

type Overlap = RuleConflicts['overlaps'][number]
const otherOf = ({ narrow, broad }: Overlap, id: number) => (narrow.id === id ? broad : narrow)

/** Rules that share domains with this one. */
export function OverlapsCell({ rule }: { rule: AclRule }) {
  const t = useT()
  const { data } = useQuery(read(inventory.ruleConflicts))
  const overlaps = data?.overlaps.filter(({ narrow, broad }) => narrow.id === rule.id || broad.id === rule.id) ?? []
  const taken = data?.duplicates.filter(({ rules }) => rules.some(({ id }) => id === rule.id)) ?? []
  if (overlaps.length === 0 && taken.length === 0) return none
  const byName = Map.groupBy(overlaps, overlap => otherOf(overlap, rule.id).name)
  return (
    <ul className="size-table">
      {[...byName].map(([name, found]) => {
        const open = found.some(({ winner }) => winner === null)
        return (
          <li key={name} className={open ? 'warn' : undefined} title={found.map(({ domain }) => domain).join('\n')}>
            {t(open ? 'rules.sharesOpen' : 'rules.shares', { rule: name, count: found.length })}
          </li>
        )
      })}
      {taken.length > 0 && <li className="warn">{t('rules.listedTwice', { count: taken.length })}</li>}
    </ul>
  )
}
