import type { Product } from '@netlet/contract'
import { RESERVATION_MINUTES } from '@netlet/contract/limits'
import { useNavigate } from 'react-router'
import { ApiError, call } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { catalog, orders } from '../../api/routes.ts'
import { loginPath } from '../../kit/return-path.ts'
import { useSession } from '../../api/session.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/index.ts'
import { failureText } from '../../i18n/failures.ts'
import { notify } from '../../kit/notify.ts'
import { checkoutTab, type CheckoutTab } from '../../kit/payment/checkout-tab.ts'
import { keepPayment, type Pending } from '../../kit/payment/pending.ts'
import { productPath } from '../product-facts.ts'
import { choiceQuery } from './choice.ts'
import type { Choice } from './use-choice.ts'
import { useIdempotencyKey } from './use-idempotency-key.ts'

export type Ordered = { pending: Pending; blocked: boolean }

type Props = {
  product: Product
  choice: Choice
  onOrdered: (ordered: Ordered) => void
  /** No access rules were confirmed yet. */
  onRulesMissing: () => void
}

/** Places the order and leads to its payment. */
export function usePurchase({ product, choice, onOrdered, onRulesMissing }: Props) {
  const t = useT()
  const navigate = useNavigate()
  const { user } = useSession()
  const { options, rules, info, quantity } = choice

  const wanted = { product_id: product.id, quantity, option_selected: { ...options, acl_selected: rules } }
  const idempotency = useIdempotencyKey()

  const order = useMutation({
    mutationFn: (_tab: CheckoutTab) =>
      call(orders.checkout, { body: wanted }, { headers: { 'idempotency-key': idempotency.keyFor(wanted) } }),
    onSuccess: ({ checkout_url, id, order_id }, tab) => {
      idempotency.forgetKey()
      // Counted from here on, since the clock of this machine may differ from the server's.
      const deadline = Date.now() + RESERVATION_MINUTES * 60_000
      const pending = { id, orderId: order_id, checkoutUrl: checkout_url, deadline }
      keepPayment(pending)
      onOrdered({ pending, blocked: !tab.open(checkout_url) })
      void refresh(orders.list, catalog.products)
    },
    onError: (error, tab) => {
      // A refusal placed nothing. After a lost reply an order may have been placed: asked again, it is that one.
      if (error instanceof ApiError && error.kind === 'refused') idempotency.forgetKey()
      tab.close()
      notify('bad', failureText(error, t('order.failed')))
      void refresh(catalog.products)
    }
  })

  const start = () => {
    if (!info) return onRulesMissing()
    if (quantity > info.stock) return notify('bad', t('order.outOfStock'))
    if (!user) {
      const path = `${productPath(product)}&${choiceQuery({ options, rules, quantity })}`
      return void navigate(loginPath(path))
    }
    if (!order.isOut()) order.mutate(checkoutTab(t('pay.opening')))
  }
  return { start, pending: order.isPending }
}
