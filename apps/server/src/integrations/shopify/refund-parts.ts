import { z } from 'zod'
import { Money } from './shapes.ts'
import { Name } from '../foreign-texts.ts'

const Amount = z.object({ amount: Money })
export const BothMoneys = z.object({ shopMoney: Amount, presentmentMoney: Amount })
export type BothMoneys = z.infer<typeof BothMoneys>

const Reference = z.object({ id: Name }).nullish()

/** A transaction's own id, and that of the one that it follows. */
export const Linked = z.object({ id: Name, parentTransaction: Reference })

/** A pending transaction stays pending. Its result is a later one, whose parent it is: leaves out the parents. */
export function latestOf<Transaction extends z.infer<typeof Linked>>(
  transactions: readonly Transaction[]
): Transaction[] {
  const parents = new Set(transactions.map(one => one.parentTransaction?.id))
  return transactions.filter(({ id }) => !parents.has(id))
}

/** An order's payments and refunds, and the order and limits in which the platform would refund them. */
export const OrderMoney = z.object({
  transactions: z.array(
    Linked.extend({
      kind: Name,
      status: Name,
      gateway: Name.nullable(),
      manualPaymentGateway: z.boolean().optional(),
      amountSet: BothMoneys.optional()
    })
  ),
  suggestedRefund: z
    .object({
      suggestedTransactions: z.array(
        z.object({ parentTransaction: Reference, maximumRefundableSet: BothMoneys.nullish() })
      )
    })
    .nullish()
})
type OrderMoney = z.infer<typeof OrderMoney>
type Transaction = OrderMoney['transactions'][number]

/** A payment of an order that can be refunded. `amountSet` is missing if the platform does not report it. */
export type Payment = Pick<Transaction, 'id' | 'amountSet'> & { gateway: string }

/** The completed payments. A pending or only authorised one cannot be refunded. */
export const paymentsOf = ({ transactions }: OrderMoney): Payment[] =>
  transactions.flatMap(({ id, kind, status, gateway, amountSet }) =>
    (kind === 'SALE' || kind === 'CAPTURE') && status === 'SUCCESS' && gateway ? [{ id, gateway, amountSet }] : []
  )

/** In thousandths, because no currency has a smaller unit. */
const units = (amount: string): number => Math.round(Number(amount) * 1000)

/** The decimals of a currency. */
export const decimalsOf = (currency: string): number =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2

/**
 * Spreads an amount over the payments of an order in the platform's order, each up to its limit. So gift cards, store
 * credit and cards get back what each of them paid.
 * @param asked in the buyer's currency, as `currency`
 */
export function spreadOver(
  order: OrderMoney,
  { asked, currency }: { asked: string; currency: string }
): { parentId: string; gateway: string; amount: string }[] {
  const suggested = order.suggestedRefund?.suggestedTransactions ?? []
  const places = new Map(suggested.map((one, at) => [one.parentTransaction?.id, { at, one }]))
  const placeOf = ({ id }: Payment) => places.get(id)?.at ?? suggested.length
  const payments = paymentsOf(order).toSorted((a, b) => placeOf(a) - placeOf(b))
  const parts: { payment: Payment; units: number }[] = []
  let open = units(asked)
  for (const payment of payments) {
    const most = places.get(payment.id)?.one.maximumRefundableSet
    const part = Math.min(open, leftOf(order, payment), most ? units(most.presentmentMoney.amount) : Infinity)
    if (part > 0) parts.push({ payment, units: part })
    open -= Math.max(0, part)
  }
  // The amount exceeds the payments, so the platform refuses it.
  if (open > 0 && payments[0]) {
    const last = parts.pop() ?? { payment: payments[0], units: 0 }
    parts.push({ ...last, units: last.units + open })
  }
  const text = (part: number) => (part === units(asked) ? asked : (part / 1000).toFixed(decimalsOf(currency)))
  return parts.map(({ payment, units }) => ({
    parentId: payment.id,
    gateway: payment.gateway,
    amount: text(units)
  }))
}

/** A payment's amount less its refunds, including pending ones. */
function leftOf({ transactions }: OrderMoney, { id, amountSet }: Payment): number {
  if (!amountSet) return Infinity
  const hasFailed = ({ status }: Transaction) => status === 'FAILURE' || status === 'ERROR'
  const resultOf = (pending: Transaction) => transactions.find(one => one.parentTransaction?.id === pending.id)
  const back = transactions.filter(
    one => one.kind === 'REFUND' && one.parentTransaction?.id === id && !hasFailed(resultOf(one) ?? one)
  )
  return back.reduce(
    (left, one) => left - units(one.amountSet?.presentmentMoney.amount ?? '0'),
    units(amountSet.presentmentMoney.amount)
  )
}
