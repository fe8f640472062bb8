import type { Order, Server } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { fleet, orders } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { order, pageOf } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import OrdersPage from './page.tsx'

const ROUTE = '/dashboard/index/orders/:username?'
const statistics = {
  total: 3,
  paid: 2,
  unpaid: 1,
  today: 1,
  totalAmount: '1234.50',
  monthlyAmount: '12.00',
  dailyAmount: '0.00'
}
const unpaid = { ...order, id: 8, order_id: '20260615-UNPAID', pay_status: 0 as const, state: 'placed' as const }

const server: Server = {
  id: 4,
  name: 'paris',
  ip: '192.0.2.4',
  description: '',
  server_status: 1,
  port: 22,
  has_password: true,
  agent_port: 8443,
  has_certificate: true,
  proxy_port: 1080,
  cidrs: [],
  step: 'in step',
  unreachable_since: null,
  failing_since: null,
  status: 'active',
  sells: true,
  last_error: null,
  trouble: null,
  provisioning: null,
  created_at: '2026-06-15T08:00:00.000Z',
  version: 'v4'
}

function open(at = '/dashboard/index/orders', rows = [order]) {
  keepNothing()
  answer(orders.statistics, statistics)
  answer(orders.list, pageOf(...rows))
  return renderScreen(<OrdersPage />, { at, route: ROUTE })
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
    expect(requestsOf(orders.list).at(-1)?.query).toEqual({ limit: '10', offset: '0', search: 'alice' })
    const field = screen.getByRole<HTMLInputElement>('searchbox')
    expect(field.value).toBe('alice')
    await user.clear(field)
    await user.keyboard('{Enter}')
    await waitFor(() => expect(requestsOf(orders.list).at(-1)?.query).toEqual({ limit: '10', offset: '0' }))
    expect(asked()).toEqual({ search: '' })
  })

  it('show the figures, and lead from an order to its user', async () => {
    open()
    const row = await rowOf(order.order_id)
    expect(await screen.findByText('$1,234.50')).toBeTruthy()
    expect(within(row).getByRole('link', { name: 'alice' }).getAttribute('href')).toBe(
      '/dashboard/index/userList?search=alice'
    )
  })

  it('mark what was paid and not delivered, and say what runs', async () => {
    open('/dashboard/index/orders', [
      { ...order, delivery_num: 0, state: 'paid' },
      { ...order, id: 9, order_id: 'CHECKED', task: 'check' }
    ])
    expect((await rowOf(order.order_id)).hasAttribute('data-problem')).toBe(true)
    const checked = await rowOf('CHECKED')
    expect(checked.hasAttribute('data-problem')).toBe(false)
    expect(within(checked).getByText('Check is running')).toBeTruthy()
  })

  it('offer for an unpaid one only what can be done with it', async () => {
    const { user } = open('/dashboard/index/orders', [unpaid])
    await user.click(await screen.findByRole('button', { name: `Actions: ${unpaid.order_id}` }))
    const offered = await screen.findAllByRole<HTMLButtonElement>('menuitem')
    expect(offered.map(({ textContent, disabled }) => [textContent, !disabled])).toEqual([
      ['Details', true],
      ['Reset password', false],
      ['Check proxy', false],
      ['Change proxy', false],
      ['Deliver', false],
      ['Move to other addresses', false],
      ['Reopen', false],
      ['Cancel unpaid order', true],
      ['Copy proxy info', false],
      ['Extend expiry', false],
      ['Refund', false],
      ['Delete', true]
    ])
  })

  it('are not reset where the answer is NO', async () => {
    const { user } = open()
    await choose(user, `Actions: ${order.order_id}`, 'Reset password')
    await user.click(await screen.findByRole('button', { name: 'NO' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(requestsOf(orders.resetPassword)).toEqual([])
  })

  it('say why an action was refused', async () => {
    answerRefused(orders.deliver, 'order_busy')
    const { user } = open()
    await choose(user, `Actions: ${order.order_id}`, 'Deliver')
    expect(
      await screen.findByText('Another action on this order is still running. Please wait until it ends.')
    ).toBeTruthy()
  })

  it('need a selection for a batch', async () => {
    const { user } = open()
    await choose(user, 'Batch', 'Export')
    expect(await screen.findByText('请先选择订单')).toBeTruthy()
  })

  it('say what failed in the words of the specification', async () => {
    keepNothing()
    answerRefused(orders.statistics, 'unavailable', { msg: '' })
    answerRefused(orders.list, 'unavailable', { msg: '' })
    answerRefused(orders.export, 'unavailable', { msg: '' })
    renderScreen(<OrdersPage />, { at: '/dashboard/index/orders', route: ROUTE })
    expect(await screen.findByText('搜索失败')).toBeTruthy()
    expect(await screen.findByText('获取订单统计数据失败')).toBeTruthy()
  })

  it('say in the detail view that there is no such order', async () => {
    keepNothing()
    answerRefused(orders.proxyDetail, 'not_found')
    renderScreen(<OrdersPage />, { at: '/dashboard/index/orders?detail=404', route: ROUTE })
    expect(await screen.findByText('Not found')).toBeTruthy()
    expect(screen.getByRole('button', { name: 'Back to the list' })).toBeTruthy()
  })

  it('say that an export failed', async () => {
    answerRefused(orders.export, 'unavailable', { msg: '' })
    const { user } = open()
    await user.click(await screen.findByRole('checkbox', { name: `Select ${order.order_id}` }))
    await choose(user, 'Batch', 'Export')
    expect(await screen.findByText('导出订单数据失败')).toBeTruthy()
    expect(requestsOf(orders.export)).toMatchObject([{ query: { order_ids: '7' } }])
  })

  it('move to another server after a question that says what happens', async () => {
    answer(fleet.servers, pageOf({ ...server, id: 4, name: 'paris' }, { ...server, id: 5, name: 'lyon' }))
    answer(fleet.groups, pageOf({ id: 2, name: 'France', description: '', servers: [], version: 'v2' }))
    answer(orders.move, order)
    const { user } = open()
    await choose(user, `Actions: ${order.order_id}`, 'Move to other addresses')
    const form = within(await screen.findByRole('dialog', { name: /^Move to other addresses/ }))
    await form.findAllByRole('option', { name: 'lyon' })
    await user.selectOptions(form.getByRole('combobox', { name: 'To server' }), 'lyon')
    await user.click(form.getByRole('button', { name: 'Move to other addresses' }))
    const question = within(await screen.findByRole('dialog', { name: 'Move the addresses?' }))
    expect(question.getByText(/go on working until the new ones do.*gets a mail/)).toBeTruthy()
    expect(requestsOf(orders.move)).toEqual([])
    await user.click(question.getByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(orders.move).map(({ body }) => body)).toEqual([{ server_id: 5 }]))
    expect(await screen.findByText('The move has begun')).toBeTruthy()
  })

  it('show no end of a refunded one, whose time is over', async () => {
    const soon = new Date(Date.now() + 3 * 86_400_000 + 60_000).toISOString()
    const refunded: Order = { ...order, state: 'refunded', expired_at: soon }
    open('/dashboard/index/orders', [refunded, { ...order, id: 9, order_id: 'WORKS', expired_at: soon }])
    expect(within(await rowOf('WORKS')).getByText('in 3 days')).toBeTruthy()
    expect(within(await rowOf(order.order_id)).queryByText('in 3 days')).toBeNull()
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
    expect((await screen.findByRole<HTMLButtonElement>('menuitem', { name: 'Reopen' })).disabled).toBe(true)
  })

  it('offer for a refunded one only what can be done with it', async () => {
    const { user } = open('/dashboard/index/orders', [{ ...order, state: 'refunded', delivery_num: 0 }])
    await user.click(await screen.findByRole('button', { name: `Actions: ${order.order_id}` }))
    const offered = await screen.findAllByRole<HTMLButtonElement>('menuitem')
    const enabled = offered.filter(({ disabled }) => !disabled).map(({ textContent }) => textContent)
    // Renewals of it may be left to give back.
    expect(enabled).toEqual(['Details', 'Refund', 'Delete'])
  })

  it('ask before what was not paid for is delivered: what was paid of what, and how many addresses go out', async () => {
    const short: Order = {
      ...order,
      state: 'failed',
      delivery_num: 0,
      pay_amount: '1.00',
      fail: { code: 'lines_missing', params: { missing: 'New York: 1 of 8' } }
    }
    answer(orders.deliver, { task_id: '0197f0a0-0000-7000-8000-000000000001', status: 'queued' })
    const { user } = open('/dashboard/index/orders', [short])
    await choose(user, `Actions: ${order.order_id}`, 'Deliver')
    const question = within(await screen.findByRole('dialog', { name: 'Deliver what was not paid for?' }))
    expect(question.getByText(/New York: 1 of 8.*Paid 1\.00 of 12\.00.*All 8 addresses/)).toBeTruthy()
    expect(requestsOf(orders.deliver)).toEqual([])
    await user.click(question.getByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(orders.deliver)).toHaveLength(1))
  })

  it('are deleted after a question that names the order and its state', async () => {
    const { user } = open()
    await choose(user, `Actions: ${order.order_id}`, 'Delete')
    const question = within(await screen.findByRole('dialog', { name: 'Confirm deletion' }))
    expect(question.getByText(new RegExp(`${order.order_id} \\(Active, live proxies: 8\\)`))).toBeTruthy()
  })

  it('say in the refund form what is left, what a full refund does, and which payment is meant', async () => {
    const { user } = open('/dashboard/index/orders', [{ ...order, refunded_amount: '1.36' }])
    await choose(user, `Actions: ${order.order_id}`, 'Refund')
    const form = within(await screen.findByRole('dialog', { name: /^Refund/ }))
    expect(await form.findByPlaceholderText('all: 10.64')).toBeTruthy()
    expect(form.getByText(/A full refund of the purchase ends the lease/)).toBeTruthy()
    expect(form.getByText(/Which payment of the order/)).toBeTruthy()
  })
})
