import { useT, type Key } from '../../i18n/admin.ts'
import type { Clash, Path, Taken } from '../../kit/merge.ts'
import { ChangedMeanwhile, type T } from '../kit/index.ts'
import type { Draft, TranslationDraft, VariantDraft } from './draft.ts'

type Named = readonly { id: number; name: string }[]
type Props = {
  taken: readonly Taken[]
  clashes: readonly Clash[]
  /** Drafts that contain the variants' names. */
  drafts: readonly Draft[]
  names: { tags: Named; collections: Named; groups: Named }
  onTake: (clash: Clash) => void
}

export function StaleNotice({ taken, clashes, drafts, names, onTake }: Props) {
  const t = useT()
  const variantOf = (id: string | undefined) =>
    drafts.flatMap(({ variants }) => variants).find(one => one.shopify_variant_id === id)?.variant_name ?? ''
  return (
    <ChangedMeanwhile
      // Hide values that cannot be edited, such as the platform's option names.
      taken={taken.filter(({ path }) => wordOf(t, path) !== undefined)}
      clashes={clashes}
      labelOf={path => {
        const word = wordOf(t, path) ?? ''
        return path[0] === 'variants' ? `${variantOf(path[1])}, ${word}` : word
      }}
      told={(path, value) => text(t, path, value, names)}
      onTake={onTake}
    />
  )
}

const FIELDS = {
  product_name: 'products.product_name',
  product_desc: 'products.product_desc',
  active: 'products.active',
  product_collections: 'products.collection',
  product_tags: 'products.tags'
} as const satisfies Partial<Record<keyof Draft, Key>>
const OF_VARIANT = {
  variant_name: 'products.variant',
  variant_desc: 'products.variant_desc',
  variant_price: 'products.price',
  cart_step: 'products.cart_step',
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
const OF_TRANSLATION = {
  name: 'products.product_name',
  desc: 'products.product_desc'
} as const satisfies Partial<Record<keyof TranslationDraft, Key>>

/** The label of a draft's value; undefined if it cannot be edited. */
function wordOf(t: T, [field = '', part, inner]: Path): string | undefined {
  const known = (keys: Readonly<Record<string, Key>>, name: string) =>
    Object.hasOwn(keys, name) ? t(keys[name] as Key) : undefined
  if (field === 'variants') return known(OF_VARIANT, inner ?? 'variant_name')
  if (field !== 'translation') return known(FIELDS, field)
  const word = inner ?? known(OF_TRANSLATION, part ?? '')
  return word && t('form.inChinese', { field: word })
}

function text(t: T, path: Path, value: unknown, { tags, collections, groups }: Props['names']): string {
  const nameIn = (named: Named, id: unknown) => named.find(one => one.id === id)?.name ?? String(id)
  const field = path.at(-1)
  if (typeof value === 'boolean') return t(value ? 'list.yes' : 'list.no')
  if (Array.isArray(value)) return value.map(id => nameIn(field === 'product_tags' ? tags : collections, id)).join(', ')
  if (field === 'server_group' && value !== null) return nameIn(groups, value)
  if (field === 'address_family') return t(`products.family.${String(value)}` as Key)
  if (field === 'egress') return t(`products.egress.${String(value)}` as Key)
  // A whole variant.
  if (typeof value === 'object' && value !== null) return (value as VariantDraft).variant_name
  return typeof value === 'string' ? value : ''
}
