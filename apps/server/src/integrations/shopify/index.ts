export { checkoutUrl, type CheckoutInput, type CheckoutLine } from './checkout-url.ts'
export { createShopify, type Shopify } from './client.ts'
export { type ShopifyFailure, type ShopifyReason, type ShopifyResult } from './result.ts'
export { type ShopifyCollection, type ShopifyOrder, type ShopifyProduct, type ShopifyVariant } from './shapes.ts'
export { shopBase } from './shop-base.ts'
export { type ShopifyOptions } from './transport.ts'
export { PAY_WEBHOOK_PATH, PRODUCT_WEBHOOK_PATH, type WebhookRegistration } from './webhook-registration.ts'
export {
  PaidOrder,
  ProductDeletedEvent,
  ProductEvent,
  orderAttribute,
  verifyWebhook,
  webhookHeaders,
  type WebhookHeaders
} from './webhooks.ts'
