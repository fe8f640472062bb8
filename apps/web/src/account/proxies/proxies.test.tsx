import type { LevelDiscount, Order, Proxy } from '@netlet/contract'
import { screen, within, waitFor } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { refresh } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { answer, answerLost, answerRefused, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { customer, order, pageOf, noOrderTraffic } from '../../testing/shapes.ts'
import { BulkRenewal } from './bulk-renewal.tsx'
import ProxiesPage from './page.tsx'
import { unpaid } from './proxies.fixture.tsx'

const { data: _none, ...paging } = pageOf()
const detail = { ...paging, proxy_list: [] as Proxy[], order }
const detailOf = (...known: Order[]) =>
  answer(orders.proxyDetail, ({ params }) => ({
    ...detail,
    order: known.find(({ id }) => String(id) === params['id']) ?? order
  }))
const open = (at = '/dashboard/index/proxies') => {
  answer(orders.traffic, noOrderTraffic)
  answer(orders.credits, [])
  return renderAt(<ProxiesPage />, { at, route: '/dashboard/index/proxies/:id?', user: customer })
}
const older = { ...order, id: 6, order_id: '20260614-AAAAAAAA', product_name: 'Metro ISP' }

describe("a customer's orders", () => {
  it('shows the newest one that did not end unpaid', async () => {
    detailOf(order, older)
    answer(
      orders.list,
      pageOf({ ...unpaid, id: 8, state: 'cancelled', checkout_url: null, reserved_until: null }, older)
    )
    open()
    await waitFor(() => expect(requestsOf(orders.proxyDetail).at(-1)?.params).toEqual({ id: '6' }))
    expect(requestsOf(orders.proxyDetail).every(({ params }) => params['id'] === '6')).toBe(true)
  })

  it('says that one is over as soon as its time is, before the shop has ended it', async () => {
    detailOf(order)
    answer(orders.list, pageOf({ ...order, expired_at: '2026-06-15T08:00:00.000Z' }))
    open()
    const table = within(await screen.findByRole('table'))
    expect(await table.findByText('Expired')).toBeTruthy()
    expect(table.queryByText('Active')).toBeNull()
  })

  it('says that there are none, and where to get one of this collection', async () => {
    answer(orders.list, pageOf())
    const { user, where } = open('/dashboard/index/proxies/3')
    expect(await screen.findByText('No orders of this product type yet')).toBeTruthy()
    expect(requestsOf(orders.list)).toMatchObject([{ query: { product_type: '3', limit: '5', offset: '0' } }])
    await user.click(screen.getByRole('link'))
    expect(where()).toBe('/product?parId=3')
  })

  it.each([
    [
      'a refusal in its own words',
      () => answerRefused(orders.list, 'unavailable'),
      'The service is unavailable right now. Please try again.'
    ],
    [
      'a lost connection',
      () => answerLost(orders.list),
      'Failed to load order details: Cannot reach the shop. Please check your connection.'
    ]
  ])('shows %s, and reads again when asked to', async (_, failing, words) => {
    failing()
    const { user } = open()
    expect((await screen.findByRole('alert')).textContent).toContain(words)
    answer(orders.list, pageOf())
    await user.click(screen.getByRole('button', { name: 'Try again' }))
    expect(await screen.findByText('No orders yet')).toBeTruthy()
  })

  it('cancels an unpaid order once its customer has said so', async () => {
    answer(orders.proxyDetail, { ...detail, order: unpaid })
    answer(orders.list, pageOf(unpaid))
    answer(orders.cancel, null)
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Cancel' }))
    expect(requestsOf(orders.cancel)).toEqual([])
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(orders.cancel)).toMatchObject([{ params: { id: '7' } }]))
    expect(await screen.findByText('Order cancelled')).toBeTruthy()
  })

  it('says that the term of an order on its way starts with the delivery, and until when an expired one is held', async () => {
    const coming: Order = { ...order, state: 'delivering', expired_at: null, delivered_at: null, delivery_num: 0 }
    const held: Order = { ...order, id: 8, state: 'expired', is_expired: true, grace_until: '2126-07-16T08:00:00.000Z' }
    const over: Order = {
      ...order,
      id: 9,
      order_id: '20260611-BBBBBBBB',
      product_name: 'Over',
      state: 'expired',
      is_expired: true,
      expired_at: '2026-07-15T08:00:00.000Z'
    }
    answer(orders.list, pageOf(held, coming, over))
    detailOf(held, coming, over)
    const { user, where } = open()
    expect(await screen.findByText('starts on delivery')).toBeTruthy()
    expect(screen.getByText(/Expired\. Renew by Jul 16, 2126, [\d,]+ days/)).toBeTruthy()
    expect(screen.getByText(/^Ended Jul 15/)).toBeTruthy()
    const renew = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Renew' })
    await waitFor(() => expect(renew().disabled).toBe(false))
    await user.click(screen.getByRole('button', { name: /^Over/ }))
    await waitFor(() => expect(renew().disabled).toBe(true))
    expect(screen.queryByRole('button', { name: 'Renew 20260611-BBBBBBBB' })).toBeNull()
    expect(where()).toBe('/dashboard/index/proxies?order=9')
  })
})

describe('the selected order', () => {
  it('is in the address, with a step that Back undoes, and survives other parameters', async () => {
    detailOf(order, older)
    answer(orders.list, pageOf(order, older))
    const { user, where } = open('/dashboard/index/proxies?from=mail&proxy_page=3')
    await user.click(await screen.findByRole('button', { name: /^Metro ISP/ }))
    // Another order starts at its first page.
    expect(where()).toBe('/dashboard/index/proxies?from=mail&order=6')
    await waitFor(() => expect(requestsOf(orders.proxyDetail).at(-1)?.params).toEqual({ id: '6' }))
  })

  it('is asked for where it is on another page of the list', async () => {
    const away = { ...order, id: 3, order_id: '20260601-CCCCCCCC' }
    detailOf(away)
    answer(orders.list, ({ query }) => (query['id'] === '3' ? pageOf(away) : pageOf(order, older)))
    open('/dashboard/index/proxies?order=3')
    expect(await screen.findByText('20260601-CCCCCCCC')).toBeTruthy()
    expect(requestsOf(orders.proxyDetail).every(({ params }) => params['id'] === '3')).toBe(true)
  })

  it('that does not exist is not replaced by another one, so that nothing else is copied', async () => {
    answer(orders.list, ({ query }) => (query['id'] ? pageOf() : pageOf(order)))
    const { user } = open('/dashboard/index/proxies?order=99')
    expect(await screen.findByText('No order selected')).toBeTruthy()
    for (const name of ['Renew', 'Check', 'Copy', 'Export']) {
      await user.click(screen.getByRole('button', { name }))
      expect(await screen.findByText('Please select an order first')).toBeTruthy()
    }
    expect(requestsOf(orders.proxyDetail)).toEqual([])
  })

  it.each(['abc', '-1', '1e3', '0', '7%20or%201', '99999999999999999999'])(
    'takes no order from ?order=%s',
    async text => {
      answer(orders.proxyDetail, detail)
      answer(orders.list, pageOf(order))
      open(`/dashboard/index/proxies?order=${text}`)
      await waitFor(() => expect(requestsOf(orders.proxyDetail)[0]?.params).toEqual({ id: '7' }))
      expect(requestsOf(orders.list).every(({ query }) => !('id' in query))).toBe(true)
    }
  )
})

describe('labels and notes', () => {
  it('are given where they stand; the field closes with Escape and gives the focus back', async () => {
    answer(orders.proxyDetail, detail)
    answer(orders.list, pageOf(order))
    const labelled = { ...order, label: 'Shop 1' }
    answer(orders.label, labelled)
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: /^Add label/ }))
    const field = screen.getByRole('textbox', { name: 'Label of order 20260615-7QK2M9XA' })
    await user.type(field, 'Wrong{Escape}')
    expect(screen.queryByRole('textbox', { name: /^Label/ })).toBeNull()
    await waitFor(() => expect(document.activeElement?.getAttribute('title')).toBe('Add label'))
    expect(requestsOf(orders.label)).toEqual([])

    await user.keyboard('{Enter}')
    answer(orders.list, pageOf(labelled))
    await user.type(screen.getByRole('textbox', { name: /^Label/ }), 'Shop 1{Enter}')
    expect(await screen.findByRole('button', { name: 'Edit label Shop 1' })).toBeTruthy()
    expect(requestsOf(orders.label)).toEqual([{ params: { id: '7' }, query: {}, body: { label: 'Shop 1' } }])
  })

  it('keep what was typed where they cannot be saved', async () => {
    answer(orders.proxyDetail, detail)
    answer(orders.list, pageOf(order))
    answerLost(orders.label)
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Add note' }))
    await user.type(screen.getByRole('textbox', { name: 'Note' }), 'For the crawler')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText(/^Could not save the note: Cannot reach the shop/)).toBeTruthy()
    expect(screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Note' }).value).toBe('For the crawler')
    expect(requestsOf(orders.label)).toMatchObject([{ body: { note: 'For the crawler' } }])
  })
})

describe('a renewal', () => {
  it.each([
    [
      'without an answer',
      () => answerLost(orders.renew),
      'Failed to create order: Cannot reach the shop. Please check your connection.'
    ],
    [
      'that is refused',
      () => answerRefused(orders.renew, 'order_expired'),
      'The order has expired, please place a new order.'
    ]
  ])('%s says so, and closes its tab', async (_, failing, words) => {
    const tab = { opener: null, closed: false, close: vi.fn(), document: document.implementation.createHTMLDocument() }
    vi.spyOn(window, 'open').mockReturnValue(tab as unknown as Window)
    answer(orders.proxyDetail, detail)
    answer(orders.list, pageOf(order))
    failing()
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Renew' }))
    expect(await screen.findByText(words)).toBeTruthy()
    expect(tab.close).toHaveBeenCalledOnce()
  })
})

it('a renewal that a mail asks for begins after YES, and not after NO', async () => {
  answer(orders.proxyDetail, detail)
  answer(orders.list, pageOf(order))
  answer(orders.renew, { checkout_url: 'https://shop.example.com/renew', days: 30, price: '21.60', discount: null })
  vi.spyOn(window, 'open').mockReturnValue(null)
  vi.spyOn(window.location, 'assign').mockImplementation(() => {})
  for (const [word, sent] of [
    ['NO', []],
    ['YES', [{ params: { id: '7' } }]]
  ] as const) {
    const { user, where, unmount } = open('/dashboard/index/proxies?order=7&renew=7')
    await user.click(await screen.findByRole('button', { name: word }))
    await waitFor(() => expect(where()).toBe('/dashboard/index/proxies?order=7'))
    await waitFor(() => expect(requestsOf(orders.renew)).toMatchObject(sent))
    unmount()
  }
})

describe('several renewals', () => {
  it('say what they cost today, together too', async () => {
    answer(orders.proxyDetail, detail)
    answer(orders.list, pageOf(order, older))
    answer(orders.renewMany, [
      { id: order.id, checkout_url: 'https://shop.example.com/7', days: 30, price: '21.60', discount: null },
      { id: older.id, checkout_url: 'https://shop.example.com/6', days: 30, price: '30.05', discount: null }
    ])
    const { user } = open()
    await user.click(await screen.findByRole('checkbox', { name: 'Select order 20260615-7QK2M9XA' }))
    await user.click(screen.getByRole('checkbox', { name: 'Select order 20260614-AAAAAAAA' }))
    await user.click(screen.getByRole('button', { name: 'Renew 2 orders' }))
    expect(await screen.findByText('Total for 2 orders today: $51.65, before promo codes')).toBeTruthy()
    expect(screen.getByText(/Price today: \$21\.60, before promo codes/)).toBeTruthy()
  })

  it('say what was last paid, and no sum, where the platform does not answer', async () => {
    answer(orders.proxyDetail, detail)
    answer(orders.list, pageOf(order, { ...older, last_amount: '30.05' }))
    answer(orders.renewMany, [
      { id: order.id, checkout_url: 'https://shop.example.com/7', days: 30, price: '21.60', discount: null },
      { id: older.id, checkout_url: 'https://shop.example.com/6', days: 30, price: null, discount: null }
    ])
    const { user } = open()
    await user.click(await screen.findByRole('checkbox', { name: 'Select order 20260615-7QK2M9XA' }))
    await user.click(screen.getByRole('checkbox', { name: 'Select order 20260614-AAAAAAAA' }))
    await user.click(screen.getByRole('button', { name: 'Renew 2 orders' }))
    expect(await screen.findByText(/Last paid: \$30\.05/)).toBeTruthy()
    expect(screen.queryByText(/^Total for/)).toBeNull()
  })

  it('are prepared for the first fifty orders only, and say so', async () => {
    answer(orders.renewMany, [])
    const many = Array.from({ length: 51 }, (_, at) => ({ ...order, id: at + 1 }))
    renderAt(<BulkRenewal renewals={{ orders: many, opened: [] }} onOpen={vi.fn()} onClose={vi.fn()} />)
    expect(await screen.findByText('Up to 50 orders at once. We prepared only the first 50.')).toBeTruthy()
    await waitFor(() =>
      expect(requestsOf(orders.renewMany)).toMatchObject([
        { body: { order_ids: Array.from({ length: 50 }, (_, at) => at + 1) } }
      ])
    )
  })

  it('give each order its own way to pay, or say why it cannot be renewed', async () => {
    answer(orders.proxyDetail, detail)
    answer(orders.list, pageOf(order, older, { ...unpaid, id: 5, order_id: '20260613-UNPAID00' }))
    answer(orders.renewMany, [
      { id: 7, checkout_url: 'https://shop.example.com/cart/7', days: 30, price: '21.60', discount: null },
      { id: 6, reason: 'order_expired', params: {}, msg: 'The order has expired, please place a new order.' }
    ])
    const { user } = open()
    await user.click(await screen.findByRole('checkbox', { name: 'Select order 20260615-7QK2M9XA' }))
    await user.click(screen.getByRole('checkbox', { name: 'Select order 20260614-AAAAAAAA' }))
    // Unpaid orders cannot be renewed.
    expect(screen.getByRole<HTMLInputElement>('checkbox', { name: /UNPAID00/ }).disabled).toBe(true)
    await user.click(screen.getByRole('button', { name: 'Renew 2 orders' }))
    const dialog = within(await screen.findByRole('dialog'))
    const pay = await dialog.findByRole('link', { name: 'Pay now: 20260615-7QK2M9XA' })
    expect(pay).toMatchObject({ href: 'https://shop.example.com/cart/7', target: '_blank' })
    expect(dialog.getByText('The order has expired, please place a new order.')).toBeTruthy()
    expect(requestsOf(orders.renewMany)).toMatchObject([{ body: { order_ids: [7, 6] } }])
    // Paid in the other tab, so no used checkout is opened.
    answer(orders.list, pageOf({ ...order, expired_at: '2127-01-05T12:00:00.000Z' }))
    pay.addEventListener('click', event => event.preventDefault())
    await user.click(pay)
    expect(await dialog.findByText('Paid. Valid until Jan 5, 2127.')).toBeTruthy()
    expect(dialog.queryByRole('link', { name: /20260615-7QK2M9XA/ })).toBeNull()
    await user.click(dialog.getByRole('button', { name: 'Close' }))
    // The selection is cleared, so that one click cannot renew the same orders again.
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Renew 2 orders' })).toBeNull())
    expect(screen.getByRole<HTMLInputElement>('checkbox', { name: 'Select order 20260614-AAAAAAAA' }).checked).toBe(
      false
    )
  })
})

describe('what orders cost', () => {
  const gold: LevelDiscount = { level: 3, discount: '3.00', discount_type: 'percent' }
  const shown = async (now: Order) => {
    answer(orders.proxyDetail, { ...detail, order: now })
    answer(orders.list, pageOf(now))
    const view = open()
    await screen.findByRole('checkbox', { name: `Select order ${now.order_id}` })
    return view
  }

  it('is all that was paid, and on its page what the running term cost beside that', async () => {
    await shown({ ...order, amount: '12.00', pay_amount: '33.60', last_amount: '10.40' })
    expect(within(screen.getByRole('table')).getByText('$33.60')).toBeTruthy()
    expect(screen.queryByText('$10.40')).toBeNull()
    expect(await screen.findByText('Total paid: $33.60')).toBeTruthy()
    expect(screen.getByText('Current term: $10.40')).toBeTruthy()
  })

  it('is one sum on the page of an order that was paid once', async () => {
    await shown({ ...order, pay_amount: '12.00', last_amount: '12.00' })
    expect(await screen.findByText('Total paid: $12.00')).toBeTruthy()
    expect(screen.queryByText(/^Current term/)).toBeNull()
  })

  it('is told without a term of an order whose money bought none', async () => {
    await shown({ ...order, state: 'refunded', refunded_amount: '12.00', delivery_num: 0 })
    expect(await screen.findByText('This order was refunded')).toBeTruthy()
    expect(screen.queryByText(/^Total paid/)).toBeNull()
  })

  it('is what the checkout charges, and until when, while an order is unpaid', async () => {
    const until = new Date(Date.now() + 12.5 * 60_000).toISOString()
    await shown({ ...unpaid, amount: '2.55', discount: gold, reserved_until: until })
    const table = within(screen.getByRole('table'))
    expect(table.getByTitle('Gold discount: 3% off $2.55').textContent).toBe('$2.47Gold −3%')
    expect(table.getByText(/^Pay by .+, 12 minutes left$/).closest('time')?.dateTime).toBe(until)
    expect(await screen.findByText('Amount: $2.47 (Gold discount: 3% off $2.55)')).toBeTruthy()
    expect(screen.getByText(/^We hold its IPs for you until .+ \(12 minutes left\)\./)).toBeTruthy()
  })

  it('of an order that was not paid in time is its amount, without a time to pay', async () => {
    await shown({ ...unpaid, state: 'timed_out', amount: '2.55', checkout_url: null, reserved_until: null })
    expect(screen.getByText('$2.55')).toBeTruthy()
    expect(screen.queryByText(/^Pay by/)).toBeNull()
  })

  it('includes the level discount for one and for several renewals', async () => {
    const tab = { opener: null, location: { replace: vi.fn() }, document: document.implementation.createHTMLDocument() }
    vi.spyOn(window, 'open').mockReturnValue(tab as unknown as Window)
    const { user } = await shown(order)
    answer(orders.renew, {
      checkout_url: 'https://shop.example.com/renew',
      days: 30,
      price: '2.55',
      discount: gold
    })
    await user.click(screen.getByRole('button', { name: `Renew ${order.order_id}` }))
    const words = '$2.47 (Gold discount: 3% off $2.55)'
    expect(await screen.findByText(`The checkout is open in another tab. It adds 30 days for ${words}.`)).toBeTruthy()
    answer(orders.list, pageOf(order, older))
    answer(orders.renewMany, [
      { id: order.id, checkout_url: 'https://shop.example.com/7', days: 30, price: '2.55', discount: gold },
      { id: older.id, checkout_url: 'https://shop.example.com/6', days: 30, price: '30.05', discount: gold }
    ])
    await refresh(orders.list)
    await user.click(await screen.findByRole('checkbox', { name: 'Select order 20260615-7QK2M9XA' }))
    await user.click(await screen.findByRole('checkbox', { name: 'Select order 20260614-AAAAAAAA' }))
    await user.click(screen.getByRole('button', { name: 'Renew 2 orders' }))
    expect(await screen.findByText(`Adds 30 days · Price today: ${words}`)).toBeTruthy()
    expect(screen.getByText('Total for 2 orders today: $31.62 ($32.60 before your level discount)')).toBeTruthy()
  })
})
