import type { ClientAccess, OrderPayment, OrderProxy, TimelineEntry } from '@netlet/contract'

const at = '2026-06-15T12:00:00.000Z'

export const entry = (more: Partial<TimelineEntry>): TimelineEntry => ({
  source: 'order',
  id: 1,
  at,
  kind: 'placed',
  detail: {},
  actor: null,
  viewed_as: null,
  can_resend: false,
  ...more
})

export const proxy: OrderProxy = {
  id: 1,
  ip: '192.0.2.10',
  port: 1080,
  state: 'live',
  server_id: 4,
  server: 'paris',
  server_status: 'draining',
  status: true,
  bing_delay: 12,
  google_delay: 34,
  amazon_delay: null,
  checked_at: at,
  live_at: at,
  created_at: at
}

export const payment: OrderPayment = {
  id: 3,
  created_at: at,
  platform_order: '#1001',
  platform_order_id: '501',
  platform_url: 'https://shop.example.com/admin/orders/501',
  kind: 'purchase',
  state: 'accepted',
  charged: '12.00',
  currency: 'USD',
  amount: '12.00',
  discount: '2.00',
  refunded_amount: '1.50',
  counts: '10.50',
  days: 30,
  refunded_at: at,
  lines: [{ title: 'ISP proxies · New York', quantity: 8, price: '1.50' }],
  refunds: [
    { kind: 'refund', state: 'counted', amount: '1.50', foreign_amount: null, asked_by: null, at, reversed_at: null }
  ]
}

/** Client access as it is before the customer changes it. */
export const byPassword: ClientAccess = {
  access: 'password',
  client_ips: [],
  changed_at: null,
  version: 'v1',
  your_address: '192.0.2.1',
  is_pending: false
}

export const statistics = {
  total: 3,
  paid: 2,
  unpaid: 1,
  today: 1,
  totalAmount: '1234.50',
  monthlyAmount: '12.00',
  dailyAmount: '0.00'
}
