import { toCents } from '../kit/money.ts'
import type { PlatformOrder, PlatformProduct } from './state.ts'

// What the platform puts into its webhooks: REST's field names, numbers as ids, strings as money.

export function orderPayload(order: PlatformOrder, base: string) {
  const customerId = order.customerId ? Number(order.customerId) : 740000000000 + order.number
  return {
    id: Number(order.id),
    admin_graphql_api_id: `gid://shopify/Order/${order.id}`,
    checkout_token: order.checkoutToken,
    confirmed: true,
    contact_email: order.email,
    created_at: order.createdAt,
    processed_at: order.createdAt,
    updated_at: order.updatedAt,
    cancelled_at: order.cancelledAt,
    currency: order.currency,
    presentment_currency: order.currency,
    email: order.email,
    financial_status: financialStatus(order).toLowerCase(),
    fulfillment_status: null,
    name: `#${order.number}`,
    note: order.note === '' ? null : order.note,
    note_attributes: Object.entries(order.attributes).map(([name, value]) => ({ name, value })),
    number: order.number - 1000,
    order_number: order.number,
    order_status_url: `${base}/checkouts/${order.checkoutToken}/thank-you`,
    tags: order.tags.join(', '),
    test: order.test,
    token: order.checkoutToken,
    total_line_items_price: order.linesPrice,
    total_discounts: order.totalDiscounts,
    subtotal_price: order.totalPrice,
    total_tax: '0.00',
    total_price: order.totalPrice,
    current_total_price: order.totalPrice,
    taxes_included: false,
    discount_codes: order.discounts,
    line_items: order.lines.map(line => ({
      id: Number(line.id),
      admin_graphql_api_id: `gid://shopify/LineItem/${line.id}`,
      name: `${line.title} - ${line.variantTitle}`,
      title: line.title,
      variant_title: line.variantTitle,
      product_id: Number(line.productId),
      variant_id: Number(line.variantId),
      product_exists: true,
      quantity: line.quantity,
      current_quantity: line.quantity,
      price: line.price,
      total_discount: '0.00',
      requires_shipping: false,
      taxable: false
    })),
    customer: { id: customerId, email: order.email, admin_graphql_api_id: `gid://shopify/Customer/${customerId}` }
  }
}

/** What was given back of an order so far, in cents. */
export const refundedCents = (order: PlatformOrder): number =>
  order.refunds.reduce((sum, { amount }) => sum + toCents(amount), 0)

export function financialStatus(order: PlatformOrder): 'PAID' | 'PARTIALLY_REFUNDED' | 'REFUNDED' {
  const cents = refundedCents(order)
  if (cents === 0) return 'PAID'
  return cents < toCents(order.totalPrice) ? 'PARTIALLY_REFUNDED' : 'REFUNDED'
}

export function refundPayload(order: PlatformOrder, refund: PlatformOrder['refunds'][number]) {
  return {
    id: Number(refund.id),
    admin_graphql_api_id: `gid://shopify/Refund/${refund.id}`,
    order_id: Number(order.id),
    created_at: refund.createdAt,
    processed_at: refund.createdAt,
    note: null,
    refund_line_items: [],
    transactions: [
      {
        id: Number(refund.id),
        order_id: Number(order.id),
        kind: 'refund',
        status: 'success',
        gateway: GATEWAY,
        amount: refund.amount,
        currency: order.currency,
        test: order.test
      }
    ]
  }
}

export const GATEWAY = 'bogus'

export type Dispute = { id: string; type: 'chargeback' | 'inquiry'; status: string; amount: string }

/** States in which a dispute is decided. */
const FINAL = new Set(['won', 'lost', 'accepted', 'charge_refunded'])

export function disputePayload(order: PlatformOrder, { id, type, status, amount }: Dispute, at: string) {
  return {
    id: Number(id),
    order_id: Number(order.id),
    type,
    amount,
    currency: order.currency,
    reason: 'fraudulent',
    network_reason_code: '4837',
    status,
    initiated_at: at,
    finalized_on: FINAL.has(status) ? at : null
  }
}

export function productPayload(product: PlatformProduct) {
  return {
    id: Number(product.id),
    admin_graphql_api_id: `gid://shopify/Product/${product.id}`,
    title: product.title,
    body_html: product.descriptionHtml,
    status: product.status.toLowerCase(),
    tags: product.tags.join(', '),
    created_at: product.createdAt,
    updated_at: product.updatedAt,
    options: product.optionNames.map((name, index) => ({
      name,
      position: index + 1,
      values: optionValues(product, index)
    })),
    // All of them, those beyond the ones that are described too.
    variant_gids: product.variants.map(({ id }) => ({
      admin_graphql_api_id: `gid://shopify/ProductVariant/${id}`,
      updated_at: product.updatedAt
    })),
    variants: product.variants.slice(0, 100).map((variant, index) => ({
      id: Number(variant.id),
      admin_graphql_api_id: `gid://shopify/ProductVariant/${variant.id}`,
      product_id: Number(product.id),
      title: variant.title,
      price: variant.price,
      position: index + 1,
      option1: variant.options[0] ?? null,
      option2: variant.options[1] ?? null,
      option3: variant.options[2] ?? null
    }))
  }
}

/** The values that an option takes among the variants, in the order of their first use. */
export const optionValues = (product: PlatformProduct, index: number): string[] => [
  ...new Set(product.variants.map(variant => variant.options[index]).filter(value => value !== undefined))
]
