import type { AclRule, RuleConflicts } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Link } from 'react-router'
import { ApiError, call } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { catalog, inventory } from '../../api/routes.ts'
import { useMay } from '../../api/session.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { money, numberText } from '../../kit/money.ts'
import { none } from '../../kit/none.tsx'
import { AclRuleForm } from '../../kit/schemas.ts'
import {
  areaField,
  code,
  column,
  date,
  defineResource,
  hiddenField,
  inChinese,
  integer,
  moneyField,
  type PlanProps,
  type T,
  textField,
  useSettled
} from '../kit/index.ts'
import { PriceChoices } from '../price-drift/choices.tsx'
import { blockedText, removalText, RulePlan } from './plan.tsx'

/** The title, the number of rules, and their undecided overlaps. */
function RulesHead() {
  const t = useT()
  const { data } = useQuery(read(inventory.rules, { query: { limit: 1 } }))
  const { data: conflicts } = useQuery(read(inventory.ruleConflicts))
  return (
    <header className="row baseline" style={{ gap: '0.3rem 1.2rem' }}>
      <h2 className="size-lead">{t('rules.title')}</h2>
      <p>
        {t('rules.total')}: <strong className="num">{data ? numberText(data.total) : '…'}</strong>
      </p>
      {conflicts && conflicts.undecided_total > 0 && (
        <p className="warn">{t('rules.undecided', { count: conflicts.undecided_total })}</p>
      )}
      {conflicts && conflicts.duplicate_total > 0 && (
        <p className="warn">{t('rules.duplicates', { count: conflicts.duplicate_total })}</p>
      )}
    </header>
  )
}

/** Fills in the platform's price of the entered variant, or says why it cannot be sold. */
function PlatformPrice({ values, row, set }: PlanProps) {
  const t = useT()
  const variant = useSettled((values['shopify_variant_id'] ?? '').trim())
  const isAsked = /^\d{1,20}$/.test(variant) && variant !== row?.['shopify_variant_id']
  const query = { shopify_variant_id: variant, ...(row ? { id: row.id } : {}) }
  const { data, error } = useQuery({ ...read(inventory.platformVariant, { query }), enabled: isAsked })
  const price = (isAsked && data?.price) || ''
  useEffect(() => {
    if (price !== '') set('price', price)
    // oxlint-disable-next-line react/exhaustive-deps -- once for each price that is read
  }, [price])
  if (!isAsked) return null
  if (error instanceof ApiError) return <p className="warn">{failureText(error)}</p>
  return price === '' ? null : <p>{t('rules.platformPrice', { price: money(price) })}</p>
}

const name = textField('name')
const price = moneyField('price')

/** The question includes what a deletion does, in figures. */
async function removal(t: T, rule: AclRule) {
  const effect = await call(inventory.ruleEffect, { params: { id: rule.id } })
  if (effect.orders > 0)
    return { title: t('list.blockedTitle', { name: rule.name }), body: blockedText(t, effect), blocked: true }
  return { title: t('list.deleteTitle'), body: removalText(t, rule.name, effect), danger: true }
}

/** Access rules: lists of domains, sold as an add-on. */
export default defineResource({
  key: 'rules',
  list: inventory.rules,
  also: [inventory.ruleConflicts, catalog.priceDrift],
  nameOf: rule => rule.name,
  above: RulesHead,
  columns: [
    integer('id', { optional: true }),
    column('name', (rule: AclRule) => <NameCell rule={rule} />, { lead: true }),
    column('price', (rule: AclRule) => <PriceCell rule={rule} />, { align: 'end' }),
    code('shopify_variant_id'),
    column('description', (rule: AclRule) => rule.description, { wide: true }),
    column('acl_value', (rule: AclRule) => <DomainsCell rule={rule} />, { wide: true }),
    column('overlaps', (rule: AclRule) => <OverlapsCell rule={rule} />, { wide: true }),
    date('created_at')
  ],
  sort: ['id'],
  form: {
    schema: AclRuleForm,
    fields: [
      name,
      { ...price, help: t => t('rules.priceHelp') },
      { ...textField('shopify_variant_id', { mono: true }), help: t => t('rules.variantHelp') },
      { ...areaField('acl_value', { mono: true }), help: t => t('rules.domainsHelp') },
      textField('description'),
      inChinese('name', name),
      hiddenField('decisions', { sent: text => (text ? (JSON.parse(text) as unknown) : undefined) })
    ],
    create: inventory.createRule,
    update: inventory.updateRule,
    plan: props => (
      <>
        <PlatformPrice {...props} />
        <RulePlan {...props} />
      </>
    ),
    // Undo would not reach what agents already serve, nor restore decisions about overlaps.
    undo: ({ former, sent }) => former['acl_value'] === sent['acl_value']
  },
  remove: { route: inventory.deleteRule, confirm: removal },
  csv: true
})

/** The name, and what is wrong with its product on the platform. */
function NameCell({ rule }: { rule: AclRule }) {
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
function PriceCell({ rule }: { rule: AclRule }) {
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
function DomainsCell({ rule }: { rule: AclRule }) {
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
function OverlapsCell({ rule }: { rule: AclRule }) {
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
