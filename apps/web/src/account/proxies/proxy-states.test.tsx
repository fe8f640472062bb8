import type { Order } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { orders } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { setWidth } from '../../testing/render.tsx'
import { order, pageOf } from '../../testing/shapes.ts'
import { open, proxy, show, unpaid } from './proxies.fixture.tsx'

const PATH = '/dashboard/index/proxies'
const proxies = async () => within(await screen.findByRole('region', { name: 'Proxies' }))
const held: Order = {
  ...order,
  state: 'expired',
  is_expired: true,
  expired_at: '2026-06-15T08:00:00.000Z',
  grace_until: '2126-07-16T08:00:00.000Z'
}

describe('where there are no proxies to show', () => {
  it('leads to the newest order where the link names none of them', async () => {
    open(order, `${PATH}?order=99`)
    answer(orders.list, ({ query }) => (query['id'] ? pageOf() : pageOf(order)))
    const panel = await proxies()
    expect(await panel.findByText('No order selected')).toBeTruthy()
    expect(
      panel.getByText('The order in this link is not yours, or was deleted. Choose one of your orders above.')
    ).toBeTruthy()
    expect(panel.getByRole('link', { name: 'Show my orders' }).getAttribute('href')).toBe(PATH)
  })

  it('leads to the payment of an unpaid order, and watches it', async () => {
    show(unpaid)
    answer(orders.payment, {
      status: 'pending',
      is_cancelled: false,
      payment_pending: false,
      pay_status: 0,
      delivery_num: 0,
      proxy_num: 8,
      fail: null
    })
    const { user } = open(unpaid)
    const panel = await proxies()
    expect(await panel.findByText('This order is unpaid')).toBeTruthy()
    const pay = panel.getByRole<HTMLAnchorElement>('link', { name: 'Pay now' })
    expect(pay).toMatchObject({ href: unpaid.checkout_url, target: '_blank', rel: 'noopener' })
    pay.addEventListener('click', event => event.preventDefault())
    await user.click(pay)
    expect((await screen.findByRole('dialog')).textContent).toContain(unpaid.order_id)
  })

  it('says that the payment of an order is on its way, and offers no second one', async () => {
    const coming = { ...unpaid, payment_pending: true, checkout_url: null }
    show(coming)
    open(coming)
    const panel = await proxies()
    expect(await panel.findByText('Your payment is being processed')).toBeTruthy()
    expect(screen.queryByRole('link', { name: 'Pay now' })).toBeNull()
    expect(screen.getByText('Payment on its way')).toBeTruthy()
    expect(panel.getByText(/We hold their IPs until .*2126.* A later payment still counts\./)).toBeTruthy()
  })

  it('offers no second renewal of an expired order whose renewal is on its way', async () => {
    const renewed = { ...unpaid, state: 'expired', pay_status: 1, is_expired: true, payment_pending: true } as const
    show({ ...renewed, checkout_url: null, grace_until: '2126-06-20T08:30:00.000Z' })
    open(renewed)
    const panel = await proxies()
    expect(await panel.findByText('Your payment is being processed')).toBeTruthy()
    expect(panel.queryByRole('button', { name: 'Renew this order' })).toBeNull()
  })

  it('offers no payment of an order whose addresses are free again', async () => {
    const late = { ...unpaid, reserved_until: '2026-06-15T08:30:00.000Z' }
    show(late)
    open(late)
    const panel = await proxies()
    expect(await panel.findByText('This order is unpaid')).toBeTruthy()
    expect(panel.queryByRole('link', { name: 'Pay now' })).toBeNull()
  })

  it.each([
    ['cancelled', 0, 'This order was cancelled', 'Order again'],
    ['timed_out', 0, 'This order was not paid in time', 'Order again'],
    ['failed', 1, 'Delivery of this order failed', 'Contact support'],
    ['refunded', 1, 'This order was refunded', 'Order again']
  ] as const)(
    'says of one that is %s what can be done, and offers nothing else',
    async (state, pay_status, title, way) => {
      const now = { ...order, state, pay_status, delivery_num: 0, refunded_amount: order.pay_amount ?? '0.00' }
      show(now)
      open(now)
      const panel = await proxies()
      expect(await panel.findByText(title)).toBeTruthy()
      expect(panel.getByRole('link', { name: way })).toBeTruthy()
      for (const name of ['Copy', 'Export', 'Check', 'Renew'])
        expect(panel.getByRole('button', { name }), name).toHaveProperty('disabled', true)
    }
  )

  it.each([
    [{ refunded_amount: '53.00' }, 'Your refund is complete or on its way. The proxies no longer work.'],
    [{ refunded_amount: '53.00', delivered_at: null }, 'Your refund is complete or on its way.'],
    [
      { refunded_amount: '20.00' },
      '$20.00 of the $53.00 that you paid was returned. The proxies no longer work. Contact us about the rest.'
    ]
  ])('says of a refunded order how much went back', async (change, body) => {
    const now: Order = { ...order, state: 'refunded', delivery_num: 0, pay_amount: '53.00', ...change }
    show(now)
    open(now)
    expect(await (await proxies()).findByText(body)).toBeTruthy()
  })

  it('offers to ask for one that ended early to be started again', async () => {
    const ended = { state: 'expired', is_expired: true, can_reopen: true, grace_until: null } as const
    const stopped: Order = { ...order, ...ended, delivery_num: 0, expired_at: '2126-06-20T08:30:00.000Z' }
    show(stopped)
    open(stopped)
    const panel = await proxies()
    expect(await panel.findByText('This order has time left')).toBeTruthy()
    expect(panel.getByRole('link', { name: 'Contact support' })).toBeTruthy()
    expect(screen.queryByText(/^Ended/)).toBeNull()
  })

  it('renews an expired order while its addresses are held', async () => {
    vi.spyOn(window, 'open').mockReturnValue(null)
    const assign = vi.spyOn(window.location, 'assign').mockImplementation(() => {})
    show(held)
    answer(orders.renew, { checkout_url: 'https://shop.example.com/renew', days: 30, price: '21.60', discount: null })
    const { user } = open(held)
    const panel = await proxies()
    expect(await panel.findByText('This order has expired')).toBeTruthy()
    await user.click(panel.getByRole('button', { name: 'Renew this order' }))
    await waitFor(() => expect(requestsOf(orders.renew)).toMatchObject([{ params: { id: '7' } }]))
    await waitFor(() => expect(assign).toHaveBeenCalledWith('https://shop.example.com/renew'))
  })
})

it('IPv6 proxies with an exit by session have a command for one, with the address in brackets, on a phone too', async () => {
  setWidth(390)
  const ipv6: Order = { ...order, address_family: 'ipv6', egress: 'session' }
  show(ipv6, { ...proxy, ip: '2001:db8:0:1::1', port: 3128, password: 'secret' })
  open(ipv6)
  const command = "curl -x 'http://[2001:db8:0:1::1]:3128' -U 'u7-session-abc:secret' https://example.com"
  expect(await screen.findByText(command)).toBeTruthy()
  expect(screen.getByText('[2001:db8:0:1::1]:3128')).toBeTruthy()
})
