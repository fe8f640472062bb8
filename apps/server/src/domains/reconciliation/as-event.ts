import type { ShopifyOrder } from '../../integrations/shopify/index.ts'

/** The order in the shape of its webhook. */
export function asEvent(order: ShopifyOrder) {
  return {
    id: order.id,
    order_number: order.number,
    name: order.name,
    email: order.email,
    currency: order.currency,
    financial_status: order.financialStatus?.toLowerCase(),
    total_price: order.received,
    total_price_set: { presentment_money: order.buyerReceived },
    subtotal_price: order.subtotalPrice ?? order.received,
    total_discounts: order.totalDiscounts,
    discount_codes: order.discountCodes.map(code => ({ code, amount: '0.00' })),
    note: order.note,
    note_attributes: Object.entries(order.attributes).map(([name, value]) => ({ name, value })),
    line_items: order.lines.map(({ id, title, variantId, quantity, currentQuantity, price }) => ({
      id,
      title,
      variant_id: variantId,
      quantity,
      current_quantity: currentQuantity,
      price
    })),
    created_at: order.createdAt,
    cancelled_at: order.cancelledAt,
    updated_at: order.updatedAt,
    test: order.test
  }
}
