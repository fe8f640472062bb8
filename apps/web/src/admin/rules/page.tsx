import type { AclRule } from '@netlet/contract'
import { ApiError, call } from '../../api/client.ts'
import { catalog, inventory } from '../../api/routes.ts'
import { AclRuleForm } from '../../kit/schemas.ts'
import {
  type PlanProps,
  type T,
  areaField,
  code,
  column,
  date,
  defineResource,
  hiddenField,
  inChinese,
  integer,
  moneyField,
  textField,
  useSettled
} from '../kit/index.ts'
import { DomainsCell, NameCell, OverlapsCell, PriceCell } from './cells.tsx'
import { RulePlan } from './plan.tsx'
import { blockedText, removalText } from './effect.tsx'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { read } from '../../api/query.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { money } from '../../kit/money.ts'
import { numberText } from '../../kit/number.ts'

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
