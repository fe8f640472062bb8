import type { Order } from '@netlet/contract'
import { screen, within, waitFor } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { orders } from '../../api/routes.ts'
import { answer, answerLost, answerRefused, hold, requestsOf } from '../../testing/answers.ts'
import { renderAt, setWidth } from '../../testing/render.tsx'
import { customer, order, pageOf, noOrderTraffic } from '../../testing/shapes.ts'
import ProxiesPage from './page.tsx'

const detail = { proxy_list: [], order, total: 0, total_exact: true, limit: 20, offset: 0, next: null }
const open = (at = '/dashboard/index/proxies') => {
  answer(orders.traffic, noOrderTraffic)
  return renderAt(<ProxiesPage />, { at, route: '/dashboard/index/proxies/:id?', user: customer })
}

describe("a customer's orders", () => {
  it('shows that they are being read, then the newest with its proxies', async () => {
    answer(orders.credits, [])
    answer(orders.proxyDetail, detail)
    const arrive = hold(orders.list)
    open()
    expect(screen.getByRole('status', { name: 'Recent orders' })).toBeTruthy()
    arrive(pageOf(order, { ...order, id: 6, order_id: '20260614-AAAAAAAA' }))
    const table = within(await screen.findByRole('table'))
    expect(table.getAllByRole('row')).toHaveLength(3)
    await waitFor(() => expect(requestsOf(orders.proxyDetail)).toMatchObject([{ params: { id: '7' } }]))
  })

  it('says that there are none, and where to get one of this collection', async () => {
    answer(orders.list, pageOf())
    const { user, where } = open('/dashboard/index/proxies/3')
    expect(await screen.findByText('No orders yet')).toBeTruthy()
    expect(requestsOf(orders.list)).toMatchObject([{ query: { product_type: '3', limit: '5', offset: '0' } }])
    await user.click(screen.getByRole('link'))
    expect(where()).toBe('/product?parId=3')
  })

  it.each([
    [
      'a refusal in its own words',
      () => answerRefused(orders.list, 'unavailable'),
      'The service is not available right now, please try again'
    ],
    ['a lost connection', () => answerLost(orders.list), 'The shop cannot be reached. Please check your connection.']
  ])('shows %s, and reads again when asked to', async (_, failing, words) => {
    failing()
    const { user } = open()
    expect((await screen.findByRole('alert')).textContent).toContain(words)
    answer(orders.list, pageOf())
    await user.click(screen.getByRole('button', { name: 'Try again' }))
    expect(await screen.findByText('No orders yet')).toBeTruthy()
  })

  it('cancels an unpaid order once its customer has said so', async () => {
    const unpaid = {
      ...order,
      state: 'placed' as const,
      pay_status: 0 as const,
      pay_amount: null,
      expired_at: null,
      delivered_at: null,
      checkout_url: 'https://shop.example.com/cart/1:8',
      reserved_until: '2126-06-15T08:30:00.000Z'
    }
    answer(orders.credits, [])
    answer(orders.proxyDetail, { ...detail, order: unpaid })
    answer(orders.list, pageOf(unpaid))
    answer(orders.cancel, null)
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Cancel' }))
    expect(requestsOf(orders.cancel)).toEqual([])
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(orders.cancel)).toMatchObject([{ params: { id: '7' } }]))
    expect(await screen.findByText('The order was cancelled')).toBeTruthy()
  })

  it('says that the term of an order on its way starts with the delivery, and until when an expired one is held', async () => {
    const coming = { ...order, state: 'delivering' as const, expired_at: null, delivered_at: null, delivery_num: 0 }
    const held = {
      ...order,
      id: 8,
      state: 'expired' as const,
      is_expired: true,
      grace_until: '2126-07-16T08:00:00.000Z'
    }
    const over = { ...order, id: 9, state: 'expired' as const, is_expired: true }
    answer(orders.list, pageOf<Order>(held, coming, over))
    answer(orders.credits, [])
    answer(orders.proxyDetail, ({ params }) => ({
      ...detail,
      order: [held, coming, over].find(({ id }) => String(id) === params['id']) ?? order
    }))
    const { user } = open()
    expect(await screen.findByText('starts with delivery')).toBeTruthy()
    expect(screen.getByText(/Expired, renew until/)).toBeTruthy()
    const renew = await screen.findByRole<HTMLButtonElement>('button', { name: 'Renew' })
    expect(renew.disabled).toBe(false)
    await user.click(screen.getAllByRole('button', { pressed: false })[1] as HTMLElement)
    await waitFor(() => expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Renew' }).disabled).toBe(true))
  })

  it('is a list of cards on a phone', async () => {
    setWidth(390)
    answer(orders.credits, [])
    answer(orders.proxyDetail, detail)
    answer(orders.list, pageOf(order))
    open()
    const cards = await screen.findByRole('list', { name: 'Recent orders' })
    expect(within(cards).getAllByRole('listitem')).toHaveLength(1)
    expect(screen.queryByRole('table')).toBeNull()
  })
})
