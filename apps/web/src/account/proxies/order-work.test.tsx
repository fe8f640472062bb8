import type { Order } from '@netlet/contract'
import { act, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { queryClient } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { setSessionUser } from '../../api/session.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { customer, order, pageOf } from '../../testing/shapes.ts'
import { lastCopy, open, proxy, show } from './proxies.fixture.tsx'

/** A button that is unavailable, says why, and can still have the focus. */
function expectReason(button: HTMLElement, words: string): void {
  expect(button.getAttribute('aria-disabled')).toBe('true')
  expect(document.getElementById(button.getAttribute('aria-describedby') ?? '')?.textContent).toContain(words)
  act(() => button.focus())
  expect(document.activeElement).toBe(button)
}

describe('a check', () => {
  it('shows how far it is, also after a reload', async () => {
    show({ ...order, task: 'check', task_done: 3 }, proxy)
    open({ ...order, task: 'check', task_done: 3 })
    expect(await screen.findByText('3 of 8 checked')).toBeTruthy()
    expectReason(screen.getByRole('button', { name: 'Check' }), 'Another action on this order is still running.')
  })

  it('that is refused says so beside the buttons', async () => {
    show(order, proxy)
    answerRefused(orders.check, 'order_busy')
    const { user } = open()
    await screen.findByText('198.51.100.7:1080')
    await user.click(screen.getByRole('button', { name: 'Check' }))
    expect((await screen.findByRole('alert')).textContent).toBe(
      'Another action on this order is still running. Please wait until it ends.'
    )
  })
})

describe('other addresses and a new password', () => {
  it('are not offered of an order that failed, or that waits for its delivery: nothing of it was used up', async () => {
    for (const state of ['failed', 'paid'] as const) {
      const now = { ...order, state, delivery_num: 0, resets_left: 0, resets_per_term: 10 }
      show(now)
      const { unmount } = open(now)
      await screen.findByRole('button', { name: 'Renew' })
      expect(screen.queryByRole('button', { name: /^Reset password/ })).toBeNull()
      unmount()
    }
  })

  it('are not offered where the operator does not allow them', async () => {
    const now = { ...order, changes_per_term: 0, resets_per_term: 0 }
    show(now, proxy)
    open(now)
    await screen.findByText('198.51.100.7:1080')
    expect(screen.queryByRole('button', { name: /^Change addresses/ })).toBeNull()
    expect(screen.queryByRole('button', { name: /^Reset password/ })).toBeNull()
  })

  it.each([
    ['while other work runs', { task: 'reset' }, 'Another action on this order is still running.'],
    ['before all of it is delivered', { state: 'partly_delivered' }, 'We are still delivering the proxies.']
  ] as const)('say why not %s', async (_, change, words) => {
    const now = { ...order, changes_per_term: 3, changes_left: 2, resets_per_term: 10, resets_left: 9, ...change }
    show(now, proxy)
    open(now)
    for (const name of [/^Change addresses/, /^Reset password/])
      expectReason(await screen.findByRole('button', { name }), words)
  })

  it('are still there, and say why not, where the term has none left', async () => {
    const now = { ...order, changes_left: 0, changes_per_term: 3, resets_left: 0, resets_per_term: 10 }
    show(now, proxy)
    const { user } = open(now)
    const change = await screen.findByRole('button', { name: /^Change addresses\s+0 left$/ })
    const reset = screen.getByRole('button', { name: /^Reset password\s+0 left$/ })
    for (const [button, words] of [
      [change, 'No address changes left in this term (3 used).'],
      [reset, 'No password resets left in this term (10 used).']
    ] as const) {
      expectReason(button, words)
      await user.click(button)
    }
    expect(screen.queryByRole('dialog')).toBeNull()
  })

  it('say what stops working and how many changes are left before anything is done', async () => {
    const now = { ...order, changes_left: 2, changes_per_term: 3, resets_left: null, resets_per_term: null }
    show(now, proxy)
    answer(orders.change, { task_id: 'x', status: 'queued' })
    const { user } = open(now)
    await user.click(await screen.findByRole('button', { name: /^Change addresses\s+2 left$/ }))
    const question = await screen.findByRole('dialog')
    expect(question.textContent).toContain('The current addresses stop working')
    expect(question.textContent).toContain('Left in this term: 2.')
    await user.click(screen.getByRole('button', { name: 'NO' }))
    expect(requestsOf(orders.change)).toEqual([])
    await user.click(screen.getByRole('button', { name: /^Change addresses/ }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(orders.change)).toMatchObject([{ params: { id: '7' } }]))

    answerRefused(orders.resetPassword, 'order_busy')
    await user.click(screen.getByRole('button', { name: 'Reset password' }))
    expect((await screen.findByRole('dialog')).textContent).not.toContain('Left in this term')
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    expect((await screen.findByRole('alert')).textContent).toContain('Another action on this order is still running.')
  })
})

it('several renewals are found again after a reload, with what was opened and paid, and not once they were closed', async () => {
  show(order, proxy)
  answer(orders.renewMany, [
    { id: 7, checkout_url: 'https://shop.example.com/cart/7', days: 30, price: '21.60', discount: null }
  ])
  const first = open()
  await first.user.click(await screen.findByRole('checkbox', { name: 'Select order 20260615-7QK2M9XA' }))
  await first.user.click(screen.getByRole('button', { name: 'Renew 1 order' }))
  const pay = await screen.findByRole('link', { name: 'Pay now: 20260615-7QK2M9XA' })
  pay.addEventListener('click', event => event.preventDefault())
  await first.user.click(pay)
  await screen.findByRole('button', { name: 'Open again: 20260615-7QK2M9XA' })

  first.unmount()
  const second = open({ ...order, expired_at: '2127-01-05T12:00:00.000Z' })
  const dialog = within(await screen.findByRole('dialog', { name: 'Renew orders' }))
  expect(await dialog.findByText('Paid. Valid until Jan 5, 2127.')).toBeTruthy()
  await second.user.click(dialog.getByRole('button', { name: 'Close' }))

  second.unmount()
  open()
  await screen.findByRole('checkbox', { name: 'Select order 20260615-7QK2M9XA' })
  expect(screen.queryByRole('dialog')).toBeNull()
})

it('several renewals, and what was chosen for them, are closed once another customer is signed in', async () => {
  show(order, proxy)
  answer(orders.renewMany, [
    { id: 7, checkout_url: 'https://shop.example.com/cart/7', days: 30, price: '21.60', discount: null }
  ])
  const { user } = open()
  await user.click(await screen.findByRole('checkbox', { name: 'Select order 20260615-7QK2M9XA' }))
  await user.click(screen.getByRole('button', { name: 'Renew 1 order' }))
  await screen.findByRole('link', { name: 'Pay now: 20260615-7QK2M9XA' })
  act(() => setSessionUser({ ...customer, id: customer.id + 1 }))
  expect(screen.queryByRole('dialog')).toBeNull()
  expect(screen.queryByRole('button', { name: 'Renew 1 order' })).toBeNull()
})

describe('after a payment', () => {
  const coming: Order = { ...order, state: 'partly_delivered', expired_at: null, delivery_num: 3 }

  it('tells how far the delivery is, then that the proxies are live, until it is dismissed', async () => {
    show(coming, proxy)
    const { user, where, copied } = open(coming, '/dashboard/index/proxies?order=7&live=1')
    expect(await screen.findByText('3 of 8 delivered')).toBeTruthy()
    expect(screen.getByText('This continues automatically. You can leave this page.')).toBeTruthy()
    // After a reload, or for a shared link, nothing mentions a payment.
    expect(where()).toBe('/dashboard/index/proxies?order=7')

    show(order, proxy)
    answer(orders.list, pageOf(order))
    await act(() => queryClient.invalidateQueries())
    expect(await screen.findByText('8 proxies are live')).toBeTruthy()
    expect(screen.getByText("curl -x 'http://u7:••••••••@198.51.100.7:1080' https://example.com")).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Copy: Command' }))
    await waitFor(() =>
      expect(lastCopy(copied)).toBe("curl -x 'http://u7:s3cret@198.51.100.7:1080' https://example.com")
    )
    await user.click(screen.getByRole('button', { name: 'Dismiss' }))
    expect(screen.queryByText('8 proxies are live')).toBeNull()
    expect(document.activeElement).toBe(screen.getByRole('heading', { name: 'Proxies', level: 2 }))
  })
})

it('after a payment it is said where a server does not answer', async () => {
  const waiting: Order = { ...order, state: 'partly_delivered', task: 'deliver', task_waits: true }
  show(waiting, proxy)
  open(waiting, '/dashboard/index/proxies?order=7&live=1')
  expect(await screen.findByText(/^A server is not responding\./)).toBeTruthy()
})

describe('code', () => {
  it('has the first proxy, with its password only in what is copied', async () => {
    show(order, proxy)
    const { user, copied } = open()
    await screen.findByText('198.51.100.7:1080')
    await user.click(screen.getByRole('button', { name: 'Code' }))
    const dialog = within(await screen.findByRole('dialog'))
    await user.selectOptions(dialog.getByRole('combobox', { name: 'Tool' }), 'Python (requests)')
    expect(dialog.getByRole('group', { name: 'Python (requests)' }).textContent).toContain(
      "'http://u7:••••••••@198.51.100.7:1080'"
    )
    await user.click(dialog.getByRole('button', { name: 'Copy: Python (requests)' }))
    await waitFor(() => expect(lastCopy(copied)).toContain("proxy = 'http://u7:s3cret@198.51.100.7:1080'"))
    await user.click(dialog.getByRole('button', { name: 'Close' }))
    await waitFor(() => expect(document.activeElement?.textContent).toBe('Code'))
  })
})
