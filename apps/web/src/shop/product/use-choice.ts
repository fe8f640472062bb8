import type { Product, VariantInfo } from '@netlet/contract'
import { useEffect, useState } from 'react'
import { useSearchParams } from 'react-router'
import { call } from '../../api/client.ts'
import { catalog } from '../../api/routes.ts'
import { activeVariants } from '../product-facts.ts'
import { findVariant, firstVariant, optionsOf, pick, readChoice, wholeSteps, type Options } from './choice.ts'

/** What is being ordered. `info` is the price and stock with the confirmed rules; while it stands, options are locked. */
export function useChoice(product: Product) {
  const [query] = useSearchParams()
  const variants = activeVariants(product)
  const first = firstVariant(variants)
  if (!first) throw new Error('a product without variants cannot be ordered')

  const [came] = useState(() => readChoice(query))
  const [options, setOptions] = useState<Options>(() =>
    findVariant(variants, came.options) ? came.options : optionsOf(first)
  )
  const variant = findVariant(variants, options) ?? first
  const [rules, setRules] = useState<number[]>(came.rules)
  const [info, setInfo] = useState<VariantInfo | null>(null)
  const [wanted, setWanted] = useState(came.quantity || variant.cart_step)

  // A choice that came back from the login is priced again: prices and stock may have moved meanwhile.
  useEffect(() => {
    if (came.rules.length === 0) return
    const stop = new AbortController()
    const body = { product_id: product.id, option_selected: { ...options, acl_selected: came.rules } }
    call(catalog.variantInfo, { body }, { signal: stop.signal }).then(setInfo, () => setRules([]))
    return () => stop.abort()
    // oxlint-disable-next-line react/exhaustive-deps -- once, for the choice that the address brought
  }, [])

  return {
    variant,
    options,
    rules,
    info,
    quantity: wholeSteps(wanted, variant.cart_step, info?.stock ?? variant.variant_stock),
    setQuantity: setWanted,
    pickOption: (name: keyof Options, value: string) => setOptions(pick(variants, options, name, value)),
    lock: (ids: number[], confirmed: VariantInfo) => {
      setRules(ids)
      setInfo(confirmed)
    },
    unlock: () => setInfo(null)
  }
}

export type Choice = ReturnType<typeof useChoice>
