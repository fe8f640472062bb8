import { GraphQLError } from 'graphql'
import { toCents, toMoney } from '../kit/http.ts'
import {
  financialStatus,
  isManual,
  leftOf,
  partsOf,
  paymentsOf,
  refundedBy,
  refundedCents,
  statusOf
} from './order-money.ts'
import {
  type OrderDispute,
  type OrderPayment,
  type OrderRefund,
  type PlatformOrder,
  type PlatformState,
  type RefundPart,
  productsOf
} from './state.ts'

const money = (amount: string, currencyCode: string) => ({
  presentmentMoney: { amount, currencyCode },
  shopMoney: { amount, currencyCode }
})
const payment = (order: PlatformOrder, { id, gateway, amount }: OrderPayment) => ({
  id: gid('OrderTransaction', id),
  kind: 'SALE',
  status: 'SUCCESS',
  gateway,
  manualPaymentGateway: isManual({ gateway }),
  amountSet: money(amount, order.currency),
  parentTransaction: null
})
const paymentBy = (order: PlatformOrder, id: string) => {
  const found = paymentsOf(order).find(one => one.id === id)
  return found ? payment(order, found) : null
}
/** The transaction of a part; of one that was pending, the pending one and its result. */
function givenBack(order: PlatformOrder, of: OrderRefund, { id, parentId, amount, resultId }: RefundPart) {
  const status = statusOf(of).toUpperCase()
  const first = {
    id: gid('OrderTransaction', id),
    kind: 'REFUND',
    status: resultId === undefined ? status : 'PENDING',
    gateway: paymentBy(order, parentId)?.gateway ?? null,
    manualPaymentGateway: paymentBy(order, parentId)?.manualPaymentGateway ?? false,
    amountSet: money(amount, order.currency),
    parentTransaction: paymentBy(order, parentId)
  }
  if (resultId === undefined) return [first]
  return [first, { ...first, id: gid('OrderTransaction', resultId), status, parentTransaction: first }]
}
const transactionsOf = (order: PlatformOrder, made: OrderRefund) =>
  partsOf(order, made).flatMap(part => givenBack(order, made, part))

/** Orders and refunds in the shape of the schema's types. */
export function presentOrders(state: PlatformState) {
  const refund = (order: PlatformOrder, one: OrderRefund) => ({
    __typename: 'Refund',
    id: gid('Refund', one.id),
    totalRefundedSet: money(refundedBy(one), order.currency),
    transactions: (args: PageArgs) => connection(transactionsOf(order, one), args, found => found)
  })
  const order = (one: PlatformOrder) => ({
    __typename: 'Order',
    id: gid('Order', one.id),
    name: `#${one.number}`,
    number: one.number,
    email: one.email,
    note: one.note === '' ? null : one.note,
    tags: one.tags,
    createdAt: one.createdAt,
    updatedAt: one.updatedAt,
    cancelledAt: one.cancelledAt,
    currencyCode: one.currency,
    presentmentCurrencyCode: one.currency,
    netPaymentSet: money(toMoney(toCents(one.totalPrice) - refundedCents(one)), one.currency),
    displayFinancialStatus: financialStatus(one),
    test: one.test,
    lineItems: (args: PageArgs) =>
      connection(one.lines, args, line => ({
        id: gid('LineItem', line.id),
        title: line.title,
        quantity: line.quantity,
        currentQuantity: line.quantity,
        // A deleted product no longer has variants.
        variant: productsOf(state).some(({ variants }) => variants.some(({ id }) => id === line.variantId))
          ? { id: gid('ProductVariant', line.variantId) }
          : null,
        originalUnitPriceSet: money(line.price, one.currency)
      })),
    refunds: ({ first }: { first?: number }) => one.refunds.slice(0, first).map(made => refund(one, made)),
    disputes: (one.disputes ?? []).map(({ id, initiatedAs, status }) => ({
      id: gid('OrderDisputeSummary', id),
      initiatedAs: initiatedAs.toUpperCase(),
      status: status.toUpperCase()
    })),
    transactions: ({ first }: { first?: number }) =>
      [
        ...paymentsOf(one).map(paid => payment(one, paid)),
        ...one.refunds.flatMap(made => transactionsOf(one, made))
      ].slice(0, first),
    suggestedRefund: {
      suggestedTransactions: paymentsOf(one)
        .filter(paid => leftOf(one, paid) > 0)
        .map(paid => ({
          parentTransaction: payment(one, paid),
          maximumRefundableSet: money(toMoney(leftOf(one, paid)), one.currency)
        }))
    },
    discountCodes: one.discounts.map(({ code }) => code),
    customAttributes: Object.entries(one.attributes).map(([key, value]) => ({ key, value })),
    fullyPaid: true,
    totalReceivedSet: money(one.authorized ? '0.00' : one.totalPrice, one.currency),
    subtotalPriceSet: money(one.totalPrice, one.currency),
    totalDiscountsSet: money(one.totalDiscounts, one.currency)
  })

  /** A dispute in the shop's list, which has more of it than its order. */
  const dispute = (of: PlatformOrder, one: OrderDispute) => ({
    id: gid('ShopifyPaymentsDispute', one.id),
    type: one.type.toUpperCase(),
    status: one.status.toUpperCase(),
    finalizedOn: one.finalizedOn,
    amount: { amount: one.amount, currencyCode: of.currency },
    order: order(of)
  })

  return { order, refund, dispute }
}

export type PageArgs = { first?: number; after?: string | null }
export type UserError = { field: string[]; message: string }

export const gid = (kind: string, id: string) => `gid://shopify/${kind}/${id}`
export const idOf = (id: string, kind: string): string | null => {
  const prefix = `gid://shopify/${kind}/`
  return id.startsWith(prefix) ? id.slice(prefix.length) : null
}

/** One page of a list. The cursor is the index of its last row, because no row is deleted while a test walks. */
export function connection<T, U>(all: readonly T[], { first, after }: PageArgs, present: (row: T) => U) {
  if (first === undefined || first < 1 || first > 250)
    throw new GraphQLError('you must provide `first` between 1 and 250', { extensions: { code: 'BAD_REQUEST' } })
  const start = after ? Number(Buffer.from(after, 'base64url').toString()) + 1 : 0
  if (!Number.isInteger(start)) throw new GraphQLError('Invalid cursor for current pagination sort.')
  const rows = all.slice(start, start + first)
  const last = start + rows.length - 1
  return {
    nodes: rows.map(present),
    pageInfo: {
      hasNextPage: last + 1 < all.length,
      endCursor: rows.length > 0 ? Buffer.from(String(last)).toString('base64url') : null
    }
  }
}
