import type { Product } from '@netlet/contract'
import { Button } from '@mantine/core'
import { useT, type Key } from '../../i18n/admin.ts'
import { draftOf, type Draft, type VariantDraft } from './draft.ts'

type Props = { before: Product; after: Product; onTake: () => void }

/** What somebody else changed of a product since its form was opened. */
export function StaleNotice({ before, after, onTake }: Props) {
  const t = useT()
  const lines = differences(draftOf(before), draftOf(after)).map(({ name, field, was, is }) =>
    t('form.staleField', {
      field: name ? `${name}, ${t(field)}` : t(field),
      was: was || '–',
      is: is || '–'
    })
  )
  return (
    <>
      {lines.length > 0 && (
        <>
          <p>{t('form.stale')}</p>
          <ul>
            {lines.map(line => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </>
      )}
      <Button size="compact-sm" variant="default" onClick={onTake}>
        {t('form.takeTheirs')}
      </Button>
    </>
  )
}

const FIELDS = {
  product_name: 'products.product_name',
  product_desc: 'products.product_desc',
  active: 'products.active',
  product_tags: 'products.tags'
} as const satisfies Partial<Record<keyof Draft, Key>>
const OF_VARIANT = {
  variant_name: 'products.variant',
  variant_desc: 'products.variant_desc',
  variant_price: 'products.price',
  proxy_time: 'products.proxy_time',
  address_family: 'products.address_family',
  egress: 'products.egress',
  traffic_gb: 'products.traffic_gb',
  mbps: 'products.mbps',
  connections: 'products.connections',
  connections_per_second: 'products.connections_per_second',
  is_active: 'products.is_active',
  server_group: 'products.server_group'
} as const satisfies Partial<Record<keyof VariantDraft, Key>>

const text = (value: string | number | boolean | readonly number[] | null): string =>
  Array.isArray(value) ? value.join(', ') : String(value ?? '')
const keys = <O extends object>(of: O) => Object.keys(of) as (keyof O)[]

function differences(before: Draft, after: Draft) {
  const own = keys(FIELDS).map(key => ({ name: '', field: FIELDS[key], was: text(before[key]), is: text(after[key]) }))
  const now = new Map(after.variants.map(variant => [variant.id, variant]))
  const old = new Map(before.variants.map(variant => [variant.id, variant]))
  const ofVariants = before.variants.flatMap(variant => {
    const next = now.get(variant.id)
    const name = variant.variant_name
    if (!next) return [{ name, field: OF_VARIANT.variant_name, was: name, is: '' }]
    return keys(OF_VARIANT).map(key => ({
      name,
      field: OF_VARIANT[key],
      was: text(variant[key]),
      is: text(next[key])
    }))
  })
  const added = after.variants
    .filter(variant => !old.has(variant.id))
    .map(({ variant_name: name }) => ({ name, field: OF_VARIANT.variant_name, was: '', is: name }))
  return [...own, ...ofVariants, ...added].filter(({ was, is }) => was !== is)
}
