import { NativeSelect, TextInput } from '@mantine/core'
import type { OfferedRule, Product } from '@netlet/contract'
import { useMemo, useState } from 'react'
import { useLanguage } from '../../i18n/language.ts'
import { useNames } from '../../i18n/names.ts'
import { useT } from '../../i18n/product.ts'
import { FilterBar } from '../../kit/filter-bar.tsx'
import { numberIn, useAddress } from '../../kit/use-address.ts'
import { readChoice } from './choice.ts'
import { amountIn, placesOf, PRODUCT_SORTS, type ProductFilters } from './filter-products.ts'

const CLEARED = { place: null, acl: null, most: null, n: null }
/** Products shown at first, and added by "Show more": a slow phone draws so many at once. */
const PORTION = 48

/** Twice as many as a large catalogue has: 500 products with 5,000 plans are 300 kB compressed. */
export const MOST_PRODUCTS = 500

/** The filters and sort of the products, kept in the address. Each choice is a step back. */
export function useShelfFilters() {
  const { query, change } = useAddress()
  const filters = useMemo(
    (): ProductFilters => ({
      place: query.get('place') ?? '',
      rules: readChoice(query).rules,
      most: amountIn(query.get('most') ?? ''),
      sort: PRODUCT_SORTS.find(one => one === query.get('sort')) ?? 'featured'
    }),
    [query]
  )
  const active = [filters.place, filters.most, filters.rules.length].filter(Boolean).length
  const shown = numberIn(query, 'n', MOST_PRODUCTS) ?? PORTION
  return {
    filters,
    active,
    /** How many of the products are shown. */
    shown,
    showMore: () => change({ n: shown + PORTION }),
    set: (name: 'place' | 'acl' | 'most' | 'sort', value: string) =>
      change({ [name]: value || null, n: null }, { push: true }),
    clear: () => change(CLEARED, { push: true })
  }
}

type Props = {
  shelf: ReturnType<typeof useShelfFilters>
  products: readonly Product[]
  offered: readonly OfferedRule[]
}

export function ShelfFilters({ shelf: { filters, active, set, clear }, products, offered }: Props) {
  const t = useT()
  const names = useNames()
  const language = useLanguage()
  const places = useMemo(() => placesOf(products, language), [products, language])
  const known = places.some(({ value }) => value === filters.place)
  return (
    <FilterBar
      label={t('shelf.title')}
      first={
        <NativeSelect
          size="sm"
          aria-label={t('shelf.sort')}
          value={filters.sort}
          onChange={({ currentTarget: { value } }) => set('sort', value === 'featured' ? '' : value)}
          data={PRODUCT_SORTS.map(value => ({ value, label: t(`shelf.sort.${value}`) }))}
        />
      }
      active={active}
      onClear={clear}
    >
      <NativeSelect
        size="sm"
        aria-label={t('shelf.place')}
        value={filters.place}
        onChange={event => set('place', event.currentTarget.value)}
        data={[
          { value: '', label: t('shelf.anyPlace') },
          ...(filters.place && !known ? [{ value: filters.place, label: filters.place }] : []),
          ...places
        ]}
      />
      <NativeSelect
        size="sm"
        aria-label={t('shelf.rule')}
        value={filters.rules.join()}
        onChange={event => set('acl', event.currentTarget.value)}
        data={[
          { value: '', label: t('shelf.anyRule') },
          // A link may name several rules, or one that is no longer sold.
          ...(filters.rules.length > 0 && !offered.some(({ acl_id }) => String(acl_id) === filters.rules.join())
            ? [{ value: filters.rules.join(), label: t('acl.chosen', { count: filters.rules.length }) }]
            : []),
          ...offered.map(rule => ({ value: String(rule.acl_id), label: names.rule(rule) }))
        ]}
      />
      <MostField value={filters.most} onChange={most => set('most', most)} />
    </FilterBar>
  )
}

/** Applies on Enter or when the field is left, because each letter would be another price. */
function MostField({ value, onChange }: { value: string; onChange: (amount: string) => void }) {
  const t = useT()
  const [typed, setTyped] = useState(value)
  const [known, setKnown] = useState(value)
  if (known !== value) {
    setKnown(value)
    setTyped(value)
  }
  const wrong = typed.trim() !== '' && amountIn(typed) === ''
  const apply = () => {
    if (!wrong && amountIn(typed) !== value) onChange(amountIn(typed))
  }
  return (
    <TextInput
      size="sm"
      w="11rem"
      maw="100%"
      inputMode="decimal"
      aria-label={t('shelf.most')}
      placeholder={t('shelf.most')}
      leftSection="$"
      maxLength={9}
      error={wrong}
      value={typed}
      onChange={event => setTyped(event.currentTarget.value)}
      onBlur={apply}
      onKeyDown={event => {
        if (event.key === 'Enter') apply()
      }}
    />
  )
}
