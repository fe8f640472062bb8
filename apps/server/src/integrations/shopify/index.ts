export { fixedToken, requestToken, type AccessTokens } from './access-token.ts'
export { type ChangedOrders, type UnreadableOrder } from './changed-orders.ts'
export { API_VERSION } from './documents.ts'
export { createShopify, type Shopify } from './client.ts'
export { type ListedCustomer, PRICES_A_CALL, type ShopifyCustomer } from './customers.ts'
export {
  PRODUCT_STATUSES,
  type ShopifyCollection,
  type ShopifyDispute,
  type ShopifyOrder,
  type ShopifyPricedVariant,
  type ShopifyProduct,
  type ShopifyShop,
  type ShopifyVariant,
  parseExact
} from './shapes.ts'
export { differencesOf, SHOP_DISCOUNT_TAG, type FoundDiscount, type WantedDiscount } from './discounts.ts'
export { ALL_ORDERS } from './checkout-url.ts'
export { READ_PUBLICATIONS } from './online-store.ts'
export { type RefundOutcome, type RefundRead, type RefundInput } from './refund.ts'
export { type ShopifyFailure, type ShopifyReason, type ShopifyResult } from './result.ts'
export { shopBase } from './result.ts'
export { type WebhookRegistration } from './webhook-registration.ts'

export {
  CancelledOrder,
  DisputeEvent,
  PaidOrder,
  ProductDeletedEvent,
  ProductEvent,
  RefundEvent,
  TransactionEvent,
  isTip,
  readOrderReference,
  purchaseNote,
  renewalNote,
  verifyWebhook,
  webhookHeaders
} from './webhooks.ts'
