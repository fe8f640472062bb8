import { z } from 'zod'
import { message } from './form-messages.ts'
import { listQuery, page } from './list.ts'
import { route } from './route.ts'
import { Done, Id, IdParams, Time, formVersion, optionalText, storable, isPostTarget } from './shapes.ts'
import {
  CUSTOMER_EVENTS,
  DELIVERY_STATES,
  OFF_REASONS,
  OPERATOR_EVENTS,
  WEBHOOK_EVENTS,
  WEBHOOK_FAILURES
} from './webhook-events.ts'

const target = z
  .string({ error: message('must_be_web_address') })
  .trim()
  .max(1000, message('at_most_characters', { max: 1000 }))
  .refine(storable, message('forbidden_character'))
  .refine(isPostTarget, message('must_be_web_address'))

const chosen = <const T extends readonly [string, ...string[]]>(events: T) =>
  z
    .array(z.enum(events, { error: message('must_select') }), { error: message('must_select') })
    .min(1, message('must_select'))
    .max(events.length, message('must_select'))
    .transform(list => [...new Set(list)])

const form = <const T extends readonly [string, ...string[]]>(events: T) =>
  z.object({ url: target, description: optionalText(100), events: chosen(events), enabled: z.boolean().default(true) })

export const WebhookForm = form(CUSTOMER_EVENTS)
export type WebhookForm = z.infer<typeof WebhookForm>
export const OperatorWebhookForm = form(OPERATOR_EVENTS)
export type OperatorWebhookForm = z.infer<typeof OperatorWebhookForm>

/** An address that events are posted to. Its secret is shown once, when it is created. */
export const WebhookEndpoint = z.object({
  id: z.number(),
  /** The customer whose orders it reports; null: the operators' endpoint. */
  user_id: z.number().nullable(),
  username: z.string().nullable(),
  url: z.string(),
  description: z.string(),
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  enabled: z.boolean(),
  /** Why the shop disabled it; null: it did not. */
  off_reason: z.enum(OFF_REASONS).nullable(),
  /** Since when every attempt has failed; null: the last one succeeded, or there was none. */
  failing_since: Time.nullable(),
  /** Until then only tests are sent, because it failed. */
  paused_until: Time.nullable(),
  /** Until when the former secret also signs; null: there is none. */
  former_secret_until: Time.nullable(),
  last_sent_at: Time.nullable(),
  created_at: Time,
  version: z.string()
})
export type WebhookEndpoint = z.infer<typeof WebhookEndpoint>

/** `secret` is only in this reply: `whsec_` and base64, as in Standard Webhooks. */
export const NewWebhookEndpoint = WebhookEndpoint.extend({ secret: z.string() })
export type NewWebhookEndpoint = z.infer<typeof NewWebhookEndpoint>

/** One event on its way to one endpoint. */
export const WebhookDelivery = z.object({
  id: z.number(),
  endpoint_id: z.number(),
  user_id: z.number().nullable(),
  username: z.string().nullable(),
  url: z.string(),
  /** The header `webhook-id`, the same for every attempt and every endpoint. */
  event_id: z.string(),
  event: z.enum(WEBHOOK_EVENTS),
  state: z.enum(DELIVERY_STATES),
  tries: z.number(),
  /** The last attempt's status, or why there was none. */
  status: z.number().nullable(),
  failure: z.enum(WEBHOOK_FAILURES).nullable(),
  next_try_at: Time.nullable(),
  created_at: Time,
  ended_at: Time.nullable()
})
export type WebhookDelivery = z.infer<typeof WebhookDelivery>

export const WebhookAttempt = z.object({
  at: Time,
  status: z.number().nullable(),
  failure: z.enum(WEBHOOK_FAILURES).nullable(),
  /** The system's code for the failure, such as ECONNREFUSED; null if there is none. */
  detail: z.string().nullable(),
  /** Milliseconds from the DNS lookup to the end of the answer. */
  duration_ms: z.number(),
  /** The first 1000 bytes of the answer. */
  answer: z.string()
})
export type WebhookAttempt = z.infer<typeof WebhookAttempt>

/** `payload`: the body as sent; `attempts`: the last 50, oldest first. */
export const WebhookDeliveryDetail = WebhookDelivery.extend({
  payload: z.string(),
  attempts: z.array(WebhookAttempt)
})
export type WebhookDeliveryDetail = z.infer<typeof WebhookDeliveryDetail>

const filters = {
  state: z.enum(DELIVERY_STATES).optional(),
  event: z.enum(WEBHOOK_EVENTS).optional(),
  endpoint_id: Id.optional()
}

const Secret = z.object({ secret: z.string(), former_secret_until: Time })
const Queued = z.object({ delivery_id: z.number() })
const nothing = z.object({}).optional()

const own = '/api/webhooks'
const all = '/api/settings/outgoing_webhooks'

export const webhooks = {
  endpoints: route('GET', `${own}/endpoints/`, {
    summary: 'Your webhook endpoints',
    access: 'user',
    scope: 'read',
    reply: z.array(WebhookEndpoint)
  }),
  createEndpoint: route('POST', `${own}/endpoints/`, {
    summary: 'Add a webhook endpoint; its secret is shown only once',
    access: 'user',
    scope: 'webhooks',
    body: WebhookForm,
    reply: NewWebhookEndpoint
  }),
  updateEndpoint: route('PUT', `${own}/endpoints/:id/`, {
    summary: 'Change a webhook endpoint, or turn it back on',
    access: 'user',
    scope: 'webhooks',
    params: IdParams,
    body: WebhookForm.extend(formVersion),
    reply: WebhookEndpoint
  }),
  deleteEndpoint: route('DELETE', `${own}/endpoints/:id/`, {
    summary: 'Delete a webhook endpoint; its waiting events are not sent',
    access: 'user',
    scope: 'webhooks',
    params: IdParams,
    reply: Done
  }),
  rotateSecret: route('POST', `${own}/endpoints/:id/rotate_secret/`, {
    summary: 'Rotate the secret, shown only once; the old secret also signs for a day',
    access: 'user',
    scope: 'webhooks',
    params: IdParams,
    body: nothing,
    reply: Secret
  }),
  testEndpoint: route('POST', `${own}/endpoints/:id/test/`, {
    summary: 'Send a test event to a webhook endpoint',
    access: 'user',
    scope: 'webhooks',
    params: IdParams,
    body: nothing,
    reply: Queued
  }),
  deliveries: route('GET', `${own}/deliveries/`, {
    summary: 'Deliveries to your webhook endpoints, sent and waiting',
    access: 'user',
    scope: 'read',
    query: listQuery({ sort: ['id'], filters }),
    reply: page(WebhookDelivery)
  }),
  delivery: route('GET', `${own}/deliveries/:id/`, {
    summary: 'One delivery with its body and attempts',
    access: 'user',
    scope: 'read',
    params: IdParams,
    reply: WebhookDeliveryDetail
  }),
  resend: route('POST', `${own}/deliveries/:id/resend/`, {
    summary: 'Resend an event that has ended; its ID stays the same',
    access: 'user',
    scope: 'webhooks',
    params: IdParams,
    body: nothing,
    reply: Done
  }),
  allEndpoints: route('GET', `${all}/endpoints/`, {
    summary: 'Webhook endpoints of operators, of all customers, or of one customer',
    access: 'admin',
    permission: 'webhooks.view',
    query: listQuery({
      sort: ['id'],
      filters: { whose: z.enum(['operators', 'customers']).optional(), user_id: Id.optional() }
    }),
    reply: page(WebhookEndpoint)
  }),
  createOperatorEndpoint: route('POST', `${all}/endpoints/`, {
    summary: "Add an operators' webhook endpoint; its secret is shown only once",
    access: 'admin',
    permission: 'webhooks.change',
    needsConfirmation: true,
    body: OperatorWebhookForm,
    reply: NewWebhookEndpoint
  }),
  updateOperatorEndpoint: route('PUT', `${all}/endpoints/:id/`, {
    summary: "Change an operators' webhook endpoint",
    access: 'admin',
    permission: 'webhooks.change',
    needsConfirmation: true,
    params: IdParams,
    body: OperatorWebhookForm.extend(formVersion),
    reply: WebhookEndpoint
  }),
  deleteOperatorEndpoint: route('DELETE', `${all}/endpoints/:id/`, {
    summary: "Delete an operators' webhook endpoint",
    access: 'admin',
    permission: 'webhooks.change',
    params: IdParams,
    reply: Done
  }),
  rotateOperatorSecret: route('POST', `${all}/endpoints/:id/rotate_secret/`, {
    summary: "Rotate the secret of an operators' webhook endpoint, shown only once",
    access: 'admin',
    permission: 'webhooks.change',
    needsConfirmation: true,
    params: IdParams,
    body: nothing,
    reply: Secret
  }),
  testOperatorEndpoint: route('POST', `${all}/endpoints/:id/test/`, {
    summary: "Send a test event to an operators' webhook endpoint, once",
    access: 'admin',
    permission: 'webhooks.change',
    params: IdParams,
    body: nothing,
    reply: Queued
  }),
  allDeliveries: route('GET', `${all}/deliveries/`, {
    summary: 'Webhook deliveries, sent and waiting',
    access: 'admin',
    permission: 'webhooks.view',
    query: listQuery({ sort: ['id'], filters: { ...filters, user_id: Id.optional() } }),
    reply: page(WebhookDelivery)
  }),
  anyDelivery: route('GET', `${all}/deliveries/:id/`, {
    summary: 'One delivery of any endpoint, with its body and attempts',
    access: 'admin',
    permission: 'webhooks.view',
    params: IdParams,
    reply: WebhookDeliveryDetail
  }),
  resendAny: route('POST', `${all}/deliveries/:id/resend/`, {
    summary: 'Resend an event to any endpoint; its ID stays the same',
    access: 'admin',
    permission: 'webhooks.change',
    params: IdParams,
    body: nothing,
    reply: Done
  })
}
