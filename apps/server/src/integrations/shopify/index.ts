export { fixedToken, requestToken, type AccessTokens } from './access-token.ts'
export { type ChangedOrders, type UnreadableOrder } from './changed-orders.ts'
export { API_VERSION } from './documents.ts'
export { createShopify, type Shopify } from './client.ts'
export { type ListedCustomer, type ShopifyCustomer } from './customers.ts'
export { parseExact } from './ids.ts'
export { differencesOf, SHOP_DISCOUNT_TAG, type FoundDiscount, type WantedDiscount } from './discounts.ts'
export { ALL_ORDERS } from './old-orders.ts'
export { type RefundOutcome, type RefundRead, type RefundInput } from './refund.ts'
export { type ShopifyFailure, type ShopifyReason, type ShopifyResult } from './result.ts'
export {
  PRODUCT_STATUSES,
  type ShopifyCollection,
  type ShopifyDispute,
  type ShopifyOrder,
  type ShopifyPricedVariant,
  type ShopifyShop,
  type ShopifyProduct,
  type ShopifyVariant
} from './shapes.ts'
export { PRICES_A_CALL } from './prices.ts'
export { shopBase } from './shop-base.ts'
export { type WebhookRegistration } from './webhook-registration.ts'

export {
  CancelledOrder,
  DisputeEvent,
  PaidOrder,
  ProductDeletedEvent,
  ProductEvent,
  RefundEvent,
  TransactionEvent,
  readOrderReference,
  purchaseNote,
  renewalNote,
  verifyWebhook,
  webhookHeaders
} from './webhooks.ts'
