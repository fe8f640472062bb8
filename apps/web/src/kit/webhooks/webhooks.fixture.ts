import type { WebhookDelivery, WebhookDeliveryDetail, WebhookEndpoint } from '@netlet/contract'

export const endpoint: WebhookEndpoint = {
  id: 4,
  user_id: 7,
  username: 'alice',
  url: 'https://hooks.example.com/netlet',
  description: 'CI',
  events: ['order.delivered', 'order.expired'],
  enabled: true,
  off_reason: null,
  failing_since: null,
  paused_until: null,
  former_secret_until: null,
  last_sent_at: null,
  created_at: '2026-06-15T08:00:00.000Z',
  version: 'v1'
}

export const failed: WebhookDelivery = {
  id: 11,
  endpoint_id: 4,
  user_id: 7,
  username: 'alice',
  url: endpoint.url,
  event_id: 'evt_1',
  event: 'order.delivered',
  state: 'failed',
  tries: 12,
  status: 503,
  failure: 'status',
  next_try_at: null,
  created_at: '2026-06-15T08:00:00.000Z',
  ended_at: '2026-06-18T08:00:00.000Z'
}

export const failedDetail: WebhookDeliveryDetail = {
  ...failed,
  payload: '{"type":"order.delivered","data":{"order_id":7}}',
  attempts: [
    {
      at: '2026-06-15T08:00:01.000Z',
      status: null,
      failure: 'not_public',
      detail: '10.0.0.1',
      duration_ms: 12,
      answer: ''
    },
    {
      at: '2026-06-18T08:00:00.000Z',
      status: 503,
      failure: 'status',
      detail: null,
      duration_ms: 140,
      answer: 'down for maintenance'
    }
  ]
}
