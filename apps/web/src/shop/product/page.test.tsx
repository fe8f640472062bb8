import { act, screen } from '@testing-library/react'
import { beforeEach, expect, it, vi } from 'vitest'
import { catalog, orders } from '../../api/routes.ts'
import { setSessionUser } from '../../api/session.ts'
import { keepPayment } from '../../kit/payment/pending.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { customer, pageOf } from '../../testing/shapes.ts'
import ProductPage from './page.tsx'

beforeEach(() => {
  answer(catalog.collections, pageOf())
  answer(catalog.rules, [])
  answer(catalog.products, pageOf())
})

it.each(['abc', '', '0', '99999'])('says that what has the id %j is not on sale', async id => {
  renderAt(<ProductPage />, { at: `/product?id=${id}`, user: null })
  expect(await screen.findByText('This product is not on sale')).toBeTruthy()
  // The server is queried only for possible ids.
  expect(requestsOf(catalog.products)).toHaveLength(id === '99999' ? 1 : 0)
})

it.each([
  ['nobody', null],
  ['another customer', { ...customer, id: customer.id + 1 }]
])('shows a payment no more once %s is signed in', async (_, next) => {
  const now = Date.parse('2026-05-15T12:00:00Z')
  vi.useFakeTimers({ toFake: ['Date'], now })
  answer(orders.payment, {
    status: 'pending',
    is_cancelled: false,
    payment_pending: false,
    pay_status: 0,
    delivery_num: 0,
    proxy_num: 8,
    fail: null
  })
  keepPayment({
    id: 7,
    orderId: 'NL-7',
    checkoutUrl: 'https://pay.example.com/1',
    deadline: now + 60_000,
    bought: { product_name: 'Metro ISP', variant_name: 'Paris', acl_names: ['Video'], quantity: 8, amount: '8.00' }
  })
  renderAt(<ProductPage />, { at: '/product', user: customer })
  expect(await screen.findByRole('dialog', { name: 'Waiting for your payment' })).toBeTruthy()
  act(() => setSessionUser(next))
  expect(screen.queryByRole('dialog')).toBeNull()
})
