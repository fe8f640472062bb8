// Names of webhook events, states and failures, without schemas, so that screens need no validation library.

/** Events for customers' endpoints, about their own orders. */
export const CUSTOMER_EVENTS = [
  'order.delivered',
  'order.expiring',
  'order.expired',
  'proxies.changed',
  'credentials.changed'
] as const

/** Events for operators' endpoints. */
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

/** Sent by the test button to any endpoint. */
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

/** `waiting` for a retry; `failed`: given up; `cancelled`: its endpoint was disabled or deleted first. */
export const DELIVERY_STATES = ['waiting', 'sent', 'failed', 'cancelled'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** Why an attempt failed. */
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

/** Why the shop disabled an endpoint: days of failures, or it answered 410 (gone). */
export const OFF_REASONS = ['failing', 'gone'] as const
export type OffReason = (typeof OFF_REASONS)[number]

/** Largest number of endpoints of a customer, and of all operators together. */
export const MAX_ENDPOINTS = { customer: 5, operators: 20 } as const
