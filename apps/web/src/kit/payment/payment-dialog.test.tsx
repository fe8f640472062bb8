import type { ReplyOf } from '@netlet/contract'
import { onlineManager } from '@tanstack/react-query'
import { act, screen } from '@testing-library/react'
import type { ReactNode } from 'react'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { accounts, orders } from '../../api/routes.ts'
import { useSession } from '../../api/session.ts'
import { answer, answerLost, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { customer } from '../../testing/shapes.ts'
import { PaymentDialog } from './payment-dialog.tsx'
import { keepPayment, pendingPayment, type Pending } from './pending.ts'

const MINUTE = 60_000
const START = Date.parse('2026-06-15T08:00:00.000Z')
const pending: Pending = {
  id: 7,
  orderId: 'NL-7QK2M9XA',
  checkoutUrl: 'https://pay.example.com/cart/1:8',
  deadline: START + 30 * MINUTE,
  bought: {
    product_name: 'Metro ISP',
    variant_name: 'London / Block of 8',
    acl_names: ['Netflix', 'Walmart'],
    quantity: 8,
    amount: '19.76'
  }
}
type Status = ReplyOf<typeof orders.payment>
const says = (status: Status['status'], fail: Status['fail'] = null): Status => ({
  status,
  is_cancelled: false,
  payment_pending: false,
  pay_status: status === 'success' ? 1 : 0,
  delivery_num: 0,
  proxy_num: 8,
  fail
})

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  vi.setSystemTime(START)
})

/** Advances time and runs what is due. */
const pass = (milliseconds: number) => act(() => vi.advanceTimersByTimeAsync(milliseconds))

/** Imitates a sleeping machine: the clock advances, but no timer runs. */
const sleep = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds)

/** Stands for the page's head, which shows them on every screen. */
const Points = () => <p>{useSession().user?.level_points} points</p>

async function open(blocked = false, paid = pending, beside?: ReactNode) {
  const onClose = vi.fn()
  keepPayment(paid)
  const view = renderAt(
    <>
      {beside}
      <PaymentDialog pending={paid} blocked={blocked} onClose={onClose} />
    </>,
    { at: '/product?id=1', user: customer }
  )
  await pass(50)
  return { ...view, onClose }
}
const press = (name: string) => act(async () => screen.getByRole('button', { name }).click())
const title = () =>
  screen.getByRole('dialog').getAttribute('aria-labelledby') && screen.getByRole('heading').textContent

describe('the payment dialog', () => {
  it('shows what is paid for, and the time that is left', async () => {
    answer(orders.payment, says('pending'))
    await open()
    expect(title()).toBe('Waiting for your payment')
    const facts = screen.getByRole('dialog').querySelector('dl')?.textContent
    expect(facts).toContain('Metro ISP London / Block of 8')
    expect(facts).toContain('Quantity8')
    expect(facts).toContain('Netflix, Walmart')
    expect(facts).toContain('$19.76 $2.47 per IP')
    expect(facts).toContain('NL-7QK2M9XA')
    expect(screen.getByRole('timer').textContent).toBe('30:00')
    await pass(61_000)
    expect(screen.getByRole('timer').textContent).toBe('28:59')
  })

  it('shows what the checkout charges a holder of a level', async () => {
    answer(orders.payment, says('pending'))
    await open(false, {
      ...pending,
      bought: { ...pending.bought, discount: { level: 3, discount: '3.00', discount_type: 'percent' } }
    })
    const facts = screen.getByRole('dialog').querySelector('dl')?.textContent
    expect(facts).toContain('$19.17 $2.39 per IPGold discount: 3% off $19.76')
  })

  it('asks every three seconds', async () => {
    answer(orders.payment, says('pending'))
    await open()
    const before = requestsOf(orders.payment).length
    await pass(30_000)
    expect(requestsOf(orders.payment).length - before).toBe(10)
  })

  it('opens the way to the dashboard when 20 minutes are left', async () => {
    answer(orders.payment, says('pending'))
    const { where, onClose } = await open()
    expect(screen.getByRole('button', { name: 'In progress' })).toHaveProperty('disabled', true)
    await pass(10 * MINUTE - 2000)
    expect(screen.getByRole('button', { name: 'In progress' })).toHaveProperty('disabled', true)
    await pass(2500)
    expect(screen.queryByRole('button', { name: 'In progress' })).toBeNull()
    await press('Paid, go to dashboard')
    expect(where()).toBe('/dashboard/index/proxies?order=7')
    expect(onClose).toHaveBeenCalledOnce()
  })

  it('leads to the live proxies once it is paid', async () => {
    answer(orders.payment, says('pending'))
    const { where, onClose } = await open()
    answer(orders.payment, says('success'))
    await pass(3100)
    expect(where()).toBe('/dashboard/index/proxies?order=7&live=1')
    expect(onClose).toHaveBeenCalledOnce()
    expect(pendingPayment(START)).toBeNull()
  })

  it('shows the points that the payment earned', async () => {
    answer(orders.payment, says('pending'))
    answer(accounts.whoIsSignedIn, { ...customer, level_points: 19 })
    await open(false, pending, <Points />)
    answer(orders.payment, says('success'))
    await pass(3100)
    expect(screen.getByText('19 points')).toBeTruthy()
  })

  it('says that a payment is on its way, past the time to pay, and notices when it is complete', async () => {
    answer(orders.payment, { ...says('pending'), payment_pending: true })
    const { where } = await open()
    expect(title()).toBe('Your payment is being processed')
    expect(screen.queryByRole('link', { name: 'Open checkout' })).toBeNull()
    await pass(31 * MINUTE)
    expect(title()).toBe('Your payment is being processed')
    expect(screen.getByRole('button', { name: 'Go to dashboard' })).toBeTruthy()
    answer(orders.payment, says('success'))
    await pass(3100)
    expect(where()).toBe('/dashboard/index/proxies?order=7&live=1')
  })

  it('asks for no second payment at the end if one was received that does not cover the order', async () => {
    const fail = { code: 'lines_missing', params: { missing: 'New York: 4/8' } } as const
    answer(orders.payment, { ...says('pending'), fail })
    const { where } = await open()
    answer(orders.payment, { ...says('timeout'), fail })
    await pass(30 * MINUTE + 3100)
    expect(screen.queryByRole('alert')).toBeNull()
    expect(screen.getByText(/does not cover this order\. Please do not pay again\./)).toBeTruthy()
    await press('Go to dashboard')
    expect(where()).toBe('/dashboard/index/proxies?order=7')
  })

  it('says at the end that the time is over, and waits no more', async () => {
    answer(orders.payment, says('pending'))
    const { onClose } = await open()
    answer(orders.payment, says('timeout'))
    await pass(30 * MINUTE + 3100)
    expect(screen.getByRole('alert').textContent).toBe('Payment timeout, please place a new order.')
    expect(title()).toBe('Payment timeout')
    expect(screen.queryByText('Waiting for your payment')).toBeNull()
    expect(pendingPayment(START)).toBeNull()
    const asked = requestsOf(orders.payment).length
    await pass(MINUTE)
    expect(requestsOf(orders.payment)).toHaveLength(asked)
    await press('Place a new order')
    expect(onClose).toHaveBeenCalledOnce()
  })

  it('says that the order was cancelled in another tab, and waits no more', async () => {
    answer(orders.payment, says('pending'))
    const { where } = await open()
    answer(orders.payment, { ...says('timeout'), is_cancelled: true })
    await pass(3100)
    expect(title()).toBe('Order cancelled')
    expect(screen.getByRole('alert').textContent).toMatch(/^This order was cancelled/)
    expect(screen.queryByRole('link', { name: 'Open checkout' })).toBeNull()
    expect(pendingPayment(START)).toBeNull()
    // A customer who has already paid finds the order there.
    await press('Go to dashboard')
    expect(where()).toBe('/dashboard/index/proxies?order=7')
  })

  it('asks before it closes, and stays after NO', async () => {
    answer(orders.payment, says('pending'))
    const { onClose } = await open()
    await press('Close')
    await vi.waitFor(() => expect(screen.getByText('Close this window?')).toBeTruthy())
    await press('NO')
    await pass(500)
    expect(onClose).not.toHaveBeenCalled()
    expect(pendingPayment(START)).toEqual(pending)
    await press('Close')
    await vi.waitFor(() => expect(screen.getByRole('button', { name: 'YES' })).toBeTruthy())
    await press('YES')
    await pass(500)
    expect(onClose).toHaveBeenCalledOnce()
    expect(pendingPayment(START)).toBeNull()
  })

  it('offers the checkout where the browser let no tab open', async () => {
    answer(orders.payment, says('pending'))
    await open(true)
    expect(screen.getByText(/blocked the checkout/)).toBeTruthy()
    expect(screen.getByRole('link', { name: 'Open checkout' }).getAttribute('href')).toBe(pending.checkoutUrl)
  })

  it('tells of a payment that does not pay for the order', async () => {
    answer(orders.payment, says('pending', { code: 'underpaid', params: {} }))
    await open()
    await pass(3100)
    expect(screen.getByRole('alert').textContent).toMatch(/^We received a payment that does not cover/)
  })
})

describe('the payment dialog without the shop', () => {
  it('goes by the clock after a sleep, and asks before it says that it is over', async () => {
    answer(orders.payment, says('pending'))
    const { where } = await open()
    answer(orders.payment, says('success'))
    sleep(45 * MINUTE)
    await pass(300)
    expect(screen.queryByText('Payment timeout, please place a new order.')).toBeNull()
    await pass(3100)
    expect(where()).toBe('/dashboard/index/proxies?order=7&live=1')
  })

  it('says that the shop does not answer, and goes on asking', async () => {
    answer(orders.payment, says('pending'))
    await open()
    answerLost(orders.payment)
    await pass(3100)
    expect(screen.getByText(/^The shop is not responding/)).toBeTruthy()
    answer(orders.payment, says('pending'))
    await pass(3100)
    expect(screen.queryByText(/^The shop is not responding/)).toBeNull()
  })

  it('says when it is offline, and asks at once when it is online again', async () => {
    answer(orders.payment, says('pending'))
    await open()
    act(() => onlineManager.setOnline(false))
    await pass(10_000)
    expect(screen.getByText(/^You are offline/)).toBeTruthy()
    const asked = requestsOf(orders.payment).length
    act(() => onlineManager.setOnline(true))
    await pass(3100)
    expect(screen.queryByText(/^You are offline/)).toBeNull()
    expect(requestsOf(orders.payment).length).toBeGreaterThan(asked)
  })

  it('does not say that a payment failed if it cannot know', async () => {
    answer(orders.payment, says('pending'))
    const { where } = await open()
    answerLost(orders.payment)
    await pass(30 * MINUTE + 3100)
    expect(title()).toBe('Payment time is over')
    expect(screen.getByRole('alert').textContent).toMatch(/Please do not pay again/)
    answer(orders.payment, says('success'))
    await pass(3100)
    expect(where()).toBe('/dashboard/index/proxies?order=7&live=1')
  })
})

describe('what is kept for a reload', () => {
  it('is there until its time is over', () => {
    keepPayment(pending)
    expect(pendingPayment(START)).toEqual(pending)
    expect(pendingPayment(pending.deadline)).toBeNull()
  })
  it.each([
    '{}',
    'null',
    'x',
    JSON.stringify({ ...pending, bought: undefined }),
    JSON.stringify({ ...pending, bought: { ...pending.bought, translations: { 'zh-CN': { product_name: '都会' } } } }),
    JSON.stringify({ ...pending, bought: { ...pending.bought, amount: 'x' } }),
    JSON.stringify({ ...pending, bought: { ...pending.bought, discount: { level: 3, discount: '1e2' } } }),
    JSON.stringify({ ...pending, id: '7' })
  ])('is nothing where it is not whole: %s', text => {
    sessionStorage.setItem('netlet-payment', text)
    expect(pendingPayment(START)).toBeNull()
  })
})
