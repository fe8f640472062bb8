import type { Order } from '@netlet/contract'
import { cleanup, screen, waitFor, within } from '@testing-library/react'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { queryClient } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { order } from '../../testing/shapes.ts'
import { open, show } from './proxies.fixture.tsx'

const CHECKOUT = 'https://shop.example.com/cart/7'

beforeEach(() => {
  vi.spyOn(window, 'open').mockImplementation(
    () =>
      ({
        closed: false,
        close: () => {},
        document: document.implementation.createHTMLDocument(),
        location: { replace: () => {} }
      }) as unknown as Window
  )
  answer(orders.renew, { checkout_url: CHECKOUT, days: 30, price: '21.60', discount: null })
})

/** Opens the page as after a reload or in another tab. */
function visit(now: Order = order) {
  cleanup()
  queryClient.clear()
  show(now)
  return open(now).user
}
type User = ReturnType<typeof visit>
const press = async (user: User, name: string) => user.click(await screen.findByRole('button', { name }))
const question = async () => within(await screen.findByRole('dialog', { name: 'Open another checkout?' }))
const asked = () => requestsOf(orders.renew).length

describe('a renewal whose checkout is open', () => {
  it('is asked about before another one is opened, from every button', async () => {
    const user = visit()
    await press(user, 'Renew')
    await waitFor(() => expect(asked()).toBe(1))
    await press(user, 'Renew 20260615-7QK2M9XA')
    await user.click((await question()).getByRole('button', { name: 'NO' }))
    expect(asked()).toBe(1)
    expect(window.open).toHaveBeenCalledOnce()
    await press(user, 'Renew')
    await user.click((await question()).getByRole('button', { name: 'YES' }))
    await waitFor(() => expect(asked()).toBe(2))
  })

  it('is asked about after a reload and in another tab', async () => {
    await press(visit(), 'Renew')
    await waitFor(() => expect(asked()).toBe(1))
    await press(visit(), 'Renew')
    await question()
    expect(asked()).toBe(1)
  })

  it('is asked about in every browser while its payment is being processed', async () => {
    await press(visit({ ...order, payment_pending: true }), 'Renew')
    expect((await question()).getByText(/If you pay again, you buy two terms\./)).toBeTruthy()
    expect(asked()).toBe(0)
  })

  it('is asked about among several renewals', async () => {
    await press(visit(), 'Renew')
    await waitFor(() => expect(asked()).toBe(1))
    answer(orders.renewMany, [{ id: order.id, checkout_url: CHECKOUT, days: 30, price: '21.60', discount: null }])
    const user = visit()
    await user.click(await screen.findByRole('checkbox', { name: 'Select order 20260615-7QK2M9XA' }))
    await press(user, 'Renew 1 order')
    await press(user, 'Open again: 20260615-7QK2M9XA')
    await question()
    expect(screen.queryByRole('link', { name: /^Pay now/ })).toBeNull()
  })

  it.each([
    ['its order ends later', { expired_at: '2027-01-05T12:00:00.000Z' }],
    ['more was paid for an order on its way', { pay_amount: '43.20' }]
  ])('is paid once %s: the next one is a renewal of its own', async (_, paid) => {
    await press(visit(), 'Renew')
    await waitFor(() => expect(asked()).toBe(1))
    await press(visit({ ...order, ...paid }), 'Renew')
    await waitFor(() => expect(asked()).toBe(2))
  })

  it('is asked about still where the link to another one was refused', async () => {
    const user = visit()
    await press(user, 'Renew')
    await waitFor(() => expect(asked()).toBe(1))
    answerRefused(orders.renew, 'unavailable')
    await press(user, 'Renew')
    await user.click((await question()).getByRole('button', { name: 'YES' }))
    await waitFor(() => expect(asked()).toBe(2))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    await press(user, 'Renew')
    await question()
    expect(asked()).toBe(2)
  })

  it('is none where the link was refused, or another customer is signed in', async () => {
    answerRefused(orders.renew, 'order_expired')
    const user = visit()
    await press(user, 'Renew')
    await screen.findByText('The order has expired, please place a new order.')
    answer(orders.renew, { checkout_url: CHECKOUT, days: 30, price: '21.60', discount: null })
    await press(user, 'Renew')
    await waitFor(() => expect(asked()).toBe(2))
    await press(visit({ ...order, uid: order.uid + 1 }), 'Renew')
    await waitFor(() => expect(asked()).toBe(3))
  })
})
