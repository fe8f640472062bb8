import type { Product } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import { ApiError } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { activeVariants } from '../product-facts.ts'
import {
  choiceQuery,
  findVariant,
  firstVariant,
  optionsOf,
  pick,
  readChoice,
  selectionOf,
  wholeSteps,
  withChoice,
  type Options,
  type Wanted
} from './choice.ts'

/**
 * What is being ordered, kept in the address. `info` is the price and stock with the confirmed rules, asked of the server;
 * while there are any, options are locked.
 */
export function useChoice(product: Product) {
  const variants = activeVariants(product)
  const first = firstVariant(variants)
  if (!first) throw new Error('a product without variants cannot be ordered')
  const [{ options: asked, rules, quantity: said }, change] = useAddress()

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

  // What cannot be ordered any more is not asked for again; a busy server may be.
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

  const stock = info?.stock ?? variant.variant_stock
  const wanted = said || variant.cart_step
  return {
    variant,
    options,
    rules,
    info,
    check,
    /** Each rule with its price and stock; undefined until they are read. */
    offered: offered.data,
    /** Rules to begin a selection with: the confirmed ones, or the last that were. */
    suggested: rules.length > 0 ? rules : before,
    wereRefused,
    isSoldOut,
    stock,
    wanted,
    quantity: wholeSteps(wanted, variant.cart_step, stock),
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

/** What the address asks for. It is written at once and in place: back leads to the page before, not to each click. */
function useAddress(): [Wanted, (part: Partial<Wanted>) => void] {
  const [query, setQuery] = useSearchParams()
  const [wanted, setWanted] = useState(() => readChoice(query))
  const latest = useRef(wanted)
  // The router shows what was written some time later: until then it is not taken for somebody else's.
  const written = useRef<string[]>([])
  const came = choiceQuery(readChoice(query))
  const seen = useRef(came)
  useEffect(() => {
    if (came === seen.current) return
    seen.current = came
    const own = written.current.indexOf(came)
    written.current.splice(0, own + 1)
    if (own >= 0) return
    latest.current = readChoice(query)
    setWanted(latest.current)
  }, [came, query])
  const change = (part: Partial<Wanted>) => {
    const next = { ...latest.current, ...part }
    if (choiceQuery(next) === choiceQuery(latest.current)) return
    latest.current = next
    written.current.push(choiceQuery(next))
    setWanted(next)
    setQuery(withChoice(query, next), { replace: true, preventScrollReset: true })
  }
  return [wanted, change]
}
