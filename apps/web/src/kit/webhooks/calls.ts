import type { NewWebhookEndpoint, WebhookEndpoint } from '@netlet/contract'
import { CUSTOMER_EVENTS, OPERATOR_EVENTS, type WebhookEvent } from '@netlet/contract/webhook-events'
import { call, type Endpoint } from '../../api/client.ts'
import { webhooks } from '../../api/routes.ts'

export type EndpointValues = { url: string; description: string; events: WebhookEvent[]; enabled: boolean }
type Secret = { secret: string; former_secret_until: string }

/** The calls for the webhook endpoints of one owner. */
export type EndpointCalls = {
  events: readonly WebhookEvent[]
  list: Endpoint
  readAll: (signal: AbortSignal) => Promise<WebhookEndpoint[]>
  create: (values: EndpointValues) => Promise<NewWebhookEndpoint>
  update: (id: number, values: EndpointValues & { version: string }) => Promise<WebhookEndpoint>
  remove: (id: number) => Promise<unknown>
  rotate: (id: number) => Promise<Secret>
  test: (id: number) => Promise<unknown>
}

/** A customer's own endpoints. The contract's schema checks the chosen events. */
export const ownEndpoints: EndpointCalls = {
  events: CUSTOMER_EVENTS,
  list: webhooks.endpoints,
  readAll: signal => call(webhooks.endpoints, {}, { signal }),
  create: values => call(webhooks.createEndpoint, { body: values as never }),
  update: (id, values) => call(webhooks.updateEndpoint, { params: { id }, body: values as never }),
  remove: id => call(webhooks.deleteEndpoint, { params: { id } }),
  rotate: id => call(webhooks.rotateSecret, { params: { id } }),
  test: id => call(webhooks.testEndpoint, { params: { id } })
}

/** The endpoints that all operators share. */
export const operatorEndpoints: EndpointCalls = {
  events: OPERATOR_EVENTS,
  list: webhooks.allEndpoints,
  readAll: async signal =>
    (await call(webhooks.allEndpoints, { query: { whose: 'operators', limit: 100 } }, { signal })).data,
  create: values => call(webhooks.createOperatorEndpoint, { body: values as never }),
  update: (id, values) => call(webhooks.updateOperatorEndpoint, { params: { id }, body: values as never }),
  remove: id => call(webhooks.deleteOperatorEndpoint, { params: { id } }),
  rotate: id => call(webhooks.rotateOperatorSecret, { params: { id } }),
  test: id => call(webhooks.testOperatorEndpoint, { params: { id } })
}
