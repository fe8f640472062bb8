import type { AbuseAlarm, ClientAccess, Order, TimelineEntry } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { fleet, mail, orders, payments } from '../../api/routes.ts'
import { refresh } from '../../api/query.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { admin, order, pageOf, noOrderTraffic } from '../../testing/shapes.ts'
import { renderScreen } from '../kit/screen.fixture.tsx'
import { byPassword, entry, payment, proxy } from './order.fixture.ts'
import OrderPage from './order-page.tsx'

const ROUTE = '/dashboard/index/order/:id'

type Given = {
  of?: Order
  alarms?: AbuseAlarm[]
  access?: ClientAccess
  timeline?: TimelineEntry[]
  as?: typeof admin
  from?: string
}
function open({ of = order, alarms = [], access = byPassword, timeline = [], as = admin, from }: Given = {}) {
  answer(orders.order, of)
  answer(orders.clientAccess, access)
  answer(fleet.alarms, { alarms })
  answer(orders.timeline, { data: timeline, next: null })
  answer(orders.credits, [])
  answer(orders.lostTime, [])
  answer(orders.proxies, pageOf(proxy))
  answer(orders.traffic, noOrderTraffic)
  answer(payments.ofOrder, pageOf(payment))
  return renderScreen(<OrderPage />, { at: '/dashboard/index/order/7', route: ROUTE, as, ...(from && { from }) })
}
const history = () => screen.findByRole('region', { name: 'History' })

describe('the page of an order', () => {
  it('tells in words what happened and marks what is bad, for entries of every source', async () => {
    const told: [Partial<TimelineEntry>, RegExp][] = [
      [{ kind: 'expiry_set', actor: 'boss', viewed_as: 'alice' }, /^Expiry set.*by boss as alice/],
      [
        { kind: 'moved', detail: { cause: 'given_up', from: 'paris', to: 'lyon', addresses: 8 } },
        /Moved to other addresses.*paris → lyon.*cause: its server was given up.*addresses: 8/
      ],
      [
        {
          kind: 'delivery_waits',
          detail: { code: 'server_unreachable', server: 'lyon', count: 8, working: 8, of: 16 }
        },
        /Waiting for addresses.*Server lyon is not responding; 8 addresses are waiting.*8 of 16 addresses working/
      ],
      [{ source: 'admin', kind: 'order.reset', actor: 'boss' }, /Password reset.*by boss/],
      [
        {
          source: 'platform',
          kind: 'partly_refunded',
          detail: { topic: 'refunds/create', platform_order: '#1001', order_id: 'NL-1', amount: '5.00' }
        },
        /Platform: refund.*#1001, Partly refunded.*\$5\.00 of #1001/
      ],
      [
        {
          source: 'proof',
          kind: 'revocation.failed',
          detail: { server: 'paris', cause: 'removed', answer: 'accepted', address: '192.0.2.10', took: 12 }
        },
        /^Old credentials still work.*user removed, accepted, 192\.0\.2\.10, 12 ms, paris/
      ],
      [{ kind: 'of_a_newer_server', detail: { strange: 'thing' } }, /^of_a_newer_server.*strange: thing/]
    ]
    open({ timeline: told.map(([more], at) => entry({ id: 9 - at, ...more })) })
    const entries = await within(await history()).findAllByRole('listitem')
    for (const [at, [, words]] of told.entries()) expect(entries[at]?.textContent).toMatch(words)
    expect(entries.flatMap((one, at) => (one.dataset['bad'] === 'true' ? [at] : []))).toEqual([2, 5])
  })

  it('sends a mail again that failed, after a question', async () => {
    answer(mail.sendAgain, null)
    const detail = { state: 'failed', to: 'alice@example.com', error_code: 'rejected' }
    const { user } = open({
      timeline: [entry({ id: 44, source: 'mail', kind: 'proxies-delivered', detail, can_resend: true })]
    })
    expect(await screen.findByText(/Failed, alice@example.com, The email service refused this email/)).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Resend' }))
    expect(requestsOf(mail.sendAgain)).toEqual([])
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(mail.sendAgain)).toMatchObject([{ params: { id: '44' } }]))
  })

  it('shows signs of abuse of its user, and takes notice of one', async () => {
    const alarm: AbuseAlarm = {
      id: 3,
      kind: 'scan',
      server_id: 4,
      server: 'paris',
      username: 'u7',
      order_id: 7,
      subject: '203.0.113.9:22',
      count: 400,
      started_at: '2026-06-15T12:00:00.000Z',
      last_at: '2026-06-15T12:05:00.000Z',
      acknowledged_at: null,
      acknowledged_by: null
    }
    answer(fleet.acknowledgeAlarm, alarm)
    const { user } = open({ alarms: [alarm] })
    const region = within(await screen.findByRole('region', { name: 'Signs of abuse' }))
    expect(region.getByText('Scan: many unreachable targets')).toBeTruthy()
    answer(fleet.alarms, { alarms: [{ ...alarm, acknowledged_at: alarm.last_at, acknowledged_by: 'boss' }] })
    await user.click(region.getByRole('button', { name: 'Acknowledge' }))
    expect(await region.findByText('Acknowledged by boss')).toBeTruthy()
    expect(requestsOf(fleet.acknowledgeAlarm)).toMatchObject([{ params: { id: '3' } }])
  })

  it('has the credit of time at hand where an outage cost it some, and says which', async () => {
    open({})
    const lost = {
      outage_id: 3,
      server: { id: 4, name: 'paris' },
      from: '2026-06-15T12:00:00.000Z',
      to: null,
      seconds: 5400
    }
    answer(orders.lostTime, [lost])
    await refresh(orders.lostTime)
    const region = within(await screen.findByRole('region', { name: 'Outage time not credited' }))
    const link = region.getByRole('link', { name: '1.5 hr, server paris' })
    expect(link.getAttribute('href')).toBe('/dashboard/index/outages?open=3')
    expect(screen.getByRole('button', { name: 'Credit time' })).toBeTruthy()
    answer(orders.lostTime, [])
    await refresh(orders.lostTime)
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Credit time' })).toBeNull())
  })

  it("lets an operator say how clients are let in, in the customer's place", async () => {
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Change client access' }))
    await user.selectOptions(await screen.findByLabelText('Authentication'), 'address')
    // The operator's own address is not offered as a client.
    expect(screen.queryByRole('button', { name: /my current IP/ })).toBeNull()
    await user.type(screen.getByLabelText('Allowed IPs'), '198.51.100.77')
    answerRefused(orders.setClientAccess, 'stale')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect((await screen.findByRole('alert')).textContent).not.toBe('')
    expect(requestsOf(orders.setClientAccess)).toMatchObject([
      { params: { id: '7' }, body: { access: 'address', client_ips: ['198.51.100.77'], version: 'v1' } }
    ])
  })

  it('shows the money by payment of the platform: for what, what went back, what counts', async () => {
    open()
    const money = within(await screen.findByRole('region', { name: 'Payments' }))
    const link = await money.findByRole('link', { name: '#1001 on the platform, in a new tab' })
    expect(link.getAttribute('href')).toBe('https://shop.example.com/admin/orders/501')
    const row = link.closest('tr')?.textContent ?? ''
    for (const text of [
      'Purchase',
      'Accepted',
      '8 × $1.50',
      'New York',
      '$12.00',
      'discount $2.00',
      '$1.50',
      '$10.50',
      '30 days added'
    ])
      expect(row).toContain(text)
  })

  it('shows the addresses with their servers, those given back on demand, the page in the address', async () => {
    const { user, asked } = open()
    const proxies = within(await screen.findByRole('region', { name: 'Proxies' }))
    const link = await proxies.findByRole('link', { name: 'paris' })
    expect(link.getAttribute('href')).toBe('/dashboard/index/servers?open=4')
    expect(link.closest('tr')?.textContent).toContain('Draining')
    expect(requestsOf(orders.proxies).at(-1)?.query).toEqual({ limit: '10', offset: '0', retired: '0' })
    await user.click(proxies.getByRole('switch', { name: 'Returned addresses only' }))
    await waitFor(() => expect(requestsOf(orders.proxies).at(-1)?.query['retired']).toBe('1'))
    expect(asked()).toEqual({ retired: 'true' })
  })

  it('reads the password only on request', async () => {
    const shown = { id: 1, ip: '192.0.2.10', port: 1080, username: 'u1', password: 'secret1', status: null }
    const none = { bing_delay: null, google_delay: null, amazon_delay: null }
    const times = { created_at: order.created_at, updated_at: order.created_at, https: null }
    const { data: _data, ...paging } = pageOf(order)
    answer(orders.proxyDetail, { ...paging, proxy_list: [{ ...shown, ...none, ...times }], order })
    const { user } = open()
    const button = await screen.findByRole('button', { name: 'Show username and password' })
    expect(requestsOf(orders.proxyDetail)).toEqual([])
    await user.click(button)
    expect(await screen.findByText('u1:secret1')).toBeTruthy()
  })

  it('offers a viewer neither the password nor what changes something', async () => {
    open({ of: { ...order, state: 'failed', delivery_num: 0 }, as: { ...admin, operator_role: 'viewer' } })
    await history()
    expect(await screen.findByText('Password, from any address')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Change client access' })).toBeNull()
    expect(screen.queryByRole('button', { name: 'Show username and password' })).toBeNull()
    expect(screen.queryByRole('button', { name: 'Deliver' })).toBeNull()
    expect(screen.queryByRole('link', { name: 'Audit entries' })).toBeNull()
  })

  it.each<[string, Partial<Order>, string[]]>([
    ['ended with time left', { state: 'expired', is_expired: true, can_reopen: true }, ['Reopen', 'Refund']],
    ['was paid, and not delivered', { state: 'failed', delivery_num: 0 }, ['Deliver', 'Refund']],
    [
      'lost some addresses',
      { state: 'partly_delivered', delivery_num: 4 },
      ['Deliver', 'Move to other addresses', 'Refund']
    ],
    ['waits for its payment', { state: 'placed', pay_status: 0, delivery_num: 0 }, ['Cancel unpaid order']],
    ['works', {}, []]
  ])('has what mends one that %s at hand', async (_what, more, expected) => {
    open({ of: { ...order, ...more } })
    await history()
    const mends = ['Deliver', 'Reopen', 'Move to other addresses', 'Refund', 'Cancel unpaid order']
    const shown = screen.getAllByRole('button').map(({ textContent }) => textContent ?? '')
    expect(shown.filter(text => mends.includes(text))).toEqual(expected)
  })

  it('leads back to the list as it was left, and to all orders from anywhere else', async () => {
    const { unmount } = open({ from: '/dashboard/index/orders?search=al&page=2' })
    const back = await screen.findByRole('link', { name: 'Back to the list' })
    expect(back.getAttribute('href')).toBe('/dashboard/index/orders?search=al&page=2')
    unmount()
    open({ from: '//evil.example.com/dashboard/index/orders' })
    const plain = await screen.findByRole('link', { name: 'Back to the list' })
    expect(plain.getAttribute('href')).toBe('/dashboard/index/orders')
  })

  it('says that there is no such order, whatever the address has', async () => {
    answerRefused(orders.order, 'not_found')
    const { unmount } = renderScreen(<OrderPage />, { at: '/o/404', route: '/o/:id' })
    expect(await screen.findByText('Order not found')).toBeTruthy()
    unmount()
    renderScreen(<OrderPage />, { at: '/o/x', route: '/o/:id' })
    expect(await screen.findByText('Order not found')).toBeTruthy()
    expect(requestsOf(orders.order)).toHaveLength(1)
  })
})
