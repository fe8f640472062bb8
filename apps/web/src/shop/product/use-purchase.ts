import type { BodyOf, Product, RuleStock } from '@netlet/contract'
import { RESERVATION_MINUTES } from '@netlet/contract/limits'
import { onlineManager } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { ApiError, call } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { catalog, orders } from '../../api/routes.ts'
import { useSession } from '../../api/session.ts'
import { useIdempotencyKey, useMutation } from '../../api/use-mutation.ts'
import type { Language } from '../../i18n/language.ts'
import { type Names, namesIn, useNames } from '../../i18n/names.ts'
import { type Key, useT } from '../../i18n/product.ts'
import { checkoutTab, type CheckoutTab, keepPayment, type Pending } from '../../kit/payment/pending.ts'
import { loginPath } from '../../kit/return-path.ts'
import { productPath } from '../stock.tsx'
import { type Choice, choiceQuery } from './choice.ts'
import { useUnpaid } from './use-unpaid.ts'
import { failureText } from '../../i18n/failures.ts'
import type { Translate } from '../../i18n/words.ts'
import { numberText } from '../../kit/money.ts'

export type Ordered = { pending: Pending; blocked: boolean }

/** Milliseconds for which an order's addresses are held. */
const HELD = RESERVATION_MINUTES * 60_000

type Order = {
  tab: CheckoutTab
  body: BodyOf<typeof orders.checkout>
  bought: Omit<Pending['bought'], 'amount' | 'discount'>
}

type Props = {
  product: Product
  choice: Choice
  onOrdered: (ordered: Ordered) => void
  /** Called if no access rules are confirmed. */
  onRulesMissing: () => void
}

export function usePurchase({ product, choice, onOrdered, onRulesMissing }: Props) {
  const t = useT()
  const names = useNames()
  const navigate = useNavigate()
  const { user } = useSession()
  const { variant, options, rules, info, check, quantity } = choice

  const calledIn = (language: Language) => {
    const { product: nameOf, word, rule: ruleName } = namesIn(language)
    const ruleOf = (id: number) => choice.offered?.find(rule => rule.acl_id === id) ?? { acl_name: `#${id}` }
    const product_name = nameOf(product)
    const isPlain = variant.variant_name === product.product_name
    return {
      product_name,
      variant_name: isPlain ? product_name : word(product, variant.variant_name),
      acl_names: rules.map(id => ruleName(ruleOf(id)))
    }
  }
  const wanted = { product_id: product.id, quantity, option_selected: { ...options, acl_selected: rules } }
  const asked = JSON.stringify(wanted)
  const idempotency = useIdempotencyKey()
  const { unpaid, looking } = useUnpaid({ product: product.id, variant: variant.id, rules, quantity })
  /** The id of an offered unpaid order. It counts only while that order matches the choice and can be paid. */
  const [offered, setOffered] = useState<number | null>(null)
  const [failure, setFailure] = useState<{ error: unknown; asked: string } | null>(null)

  // The variables hold the choice at the time of the order, because it may change during the call.
  const order = useMutation({
    mutationFn: ({ body }: Order) =>
      call(orders.checkout, { body }, { headers: { 'idempotency-key': idempotency.keyFor(body) } }),
    onSuccess: ({ checkout_url, id, order_id, expires_at, amount, discount }, { tab, bought }) => {
      const deadline = deadlineOf(expires_at, idempotency.since(), Date.now())
      idempotency.forgetKey()
      const paid = { ...bought, amount, discount }
      const pending = { id, orderId: order_id, checkoutUrl: checkout_url, deadline, bought: paid }
      keepPayment(pending)
      onOrdered({ pending, blocked: !tab.open(checkout_url) })
      void refresh(orders.list, catalog.products)
    },
    onError: (error, { tab, body }) => {
      // A refusal placed nothing. If the reply was lost, an order may exist, and the same key returns it.
      if (error instanceof ApiError && error.kind === 'refused') idempotency.forgetKey()
      tab.close()
      setFailure({ error, asked: JSON.stringify(body) })
      void refresh(catalog.products, catalog.ruleStock, catalog.variantInfo, orders.limits, orders.list)
    }
  })

  const start = () => {
    if (rules.length === 0) return onRulesMissing()
    // Do not open a tab for an order that cannot be placed.
    if (!onlineManager.isOnline()) return setFailure({ error: new ApiError('network', ''), asked })
    if (!info) return void check.refetch()
    if (!user) {
      const path = `${productPath(product)}&${choiceQuery({ options, rules, quantity })}`
      return void navigate(loginPath(path))
    }
    if (order.isOut()) return
    if (unpaid) return setOffered(unpaid.order.id)
    place()
  }

  const place = () => {
    setOffered(null)
    setFailure(null)
    const bought = {
      ...calledIn('en'),
      translations: { 'zh-CN': calledIn('zh-CN') },
      quantity
    }
    order.mutate({ tab: checkoutTab(t('pay.opening')), body: wanted, bought })
  }
  return {
    start,
    pending: order.isPending || looking,
    offer:
      unpaid?.order.id !== offered
        ? null
        : {
            pending: unpaid.pending,
            /** The button is itself a link to the checkout. */
            onPay: () => {
              setOffered(null)
              keepPayment(unpaid.pending)
              onOrdered({ pending: unpaid.pending, blocked: false })
            },
            onAnother: () => {
              // The key of a lost reply may belong to the offered order.
              idempotency.forgetKey()
              place()
            },
            onClose: () => setOffered(null)
          },
    /** Why the current choice was not ordered. */
    problem: failure?.asked === asked ? orderFailureText(t, failure.error, names, choice.offered) : null
  }
}

/**
 * When an order's addresses are released, by this machine's clock: the server's time, limited to what is possible given
 * when we asked. A repeated request returns the first reply, and clocks differ.
 */
export const deadlineOf = (expiresAt: string, askedAt: number, now: number): number =>
  Math.min(Math.max(Date.parse(expiresAt), askedAt + HELD), now + HELD)

type T = Translate<Record<Key, string>>

type Short = Pick<RuleStock, 'acl_name' | 'stock' | 'translations'>

/** 'Video (8 free), Social (16 free)' */
export const shortRules = (t: T, rules: readonly Short[], names: Names): string =>
  rules.map(rule => t('order.shortRule', { name: names.rule(rule), stock: numberText(rule.stock) })).join(', ')

/**
 * Why an order was not placed; if stock is short, for which rules, or in total.
 * @param offered the rules as the shop lists them
 */
function orderFailureText(t: T, error: unknown, names: Names, offered: readonly RuleStock[] = []): string {
  const { reason, short, stock } = error instanceof ApiError ? error.refusal : {}
  if (reason !== 'out_of_stock') return failureText(error, t('order.failed'))
  const listed = short?.map(rule => ({ ...offered.find(one => one.acl_id === rule.acl_id), ...rule }))
  if (listed?.length) return t('order.short', { rules: shortRules(t, listed, names) })
  return stock === undefined ? t('order.outOfStock') : t('order.shortTogether', { stock: numberText(stock) })
}
