import type { LevelDiscount, Order } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { queryClient } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { answer, answerLost, hold, requestsOf } from '../../testing/answers.ts'
import { order, pageOf } from '../../testing/shapes.ts'
import { answerAll, onOrdered, open, placed, purchase, tab, variant } from './one-product.fixture.tsx'

const gold: LevelDiscount = { level: 3, discount: '3.00', discount_type: 'percent' }

beforeEach(answerAll)

describe('the same choice, while an order of it is unpaid', () => {
  const at = '/product?id=1&o1=Paris&acl=2,1&q=16'
  const unpaid: Order = {
    ...order,
    order_id: 'NL-OPEN',
    product_id: 1,
    variant_id: variant.id,
    acl_selected: '1,2',
    product_quantity: 16,
    amount: '21.60',
    discount: gold,
    state: 'placed',
    pay_status: 0,
    pay_amount: null,
    checkout_url: 'https://pay.example.com/open',
    reserved_until: '2126-06-15T08:30:00.000Z'
  }
  const another = { ...placed, order_id: 'NL-9', expires_at: '2026-06-15T08:30:00Z' }
  const ready = () => screen.findByText('16 × $1.35')
  const offer = async () =>
    within(await screen.findByRole('dialog', { name: 'You already have an unpaid order for this' }))
  beforeEach(() => {
    vi.spyOn(window, 'open').mockReturnValue(tab as unknown as Window)
    answer(orders.list, pageOf(unpaid))
    answer(orders.checkout, another)
  })

  it('offers to pay that one, at what its checkout charges', async () => {
    const { user } = open(at, variant)
    await ready()
    await user.click(await purchase())
    const dialog = await offer()
    expect(dialog.getByText('NL-OPEN')).toBeTruthy()
    expect(dialog.getByText('$20.95')).toBeTruthy()
    expect(dialog.getByText(/We hold its IPs for you until .+ \([\d,]+ minutes left\)\./)).toBeTruthy()
    const pay = dialog.getByRole<HTMLAnchorElement>('link', { name: 'Pay this order' })
    expect(pay).toMatchObject({ href: 'https://pay.example.com/open', target: '_blank', rel: 'noopener' })
    expect(document.activeElement).toBe(pay)
    // The first of the two, also where they stand one below the other.
    expect(pay.nextElementSibling?.textContent).toBe('Place another order')
    pay.addEventListener('click', event => event.preventDefault())
    await user.click(pay)
    expect(onOrdered.mock.calls).toMatchObject([[{ blocked: false, pending: { orderId: 'NL-OPEN' } }]])
    expect(screen.queryByRole('dialog')).toBeNull()
    expect(requestsOf(orders.checkout)).toEqual([])
  })

  it('places another one only where that is asked for, once', async () => {
    const { user } = open(at, variant)
    await ready()
    await user.click(await purchase())
    const dialog = await offer()
    expect(requestsOf(orders.checkout)).toEqual([])
    await user.click(dialog.getByRole('button', { name: 'Place another order' }))
    await waitFor(() => expect(onOrdered.mock.calls).toMatchObject([[{ pending: { orderId: 'NL-9' } }]]))
    expect(requestsOf(orders.checkout)).toHaveLength(1)
    expect(screen.queryByRole('dialog')).toBeNull()
  })

  it('is not asked about before it is known whether there is one', async () => {
    const arrive = hold(orders.list)
    const { user } = open(at, variant)
    await ready()
    await user.click(await screen.findByRole('button', { name: 'Purchase' }))
    expect(requestsOf(orders.checkout)).toEqual([])
    arrive(pageOf(unpaid))
    await waitFor(async () => expect(await purchase()).not.toHaveProperty('disabled', true))
    await user.click(await purchase())
    await offer()
  })

  it.each([
    ['of another quantity', { product_quantity: 8 }],
    ['of another plan', { variant_id: 2 }],
    ['of another product', { product_id: 2 }],
    ['of fewer rules', { acl_selected: '1' }],
    ['that was cancelled', { state: 'cancelled' }],
    ['whose addresses are free again', { reserved_until: '2026-06-15T08:30:00.000Z' }],
    ['whose link leads to no page', { checkout_url: 'javascript:alert(1)' }]
  ] as const)('is ordered at once beside one %s', async (_what, change) => {
    answer(orders.list, pageOf({ ...unpaid, ...change }))
    const { user } = open(at, variant)
    await ready()
    await user.click(await purchase())
    await waitFor(() => expect(onOrdered).toHaveBeenCalledOnce())
    expect(screen.queryByRole('dialog')).toBeNull()
  })

  it('is ordered where the orders cannot be read', async () => {
    answerLost(orders.list)
    const { user } = open(at, variant)
    await ready()
    await waitFor(async () => expect(await purchase()).not.toHaveProperty('disabled', true))
    await user.click(await purchase())
    await waitFor(() => expect(onOrdered).toHaveBeenCalledOnce())
  })

  it('offers the order whose reply was lost, and another one has another key', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch')
    const keys = () => fetched.mock.calls.flatMap(([, init]) => new Headers(init?.headers).get('idempotency-key') ?? [])
    answer(orders.list, () => pageOf(...(requestsOf(orders.checkout).length > 0 ? [unpaid] : [])))
    answerLost(orders.checkout)
    const { user } = open(at, variant)
    await ready()
    await user.click(await purchase())
    await screen.findByRole('alert')
    await waitFor(() => expect(requestsOf(orders.list).length).toBeGreaterThan(1))
    await waitFor(() => expect(queryClient.isFetching()).toBe(0))
    answer(orders.checkout, another)
    await user.click(await purchase())
    await user.click((await offer()).getByRole('button', { name: 'Place another order' }))
    await waitFor(() => expect(onOrdered).toHaveBeenCalledOnce())
    expect(keys()).toHaveLength(2)
    expect(new Set(keys()).size).toBe(2)
  })
})
