import type { Product } from '@netlet/contract'
import { Button } from '@mantine/core'
import { useT, type Key } from '../../i18n/admin.ts'
import { draftOf, type Draft, type TranslationDraft, type VariantDraft } from './draft.ts'

type Props = { before: Product; after: Product; onTake: () => void }

/** What somebody else changed of a product since its form was opened. */
export function StaleNotice({ before, after, onTake }: Props) {
  const t = useT()
  const lines = differences(draftOf(before), draftOf(after)).map(({ name, field, inChinese, was, is }) => {
    const word = inChinese ? t('form.inChinese', { field: t(field) }) : t(field)
    return t('form.staleField', { field: name ? `${name}, ${word}` : word, was: was || '–', is: is || '–' })
  })
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

const OF_TRANSLATION = {
  name: 'products.product_name',
  desc: 'products.product_desc',
  words: 'products.words'
} as const satisfies Record<keyof TranslationDraft, Key>
const wordsText = (words: Record<string, string>) =>
  Object.entries(words)
    .map(pair => pair.join(': '))
    .toSorted()
    .join(', ')

/** `name`: of the variant that it is about. */
type Line = { name: string; field: Key; inChinese?: boolean; was: string; is: string }

function differences(before: Draft, after: Draft): Line[] {
  const translated = keys(OF_TRANSLATION).map(key => {
    const [was, is] = [before, after].map(({ translation }) =>
      key === 'words' ? wordsText(translation.words) : translation[key]
    ) as [string, string]
    return { name: '', field: OF_TRANSLATION[key], was, is, inChinese: true }
  })
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
  return [...own, ...translated, ...ofVariants, ...added].filter(({ was, is }) => was !== is)
}
