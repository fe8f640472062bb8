import type { Order, Proxy } from '@netlet/contract'
import { screen } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { orders } from '../../api/routes.ts'
import { answer } from '../../testing/answers.ts'
import { renderAt, setWidth } from '../../testing/render.tsx'
import { customer, noOrderTraffic, order, pageOf } from '../../testing/shapes.ts'
import ProxiesPage from './page.tsx'

const proxy: Proxy = {
  id: 1,
  ip: '2001:db8:0:1::1',
  port: 3128,
  username: 'u7',
  password: 'secret',
  status: null,
  bing_delay: null,
  google_delay: null,
  amazon_delay: null,
  created_at: '2026-06-15T08:00:00.000Z',
  updated_at: '2026-06-15T08:00:00.000Z',
  https: null
}
const open = (of: Partial<Order>) => {
  const shown = { ...order, ...of }
  const rest = { total: 1, total_exact: true, limit: 20, offset: 0, next: null }
  answer(orders.traffic, noOrderTraffic)
  answer(orders.credits, [])
  answer(orders.list, pageOf(shown))
  answer(orders.proxyDetail, { proxy_list: [proxy], order: shown, ...rest })
  const at = '/dashboard/index/proxies'
  return renderAt(<ProxiesPage />, { at, route: '/dashboard/index/proxies/:id?', user: customer })
}
const COMMAND = "curl -x 'http://[2001:db8:0:1::1]:3128' -U 'u7-session-abc:secret' https://example.com"

describe('what is said of IPv6 proxies', () => {
  it('has a command for a session, with the address in brackets, on a phone too', async () => {
    setWidth(390)
    open({ address_family: 'ipv6', egress: 'session' })
    expect(await screen.findByText(/With -session-NAME behind the username/)).toBeTruthy()
    expect(await screen.findByText(COMMAND)).toBeTruthy()
    expect(screen.getByRole('button', { name: 'Copy: Command' })).toBeTruthy()
    expect(screen.getByText('[2001:db8:0:1::1]:3128')).toBeTruthy()
  })

  it.each([
    ['fixed', 'Connections leave from the address of the proxy.'],
    ['request', 'Each connection to a site leaves from another address of the /64.']
  ] as const)('says what connections leave from: %s', async (egress, words) => {
    open({ address_family: 'ipv6', egress })
    expect(await screen.findByText(new RegExp(words))).toBeTruthy()
    expect(screen.queryByText(/^curl/)).toBeNull()
  })

  it('is nothing of an IPv4 order', async () => {
    open({})
    expect(await screen.findByText('[2001:db8:0:1::1]:3128')).toBeTruthy()
    expect(screen.queryByText(/IPv6/)).toBeNull()
  })
})
