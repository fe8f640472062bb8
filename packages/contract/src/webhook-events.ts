// Names of events, states and failures of webhooks, without the validation library: screens take them from here.

/** What a customer's endpoint can be told of: the customer's own orders. */
export const CUSTOMER_EVENTS = [
  'order.delivered',
  'order.expiring',
  'order.expired',
  'proxies.changed',
  'credentials.changed'
] as const

/** What an operators' endpoint can be told of. */
export const OPERATOR_EVENTS = [
  'order.placed',
  'order.paid',
  'order.failed',
  'order.delivered',
  'order.expiring',
  'order.expired',
  'order.timed_out',
  'order.cancelled',
  'order.refunded',
  'payment.received',
  'payment.attention',
  'payment.refunded',
  'payment.disputed',
  'server.down',
  'server.up'
] as const

/** What the test button sends, to any endpoint. */
export const TEST_EVENT = 'webhook.test'

export const WEBHOOK_EVENTS = [
  ...OPERATOR_EVENTS,
  'proxies.changed',
  'credentials.changed',
  TEST_EVENT
] as const satisfies readonly (
  | (typeof CUSTOMER_EVENTS)[number]
  | (typeof OPERATOR_EVENTS)[number]
  | typeof TEST_EVENT
)[]
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number]

/** `waiting` for its next try; `failed`: given up; `cancelled`: its endpoint was switched off or deleted before. */
export const DELIVERY_STATES = ['waiting', 'sent', 'failed', 'cancelled'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** What came of a try that did not succeed. */
export const WEBHOOK_FAILURES = [
  'status',
  'redirect',
  'not_https',
  'port',
  'not_public',
  'own_address',
  'unresolved',
  'timeout',
  'tls',
  'network',
  'cut_off',
  'secret_unreadable'
] as const
export type WebhookFailure = (typeof WEBHOOK_FAILURES)[number]

/** Why an endpoint was switched off other than by its owner: days of failures, or it answered 410 (gone). */
export const OFF_REASONS = ['failing', 'gone'] as const
export type OffReason = (typeof OFF_REASONS)[number]

/** Endpoints that a customer, or all operators together, may have at once. */
export const MAX_ENDPOINTS = { customer: 5, operators: 20 } as const
