import type { Order } from '@netlet/contract'
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { catalog, fleet, orders } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { admin, order, pageOf } from '../../testing/shapes.ts'
import { keepNothing, offeredActions, renderScreen } from '../kit/screen.fixture.tsx'
import { statistics } from './order.fixture.ts'
import OrdersPage from './orders.tsx'

const ROUTE = '/dashboard/index/orders/:username?'
const unpaid = { ...order, id: 8, order_id: '20260615-UNPAID', pay_status: 0 as const, state: 'placed' as const }

function open(at = '/dashboard/index/orders', rows = [order], as = admin) {
  keepNothing()
  answer(orders.statistics, statistics)
  answer(orders.list, pageOf(...rows))
  return renderScreen(<OrdersPage />, { at, route: ROUTE, as })
}
const rowOf = async (name: string) => (await screen.findByText(name)).closest('tr') as HTMLElement
const choose = async (user: ReturnType<typeof open>['user'], name: string, entry: string) => {
  await user.click(await screen.findByRole('button', { name }))
  await user.click(await screen.findByRole('menuitem', { name: entry }))
}

describe('the orders of the console', () => {
  it("search for the address's user until something else is searched for", async () => {
    const { user, asked } = open('/dashboard/index/orders/alice')
    await rowOf(order.order_id)
    for (const name of ['Today (UTC)', 'This month (UTC)', "Today's revenue (UTC)"])
      expect(screen.getByText(name)).toBeTruthy()
    expect(requestsOf(orders.list).at(-1)?.query).toEqual({ limit: '10', offset: '0', search: 'alice' })
    const field = screen.getByRole<HTMLInputElement>('searchbox')
    expect(field.value).toBe('alice')
    await user.clear(field)
    await user.keyboard('{Enter}')
    await waitFor(() => expect(requestsOf(orders.list).at(-1)?.query).toEqual({ limit: '10', offset: '0' }))
    expect(asked()).toEqual({ search: '' })
  })

  it('show the amount by which they are sorted, and what was paid if it differs', async () => {
    const short = { ...order, id: 9, order_id: 'SHORT', amount: '19.20', pay_amount: '18.96' }
    open(undefined, [{ ...order, amount: '4.80', pay_amount: '4.80' }, short])
    expect(within(await rowOf('SHORT')).getByText('$19.20').textContent).toBe('$19.20paid $18.96')
    expect(within(await rowOf(order.order_id)).getByText('$4.80').textContent).toBe('$4.80')
  })

  it('mark what was paid and not delivered, and say what runs', async () => {
    open('/dashboard/index/orders', [
      { ...order, delivery_num: 0, state: 'paid' },
      { ...order, id: 9, order_id: 'CHECKED', task: 'check' }
    ])
    expect((await rowOf(order.order_id)).hasAttribute('data-problem')).toBe(true)
    const checked = await rowOf('CHECKED')
    expect(checked.hasAttribute('data-problem')).toBe(false)
    expect(within(checked).getByText('Checking proxies')).toBeTruthy()
  })

  it.each([
    // Its reservation must be cancelled before it can be deleted.
    ['an unpaid', unpaid, ['Details', 'Cancel unpaid order']],
    // Its renewals may still have to be refunded.
    [
      'a refunded',
      { ...order, state: 'refunded', delivery_num: 0, holds_addresses: false },
      ['Details', 'Refund', 'Delete']
    ]
  ] as [string, Order, string[]][])('offer for %s one only what can be done with it', async (_, row, expected) => {
    const { user } = open('/dashboard/index/orders', [row])
    await user.click(await screen.findByRole('button', { name: `Actions: ${row.order_id}` }))
    expect((await offeredActions()).flatMap(([name, possible]) => (possible ? [name] : []))).toEqual(expected)
  })

  it('credit days with a reason, to the end that was shown, once it was said when they end', async () => {
    answer(orders.credit, order)
    const { user } = open()
    await choose(user, `Actions: ${order.order_id}`, 'Credit time')
    const form = within(await screen.findByRole('dialog', { name: /^Credit time/ }))
    await user.type(form.getByRole('textbox', { name: 'Days' }), '400')
    await user.click(form.getByRole('button', { name: 'Credit time' }))
    expect(await form.findByText('Please enter whole days, 1 to 366')).toBeTruthy()
    expect(form.getByText('Please enter a reason')).toBeTruthy()
    await user.clear(form.getByRole('textbox', { name: 'Days' }))
    await user.type(form.getByRole('textbox', { name: 'Days' }), '3')
    await user.type(form.getByRole('textbox', { name: 'Reason' }), 'A slow night')
    await user.click(form.getByRole('button', { name: 'Credit time' }))
    const question = within(await screen.findByRole('dialog', { name: 'Credit time?' }))
    expect(question.getByText(/gets 3 more days/)).toBeTruthy()
    expect(requestsOf(orders.credit)).toEqual([])
    await user.click(question.getByRole('button', { name: 'YES' }))
    await waitFor(() =>
      expect(requestsOf(orders.credit)).toMatchObject([
        { params: { id: '7' }, body: { days: '3', note: 'A slow night', ends_at: order.expired_at } }
      ])
    )
  })

  it('are not reset where the answer is NO, and say why it was refused after YES', async () => {
    const { user } = open()
    await choose(user, `Actions: ${order.order_id}`, 'Reset password')
    await user.click(await screen.findByRole('button', { name: 'NO' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(requestsOf(orders.resetPassword)).toEqual([])
    answerRefused(orders.resetPassword, 'order_busy')
    await choose(user, `Actions: ${order.order_id}`, 'Reset password')
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    expect(await screen.findByText(/^Another action on this order is still running\./)).toBeTruthy()
  })

  it('are copied with all of their proxies, or say why not', async () => {
    answer(orders.copyProxies, { proxy_lines: ['192.0.2.1:1080:u:p', '192.0.2.2:1080:u:p'], proxy_count: 2 })
    const { user } = open()
    await choose(user, `Actions: ${order.order_id}`, 'Copy proxy info')
    expect(await screen.findByText('Successful replication')).toBeTruthy()
    expect(await navigator.clipboard.readText()).toBe('192.0.2.1:1080:u:p\n192.0.2.2:1080:u:p')
    answerRefused(orders.copyProxies, 'unavailable', { msg: '' })
    await choose(user, `Actions: ${order.order_id}`, 'Copy proxy info')
    expect(await screen.findByText('Replication failure')).toBeTruthy()
  })

  it('say that an export failed', async () => {
    answerRefused(orders.exportSelected, 'unavailable', { msg: '' })
    const { user } = open()
    await user.click(await screen.findByRole('checkbox', { name: `Select ${order.order_id}` }))
    await choose(user, 'Batch', 'Export')
    expect(await screen.findByText('导出订单数据失败')).toBeTruthy()
    // In the body, because an address holds only a few thousand ids.
    expect(requestsOf(orders.exportSelected)).toMatchObject([{ query: {}, body: { order_ids: [7] } }])
  })

  it('are exported, all of them, in the order in which the list shows them', async () => {
    keepNothing()
    answer(orders.statistics, statistics)
    answer(orders.list, { ...pageOf(order), total: 2 })
    answer(catalog.collections, pageOf())
    const { user } = renderScreen(<OrdersPage />, {
      at: '/dashboard/index/orders?pay_status=1&sort=amount.asc',
      route: ROUTE
    })
    await user.click(await screen.findByRole('checkbox', { name: 'Select all on this page' }))
    await user.click(screen.getByRole('button', { name: 'Select all 2 matches' }))
    // The browser downloads them itself, without limits.
    const links: HTMLAnchorElement[] = []
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
      links.push(this)
    })
    await choose(user, 'Batch', 'Export')
    await waitFor(() => expect(links).toHaveLength(1))
    expect(links[0]?.download).toMatch(/^orders_\d{8}-\d{6}\.csv$/)
    const { pathname, search } = new URL(links[0]?.href ?? '')
    expect(pathname).toBe(orders.list.path)
    expect(Object.fromEntries(new URLSearchParams(search))).toEqual({
      pay_status: '1',
      sort_by: 'amount',
      sort_order: 'asc',
      format: 'csv'
    })
    expect(requestsOf(orders.exportSelected)).toEqual([])

    // The page reports a refusal of the list.
    answerRefused(orders.list, 'unavailable', { msg: '' })
    await choose(user, 'Batch', 'Export')
    expect(await screen.findByText('导出订单数据失败')).toBeTruthy()
    expect(links).toHaveLength(1)
  })

  it('move to another server after a question that says what happens', async () => {
    answer(fleet.serverNames, pageOf({ id: 4, name: 'paris' }, { id: 5, name: 'lyon' }))
    answer(fleet.groups, pageOf({ id: 2, name: 'France', description: '', servers: [], version: 'v2' }))
    answer(orders.move, order)
    const { user } = open()
    await choose(user, `Actions: ${order.order_id}`, 'Move to other addresses')
    const form = within(await screen.findByRole('dialog', { name: /^Move to other addresses/ }))
    await form.findAllByRole('option', { name: 'lyon' })
    expect(requestsOf(fleet.serverNames)[0]?.query['limit']).toBe('250')
    expect(requestsOf(fleet.groups)[0]?.query['limit']).toBe('10000')
    await user.selectOptions(form.getByRole('combobox', { name: 'To server' }), 'lyon')
    await user.click(form.getByRole('button', { name: 'Move to other addresses' }))
    const question = within(await screen.findByRole('dialog', { name: 'Move this order?' }))
    expect(question.getByText(/current ones work until the new ones do/)).toBeTruthy()
    expect(requestsOf(orders.move)).toEqual([])
    await user.click(question.getByRole('button', { name: 'YES' }))
    await waitFor(() =>
      expect(requestsOf(orders.move).map(({ body }) => body)).toEqual([
        { server_id: 5, message: '', email_customer: true }
      ])
    )
    expect(await screen.findByText('The move has started')).toBeTruthy()
  })

  it('reopen one that ended with time that was not served, and no other', async () => {
    const undelivered: Order = { ...order, state: 'expired', is_expired: true, can_reopen: true }
    answer(orders.reopen, undelivered)
    const { user } = open('/dashboard/index/orders', [undelivered, { ...order, id: 9, order_id: 'WORKS' }])
    await choose(user, `Actions: ${order.order_id}`, 'Reopen')
    const question = within(await screen.findByRole('dialog', { name: 'Reopen this order?' }))
    await user.click(question.getByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(orders.reopen)).toHaveLength(1))
    await user.click(await screen.findByRole('button', { name: 'Actions: WORKS' }))
    const description = 'You can reopen only orders that ended undelivered or with time left.'
    expect(await screen.findByRole('menuitem', { name: 'Reopen', description })).toBeTruthy()
  })

  it('ask before what was not paid for is delivered: what was paid of what, and how many addresses go out', async () => {
    const short: Order = {
      ...order,
      state: 'failed',
      delivery_num: 0,
      pay_amount: '1.00',
      fail: { code: 'lines_missing', params: { missing: 'New York: 1/8' } }
    }
    answer(orders.deliver, { task_id: '0197f0a0-0000-7000-8000-000000000001', status: 'queued' })
    const { user } = open('/dashboard/index/orders', [short])
    await choose(user, `Actions: ${order.order_id}`, 'Deliver')
    const question = within(await screen.findByRole('dialog', { name: 'Deliver this underpaid order?' }))
    expect(
      question.getByText(/New York: 1\/8.*Paid \$1\.00 of \$12\.00.*gets 8 addresses, and the payment is accepted/)
    ).toBeTruthy()
    expect(requestsOf(orders.deliver)).toEqual([])
    await user.click(question.getByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(orders.deliver)).toHaveLength(1))
  })

  it('leave what was not paid for to those who decide about money, and say so', async () => {
    const short: Order = { ...order, state: 'failed', delivery_num: 0, fail: { code: 'lines_missing', params: {} } }
    const { user } = open('/dashboard/index/orders', [short], { ...admin, operator_role: 'support' })
    await user.click(await screen.findByRole('button', { name: `Actions: ${order.order_id}` }))
    await user.click(await screen.findByRole('menuitem', { name: 'Deliver', description: /^The payment is held/ }))
    expect(screen.queryByRole('dialog')).toBeNull()
  })

  it('are not offered to be deleted while their paid time runs, also without proxies', async () => {
    const { user } = open('/dashboard/index/orders', [{ ...order, delivery_num: 0, holds_addresses: false }])
    await user.click(await screen.findByRole('button', { name: `Actions: ${order.order_id}` }))
    expect(await screen.findByRole('menuitem', { name: 'Delete', description: /has time left/ })).toBeTruthy()
  })

  it('are not offered to be deleted while they hold proxies, and say why', async () => {
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: `Actions: ${order.order_id}` }))
    const entry = await screen.findByRole('menuitem', { name: 'Delete', description: /^The order still has proxies/ })
    await user.click(entry)
    expect(screen.queryByRole('dialog')).toBeNull()
    expect(requestsOf(orders.remove)).toEqual([])
  })

  it('say in the refund form what is left, what a full refund does, and which payment is meant', async () => {
    const { user } = open('/dashboard/index/orders', [{ ...order, refunded_amount: '1.36' }])
    await choose(user, `Actions: ${order.order_id}`, 'Refund')
    const form = within(await screen.findByRole('dialog', { name: /^Refund/ }))
    expect(await form.findByPlaceholderText('everything left')).toBeTruthy()
    expect(form.getByText(/A full refund of the purchase ends the lease/)).toBeTruthy()
    expect(form.getByText(/The platform's number of the payment/)).toBeTruthy()
  })
  it.each([
    ['lease', 8, 0, /\$5\.15 of payment #1001.*live proxies \(8\) stop working/s],
    ['term', 0, 30, /loses 30 days/],
    ['term_and_lease', 8, 30, /loses 30 days.*live proxies \(8\) stop working.*become free/s],
    ['grace', 0, 0, /already expired.*a renewal cannot bring them back/s],
    ['nothing', 0, 0, /Nothing else about the order changes/]
  ] as const)(
    'ask before money goes back with what really does, and what ends: %s',
    async (ends, proxies, days, words) => {
      answer(orders.refundPlan, {
        version: '3-1-1.36',
        amount: '5.15',
        currency: 'USD',
        platform_order: '#1001',
        by_hand: null,
        ends,
        proxies,
        days,
        held_until: null
      })
      answer(orders.refund, { amount: '5.15', platform_order: '#1001', by_hand: null })
      const { user } = open()
      await choose(user, `Actions: ${order.order_id}`, 'Refund')
      const form = within(await screen.findByRole('dialog', { name: /^Refund/ }))
      await user.type(form.getByRole('textbox', { name: /Amount/ }), '{Enter}')
      const question = within(await screen.findByRole('dialog', { name: 'Refund $5.15?' }))
      expect(question.getByText(words)).toBeTruthy()
      expect(requestsOf(orders.refundPlan)).toMatchObject([{ params: { id: '7' }, query: {} }])
      expect(requestsOf(orders.refund)).toEqual([])
      await user.click(question.getByRole('button', { name: 'YES' }))
      expect(await screen.findByText('The platform is processing the refund')).toBeTruthy()
      expect(requestsOf(orders.refund)).toMatchObject([{ body: { amount: '5.15', version: '3-1-1.36' } }])
    }
  )

  it('say before and after a refund what has to be sent by hand', async () => {
    const plan = { amount: '5.15', currency: 'USD', platform_order: '#1001', by_hand: '3.00 USD', held_until: null }
    answer(orders.refundPlan, { ...plan, version: '3', ends: 'nothing', proxies: 0, days: 0 })
    answer(orders.refund, { amount: '5.15', platform_order: '#1001', by_hand: '3.00 USD' })
    const { user } = open()
    await choose(user, `Actions: ${order.order_id}`, 'Refund')
    const form = within(await screen.findByRole('dialog', { name: /^Refund/ }))
    await user.type(form.getByRole('textbox', { name: /Amount/ }), '{Enter}')
    const question = within(await screen.findByRole('dialog', { name: 'Refund $5.15?' }))
    expect(question.getByText(/The customer paid 3\.00 USD of it manually/)).toBeTruthy()
    await user.click(question.getByRole('button', { name: 'YES' }))
    expect(
      await screen.findByText(/^The platform is processing the refund\. The customer paid 3\.00 USD of it manually/)
    ).toBeTruthy()
  })

  it('say of an amount that is none what it has to be', async () => {
    const { user } = open()
    await choose(user, `Actions: ${order.order_id}`, 'Refund')
    const form = within(await screen.findByRole('dialog', { name: /^Refund/ }))
    const amount = form.getByRole('textbox', { name: /Amount/ })
    for (const [value, words] of [
      ['-1', 'Must be an amount with at most 2 decimals'],
      ['0', 'Must be more than 0']
    ] as const) {
      fireEvent.change(amount, { target: { value } })
      await user.click(form.getByRole('button', { name: 'Refund' }))
      expect(await form.findByText(words)).toBeTruthy()
    }
    expect(requestsOf(orders.refundPlan)).toEqual([])
  })
})
