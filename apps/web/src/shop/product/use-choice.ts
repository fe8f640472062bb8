import type { Product } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { ApiError } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { catalog, orders } from '../../api/routes.ts'
import { useAddress } from '../../kit/use-address.ts'
import { activeVariants } from '../product-facts.ts'
import {
  findVariant,
  firstVariant,
  optionsOf,
  parametersOf,
  pick,
  readChoice,
  selectionOf,
  wholeSteps,
  type Options,
  type Wanted
} from './choice.ts'

/**
 * What is being ordered, kept in the address. `info` is the server's price and stock with the confirmed rules. Options
 * are locked while rules are confirmed.
 */
export function useChoice(product: Product) {
  const variants = activeVariants(product)
  const first = firstVariant(variants)
  if (!first) throw new Error('a product without variants cannot be ordered')
  const { query, change: changeAddress } = useAddress()
  const { options: asked, rules, quantity: said } = useMemo(() => readChoice(query), [query])
  // Replace the history entry, so that Back leaves the page.
  const change = (part: Partial<Wanted>) => changeAddress(parametersOf(part))

  const variant = findVariant(variants, asked) ?? first
  const options = optionsOf(variant)
  const isSoldOut = variant.variant_stock < variant.cart_step
  const selection = selectionOf(product, options, rules)
  const check = useQuery({ ...read(catalog.variantInfo, selection), enabled: rules.length > 0 })
  const info = rules.length > 0 ? (check.data ?? null) : null
  const offered = useQuery({
    ...read(catalog.ruleStock, { body: { product_id: product.id, option_selected: options } }),
    enabled: !isSoldOut
  })

  // Do not retry a choice that can no longer be ordered. A busy server (429 and above) may be retried.
  const refused = check.error instanceof ApiError && check.error.kind === 'refused' && check.error.status < 429
  const [wereRefused, setRefused] = useState(false)
  const [before, setBefore] = useState<number[]>([])
  useEffect(() => {
    if (!refused) return
    setRefused(true)
    setBefore(rules)
    change({ rules: [] })
    // oxlint-disable-next-line react/exhaustive-deps -- once for each refusal
  }, [refused])

  // Without the limit, the server refuses orders that are too large.
  const { data: limits } = useQuery({ ...read(orders.limits), staleTime: Infinity })
  const stock = info?.stock ?? variant.variant_stock
  const limit = limits?.addresses ?? Infinity
  const most = Math.min(stock, limit)
  const wanted = said || variant.cart_step
  return {
    variant,
    options,
    rules,
    info,
    check,
    /** Each rule with price and stock; undefined while loading. */
    offered: offered.data,
    /** Rules to preselect: the confirmed ones, or the last confirmed. */
    suggested: rules.length > 0 ? rules : before,
    wereRefused,
    isSoldOut,
    stock,
    /** The most addresses of one order, for any plan. */
    limit,
    /** The most addresses of this order. */
    most,
    wanted,
    quantity: wholeSteps(wanted, variant.cart_step, most),
    setQuantity: (quantity: number) => change({ quantity }),
    pickOption: (name: keyof Options, value: string) => change({ options: pick(variants, options, name, value) }),
    lock: (ids: number[]) => {
      setRefused(false)
      change({ options, rules: ids })
    },
    unlock: () => {
      setBefore(rules)
      change({ rules: [] })
    }
  }
}

export type Choice = ReturnType<typeof useChoice>
