import type { Order, TimelineEntry } from '@netlet/contract'
import { act, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { mail, orders, payments } from '../../api/routes.ts'
import { setLanguage } from '../../i18n/language.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { admin, order, pageOf } from '../../testing/shapes.ts'
import { renderScreen } from '../kit/screen.fixture.tsx'
import { entry, payment, proxy } from './order.fixture.ts'
import OrderPage from './order-page.tsx'

const ROUTE = '/dashboard/index/order/:id'

type Given = { of?: Order; timeline?: TimelineEntry[]; as?: typeof admin; from?: string }
function open({ of = order, timeline = [], as = admin, from }: Given = {}) {
  answer(orders.order, of)
  answer(orders.timeline, { data: timeline, next: null })
  answer(orders.proxies, pageOf(proxy))
  answer(payments.ofOrder, pageOf(payment))
  return renderScreen(<OrderPage />, { at: '/dashboard/index/order/7', route: ROUTE, as, ...(from && { from }) })
}
const history = () => screen.findByRole('region', { name: 'History' })

describe('the page of an order', () => {
  it('tells its timeline in words, whoever wrote it down, with time, cause and actor', async () => {
    open({
      timeline: [
        entry({ id: 9, kind: 'expiry_set', actor: 'boss', viewed_as: 'alice' }),
        entry({ id: 8, kind: 'moved', detail: { cause: 'given_up', from: 'paris', to: 'lyon', addresses: 8 } }),
        entry({ id: 7, kind: 'credited', detail: { seconds: 5400, outage: 2 } }),
        entry({ id: 6, source: 'admin', kind: 'order.reset', actor: 'boss' }),
        entry({
          id: 5,
          source: 'platform',
          kind: 'underpaid',
          detail: { topic: 'orders/paid', platform_order: '#1001', order_id: 'NL-1', paid: '5.00', due: '12.00' }
        }),
        entry({ id: 4, source: 'mail', kind: 'payment-received', detail: { state: 'sent', to: 'alice@example.com' } })
      ]
    })
    const timeline = within(await history())
    const entries = await timeline.findAllByRole('listitem')
    const texts = entries.map(({ textContent }) => textContent ?? '')
    expect(texts[0]).toMatch(/^Expiry set.*by boss as alice/)
    expect(texts[1]).toMatch(/Moved to other addresses.*paris → lyon.*cause: its server was given up.*addresses: 8/)
    expect(texts[2]).toContain('minutes: 90')
    expect(texts[3]).toMatch(/Reset of the password.*by boss/)
    expect(texts[4]).toMatch(/Platform: payment.*#1001, Too little.*\$5\.00 of \$12\.00/)
    expect(texts[5]).toMatch(/Mail: receipt.*Sent, alice@example\.com/)
    const link = within(entries[4] as HTMLElement).getByRole('link', { name: 'Platform: payment' })
    expect(link.getAttribute('href')).toBe('/dashboard/index/payments?open=5')
  })

  it('shows what it has no words for as it was written down', async () => {
    open({
      timeline: [
        entry({ id: 4, kind: 'of_a_newer_server', detail: { strange: 'thing' } }),
        entry({ id: 3, source: 'admin', kind: 'order.of_a_newer_server', actor: 'boss' }),
        entry({ id: 2, source: 'platform', kind: 'new_outcome', detail: { topic: 'new/topic' } }),
        entry({ id: 1, source: 'mail', kind: 'new-mail', detail: { state: 'sent' } })
      ]
    })
    const timeline = within(await history())
    for (const text of ['of_a_newer_server', 'strange: thing', 'order.of_a_newer_server', 'new/topic', 'new_outcome'])
      expect(await timeline.findByText(text)).toBeTruthy()
    expect(timeline.getByText('Mail: new-mail')).toBeTruthy()
  })

  it('goes back in the timeline on demand', async () => {
    answer(orders.order, order)
    answer(orders.proxies, pageOf(proxy))
    answer(payments.ofOrder, pageOf(payment))
    answer(orders.timeline, ({ query }) =>
      query['earlier']
        ? { data: [entry({ id: 1, kind: 'placed' })], next: null }
        : { data: [entry({ id: 2, kind: 'pay' })], next: '1700000000000000.3.2' }
    )
    const { user } = renderScreen(<OrderPage />, { at: '/dashboard/index/order/7', route: ROUTE })
    await user.click(await screen.findByRole('button', { name: 'Show what happened earlier' }))
    expect(await screen.findByText('Placed')).toBeTruthy()
    expect(requestsOf(orders.timeline).at(-1)?.query).toEqual({ limit: '50', earlier: '1700000000000000.3.2' })
  })

  it('sends a mail again that failed, after a question', async () => {
    answer(mail.sendAgain, null)
    const { user } = open({
      timeline: [
        entry({
          id: 44,
          source: 'mail',
          kind: 'proxies-delivered',
          detail: { state: 'failed', to: 'alice@example.com', error_code: 'rejected' },
          can_resend: true
        })
      ]
    })
    expect(await screen.findByText(/Failed, alice@example.com, The mail service refused this mail/)).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Send again' }))
    expect(requestsOf(mail.sendAgain)).toEqual([])
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(mail.sendAgain)).toMatchObject([{ params: { id: '44' } }]))
  })

  it('shows the money by payment of the platform: for what, what went back, what counts', async () => {
    open()
    const money = within(await screen.findByRole('region', { name: 'Money' }))
    const link = await money.findByRole('link', { name: '#1001 on the platform, in a new tab' })
    expect(link.getAttribute('href')).toBe('https://shop.example.com/admin/orders/501')
    const row = link.closest('tr')?.textContent ?? ''
    for (const text of [
      'Purchase',
      'Counts',
      '8 × $1.50',
      'New York',
      '$12.00',
      'discount $2.00',
      '$1.50',
      '$10.50',
      '30 days given'
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
    await user.click(proxies.getByRole('switch', { name: 'Only those given back' }))
    await waitFor(() => expect(requestsOf(orders.proxies).at(-1)?.query['retired']).toBe('1'))
    expect(asked()).toEqual({ retired: 'true' })
  })

  it('reads the password only once somebody asks for it', async () => {
    const shown = { id: 1, ip: '192.0.2.10', port: 1080, username: 'u1', password: 'secret1', status: null }
    const none = { bing_delay: null, google_delay: null, amazon_delay: null }
    const times = { created_at: order.created_at, updated_at: order.created_at }
    const { data: _data, ...paging } = pageOf(order)
    answer(orders.proxyDetail, { ...paging, proxy_list: [{ ...shown, ...none, ...times }], order })
    const { user } = open()
    const button = await screen.findByRole('button', { name: 'Show username and password' })
    expect(requestsOf(orders.proxyDetail)).toEqual([])
    await user.click(button)
    expect(await screen.findByText('u1:secret1')).toBeTruthy()
  })

  it('says why the password could not be read, and reads it again when asked', async () => {
    answerRefused(orders.proxyDetail, 'unavailable')
    const { user } = open()
    const button = await screen.findByRole('button', { name: 'Show username and password' })
    await user.click(button)
    await screen.findByRole('alert')
    const { data: _data, ...paging } = pageOf(order)
    answer(orders.proxyDetail, { ...paging, proxy_list: [], order })
    await user.click(screen.getByRole('button', { name: 'Show username and password' }))
    expect(await screen.findByText('No proxy data found')).toBeTruthy()
    expect(requestsOf(orders.proxyDetail)).toHaveLength(2)
  })

  it.each([
    ['expired', 'It is over. The switch above shows the addresses that were given back.'],
    ['delivering', 'They appear here as soon as they are delivered.']
  ] as const)('without addresses says what becomes of one that is %s', async (state, words) => {
    open({ of: { ...order, state } })
    answer(orders.proxies, pageOf())
    expect(await screen.findByText(words)).toBeTruthy()
  })

  it('offers a viewer neither the password nor what changes something', async () => {
    open({ of: { ...order, state: 'failed', delivery_num: 0 }, as: { ...admin, operator_role: 'viewer' } })
    await history()
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

  it('offers all else that the list offers, without leading to itself', async () => {
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: `Actions: ${order.order_id}` }))
    expect(await screen.findAllByRole('menuitem')).not.toHaveLength(0)
    expect(screen.queryByRole('menuitem', { name: /^Details/ })).toBeNull()
    for (const name of ['Reset password', 'Check proxy', 'Change proxy', 'Extend expiry', 'Credit time', 'Delete'])
      expect(screen.getByRole('menuitem', { name: new RegExp(`^${name}`) })).toBeTruthy()
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
    expect(await screen.findByText('There is no such order')).toBeTruthy()
    unmount()
    renderScreen(<OrderPage />, { at: '/o/x', route: '/o/:id' })
    expect(await screen.findByText('There is no such order')).toBeTruthy()
    expect(requestsOf(orders.order)).toHaveLength(1)
  })

  it('speaks Chinese', async () => {
    await setLanguage('zh-CN')
    try {
      open({ timeline: [entry({ kind: 'placed' }), entry({ id: 2, source: 'mail', kind: 'expiry-reminder' })] })
      expect(await screen.findByText('邮件：到期提醒')).toBeTruthy()
    } finally {
      await act(() => setLanguage('en'))
    }
  })
})
