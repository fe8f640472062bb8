import type { Order, Proxy } from '@netlet/contract'
import { vi } from 'vitest'
import { accounts, orders } from '../../api/routes.ts'
import { answer } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { customer, noOrderTraffic, order, pageOf } from '../../testing/shapes.ts'
import ProxiesPage from './page.tsx'

export const proxy: Proxy = {
  id: 71,
  ip: '198.51.100.7',
  port: 1080,
  username: 'u7',
  password: 's3cret',
  status: true,
  google_delay: 120,
  bing_delay: 700,
  amazon_delay: 1400,
  created_at: '2026-06-15T08:00:00.000Z',
  updated_at: '2026-06-15T08:00:00.000Z',
  https: null
}
export const other: Proxy = { ...proxy, id: 72, ip: '2001:db8::7', status: null, google_delay: null, bing_delay: null }
export const LINES = ['198.51.100.7:1080:u7:s3cret', '[2001:db8::7]:1080:u7:s3cret']

/** Its addresses are held for the duration of a test. */
export const unpaid: Order = {
  ...order,
  state: 'placed',
  pay_status: 0,
  pay_amount: null,
  expired_at: null,
  delivered_at: null,
  delivery_seconds: null,
  checkout_url: 'https://shop.example.com/cart/1:8',
  reserved_until: '2126-06-15T08:30:00.000Z'
}

/** Answers with an order and its proxies. */
export const show = (now: Order = order, ...proxies: Proxy[]) =>
  answer(orders.proxyDetail, {
    proxy_list: proxies,
    order: now,
    total: proxies.length,
    total_exact: true,
    limit: 20,
    offset: 0,
    next: null
  })

/** Opens the page with one order. `copied`: a spy on what is copied. */
export function open(now: Order = order, at = '/dashboard/index/proxies') {
  answer(accounts.whoIsSignedIn, customer)
  answer(orders.traffic, noOrderTraffic)
  answer(orders.credits, [])
  answer(orders.list, pageOf(now))
  const view = renderAt(<ProxiesPage />, { at, route: '/dashboard/index/proxies', user: customer })
  // After rendering, because the test library installs its own clipboard.
  return { ...view, copied: vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue() }
}
export const lastCopy = (copied: { mock: { calls: string[][] } }) => copied.mock.calls.at(-1)?.[0]
