import { toCents, toMoney } from '../kit/http.ts'
import { financialStatus, isManual, partsOf, paymentsOf, refundedCents, statusOf } from './order-money.ts'
import type { OrderDispute, OrderRefund, PlatformOrder } from './state.ts'

// Payloads of an order's webhooks: REST's field names, ids as numbers, money as strings. The schemas that
// payloads.test.ts reads determine the fields.

const MADE_BY = 'Netlet stand-in'
const NO_MONEY = '0.00'

const both = (amount: string, currency_code: string) => ({
  shop_money: { amount, currency_code },
  presentment_money: { amount, currency_code }
})

const ADDRESS = {
  first_name: 'Sample',
  last_name: 'Buyer',
  name: 'Sample Buyer',
  company: null,
  address1: '1 Sample Street',
  address2: null,
  city: 'Ottawa',
  province: 'Ontario',
  province_code: 'ON',
  country: 'Canada',
  country_code: 'CA',
  zip: 'K1A 0A1',
  phone: ''
}

/** An order in its current state: what was paid, and what is left. */
export function orderPayload(order: PlatformOrder, base: string) {
  const { currency, totalPrice, totalDiscounts, linesPrice } = order
  const left = toMoney(toCents(totalPrice) - refundedCents(order))
  const address = { ...ADDRESS, latitude: null, longitude: null }
  return {
    id: Number(order.id),
    admin_graphql_api_id: `gid://shopify/Order/${order.id}`,
    app_id: null,
    name: `#${order.number}`,
    number: order.number - 1000,
    order_number: order.number,
    confirmation_number: null,
    token: order.checkoutToken,
    checkout_token: order.checkoutToken,
    cart_token: null,
    order_status_url: `${base}/checkouts/${order.checkoutToken}/thank-you`,
    created_at: order.createdAt,
    processed_at: order.createdAt,
    updated_at: order.updatedAt,
    closed_at: null,
    cancelled_at: order.cancelledAt,
    cancel_reason: order.cancelledAt === null ? null : 'customer',
    confirmed: true,
    test: order.test,
    email: order.email,
    contact_email: order.email,
    phone: null,
    browser_ip: null,
    client_details: null,
    customer_locale: 'en',
    device_id: null,
    location_id: null,
    user_id: null,
    buyer_accepts_marketing: false,
    note: order.note === '' ? null : order.note,
    note_attributes: Object.entries(order.attributes).map(([name, value]) => ({ name, value })),
    tags: order.tags.join(', '),
    source_name: 'web',
    source_identifier: null,
    source_url: null,
    landing_site: null,
    landing_site_ref: null,
    referring_site: null,
    reference: null,
    po_number: null,
    merchant_business_entity_id: 'sandbox',
    merchant_of_record_app_id: null,
    ...moneyOf(order, left),
    payment_gateway_names: paymentsOf(order).map(({ gateway }) => gateway),
    payment_terms: null,
    financial_status: financialStatus(order).toLowerCase(),
    fulfillment_status: null,
    fulfillments: [],
    currency,
    presentment_currency: currency,
    total_line_items_price: linesPrice,
    total_discounts: totalDiscounts,
    subtotal_price: totalPrice,
    total_price: totalPrice,
    current_subtotal_price: left,
    current_total_price: left,
    discount_codes: order.discounts,
    discount_applications: order.discounts.map(({ code, amount, type }) => ({
      type: 'discount_code',
      code,
      value: amount,
      value_type: type,
      allocation_method: 'across',
      target_selection: 'all',
      target_type: 'line_item'
    })),
    line_items: order.lines.map(line => linePayload(line, currency)),
    line_item_groups: [],
    refunds: order.refunds.map(refund => refundPayload(order, refund)),
    returns: [],
    shipping_lines: [],
    billing_address: address,
    shipping_address: address,
    customer: customerPayload(order)
  }
}

/** Other sums of an order: those in both currencies, and the constant ones. */
function moneyOf({ currency, totalPrice, totalDiscounts, linesPrice }: PlatformOrder, left: string) {
  const nothing = both(NO_MONEY, currency)
  return {
    total_line_items_price_set: both(linesPrice, currency),
    total_discounts_set: both(totalDiscounts, currency),
    subtotal_price_set: both(totalPrice, currency),
    total_price_set: both(totalPrice, currency),
    current_subtotal_price_set: both(left, currency),
    current_total_price_set: both(left, currency),
    current_total_discounts: totalDiscounts,
    current_total_discounts_set: both(totalDiscounts, currency),
    current_total_tax: NO_MONEY,
    current_total_tax_set: nothing,
    total_tax: NO_MONEY,
    total_tax_set: nothing,
    tax_lines: [],
    tax_exempt: false,
    taxes_included: false,
    estimated_taxes: false,
    duties_included: false,
    current_total_duties_set: null,
    original_total_duties_set: null,
    current_total_additional_fees_set: null,
    original_total_additional_fees_set: null,
    current_shipping_price_set: nothing,
    total_shipping_price_set: nothing,
    total_cash_rounding_payment_adjustment_set: nothing,
    total_cash_rounding_refund_adjustment_set: nothing,
    total_outstanding: NO_MONEY,
    total_tip_received: NO_MONEY,
    total_weight: 0
  }
}

function linePayload(line: PlatformOrder['lines'][number], currency: string) {
  const variantTitle = line.variantTitle === 'Default Title' ? null : line.variantTitle
  return {
    id: Number(line.id),
    admin_graphql_api_id: `gid://shopify/LineItem/${line.id}`,
    name: [line.title, ...(variantTitle ? [variantTitle] : [])].join(' - '),
    title: line.title,
    variant_title: variantTitle,
    product_id: Number(line.productId),
    variant_id: Number(line.variantId),
    product_exists: true,
    vendor: MADE_BY,
    sku: '',
    quantity: line.quantity,
    current_quantity: line.quantity,
    fulfillable_quantity: line.quantity,
    fulfillment_service: 'manual',
    fulfillment_status: null,
    price: line.price,
    price_set: both(line.price, currency),
    total_discount: NO_MONEY,
    total_discount_set: both(NO_MONEY, currency),
    discount_allocations: [],
    duties: [],
    tax_lines: [],
    properties: [],
    attributed_staffs: [],
    gift_card: false,
    grams: 0,
    requires_shipping: false,
    taxable: false,
    variant_inventory_management: null
  }
}

function customerPayload({ customerId, number, email, createdAt, currency }: PlatformOrder) {
  const id = customerId ? Number(customerId) : 740000000000 + number
  return {
    id,
    admin_graphql_api_id: `gid://shopify/Customer/${id}`,
    email,
    phone: null,
    first_name: ADDRESS.first_name,
    last_name: ADDRESS.last_name,
    state: 'disabled',
    note: null,
    verified_email: true,
    multipass_identifier: null,
    tax_exempt: false,
    tax_exemptions: [],
    currency,
    created_at: createdAt,
    updated_at: createdAt,
    default_address: { ...ADDRESS, id, customer_id: id, country_name: ADDRESS.country, default: true }
  }
}

export function refundPayload(order: PlatformOrder, refund: OrderRefund) {
  const payments = paymentsOf(order)
  const unsettled = { amount: NO_MONEY, currency: order.currency }
  return {
    id: Number(refund.id),
    admin_graphql_api_id: `gid://shopify/Refund/${refund.id}`,
    order_id: Number(order.id),
    created_at: refund.createdAt,
    processed_at: refund.createdAt,
    note: refund.note ?? '',
    user_id: 1,
    restock: false,
    return: null,
    duties: [],
    total_duties_set: both(NO_MONEY, order.currency),
    order_adjustments: [],
    refund_line_items: [],
    refund_shipping_lines: [],
    transactions: partsOf(order, refund).map(part => ({
      id: Number(part.id),
      admin_graphql_api_id: `gid://shopify/OrderTransaction/${part.id}`,
      order_id: Number(order.id),
      parent_id: Number(part.parentId),
      kind: 'refund',
      status: statusOf(refund),
      gateway: payments.find(({ id }) => id === part.parentId)?.gateway ?? '',
      amount: part.amount,
      amount_rounding: null,
      currency: order.currency,
      test: order.test,
      authorization: null,
      message: null,
      error_code: null,
      receipt: {},
      payment_id: `${order.number}.${part.id}`,
      manual_payment_gateway: payments.some(one => one.id === part.parentId && isManual(one)),
      source_name: 'web',
      device_id: null,
      location_id: null,
      user_id: null,
      // Only this set has the field `currency`.
      total_unsettled_set: { shop_money: unsettled, presentment_money: unsettled },
      created_at: refund.createdAt,
      processed_at: refund.createdAt
    }))
  }
}

/** The parts of a refund as transactions of their own, with how each was paid. */
export function transactionPayloads(order: PlatformOrder, refund: OrderRefund) {
  const results = new Map(partsOf(order, refund).map(({ id, resultId }) => [Number(id), resultId]))
  return refundPayload(order, refund).transactions.map(part => ({
    ...part,
    ...resultIn(part, results.get(part.id)),
    authorization: '',
    payment_details: {
      avs_result_code: null,
      buyer_action_info: null,
      credit_card_bin: null,
      credit_card_company: 'Bogus',
      credit_card_expiration_month: null,
      credit_card_expiration_year: null,
      credit_card_name: null,
      credit_card_number: '•••• •••• •••• 1',
      credit_card_wallet: null,
      cvv_result_code: null,
      payment_method_name: part.gateway
    }
  }))
}

/** The ids of a pending transaction's result. */
const resultIn = ({ id: parent_id }: { id: number }, resultId: string | undefined) =>
  resultId === undefined
    ? {}
    : { id: Number(resultId), admin_graphql_api_id: `gid://shopify/OrderTransaction/${resultId}`, parent_id }

export function disputePayload(order: PlatformOrder, dispute: OrderDispute, at: string) {
  const { id, type, status, amount, initiatedAt, finalizedOn } = dispute
  return {
    id: Number(id),
    order_id: Number(order.id),
    type,
    amount,
    currency: order.currency,
    reason: 'fraudulent',
    network_reason_code: '4837',
    status,
    evidence_due_by: at,
    evidence_sent_on: null,
    initiated_at: initiatedAt,
    finalized_on: finalizedOn
  }
}
