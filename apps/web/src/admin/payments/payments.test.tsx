import { ATTENTION, type DecisionPlan, type InboxEntry } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { payments } from '../../api/routes.ts'
import en from '../../i18n/admin.en.json'
import { answer, requestsOf } from '../../testing/answers.ts'
import { pageOf } from '../../testing/shapes.ts'
import { keepNothing, offeredActions, renderScreen } from '../kit/screen.fixture.tsx'
import PaymentsPage from './page.tsx'

const ROUTE = '/dashboard/index/payments'

const settled: InboxEntry = {
  id: 3,
  received_at: '2026-06-15T08:00:00.000Z',
  topic: 'orders/paid',
  outcome: 'settled',
  summary: null,
  params: {},
  unresolved: false,
  waits_for: null,
  platform_order: '#1003',
  platform_order_id: '730000000003',
  order: 'NL-settled',
  order_id: 7,
  username: 'alice',
  kind: 'purchase',
  charged: '20.00',
  currency: 'USD',
  refunded: '0.00',
  payment: 'accepted',
  resolution: null,
  resolution_note: null,
  resolved_by: null,
  resolved_at: null,
  version: 'v3'
}
const short: InboxEntry = {
  ...settled,
  id: 4,
  outcome: 'lines_missing',
  summary: 'order NL-short was paid for less than was ordered: New York: 7/8',
  params: { order_id: 'NL-short', missing: 'New York: 7/8' },
  unresolved: true,
  platform_order: '#1004',
  order: 'NL-short',
  payment: 'held',
  version: 'v4'
}

const plan: DecisionPlan = {
  version: 'p1',
  money: [{ amount: '20.00', currency: 'USD' }],
  order: null,
  does: 'nothing',
  proxies: 0,
  days: 0,
  until: null
}
const asked = async (title: string) => within(await screen.findByRole('dialog', { name: title }))

function open(at = ROUTE) {
  keepNothing()
  answer(payments.inbox, pageOf(short, settled))
  return renderScreen(<PaymentsPage />, { at, route: ROUTE })
}
const rowOf = async (name: string) => (await screen.findByText(name)).closest('tr') as HTMLElement

describe('an amount of money', () => {
  it.each([
    ['USD', '$1,234.50'],
    ['EUR', '1,234.50 EUR']
  ])('in %s is written %s', async (currency, text) => {
    keepNothing()
    answer(payments.inbox, pageOf({ ...settled, charged: '1234.50', currency }))
    renderScreen(<PaymentsPage />, { at: ROUTE, route: ROUTE })
    expect((await rowOf('#1003')).textContent).toContain(text)
  })
})

const choose = async (user: ReturnType<typeof open>['user'], name: string, entry: string) => {
  await user.click(await screen.findByRole('button', { name: `Actions: ${name}` }))
  await user.click(await screen.findByRole('menuitem', { name: entry }))
}

describe('the payments of the console', () => {
  it('have words for each outcome that needs attention', () => {
    const worded = Object.keys(en).flatMap(key => /^payments\.why\.(.+)$/.exec(key)?.[1] ?? [])
    expect(worded.toSorted()).toEqual(Object.keys(ATTENTION).toSorted())
  })

  it('mark what needs attention, say why, and lead to the order', async () => {
    open()
    const row = await rowOf('#1004')
    expect(row.hasAttribute('data-problem')).toBe(true)
    expect(within(row).getByText('Underpaid')).toBeTruthy()
    expect(within(row).getByText(/New York: 7\/8/)).toBeTruthy()
    expect(within(row).getByRole('link', { name: 'NL-short' }).getAttribute('href')).toBe('/dashboard/index/order/7')
    expect((await rowOf('#1003')).hasAttribute('data-problem')).toBe(false)
  })

  it('show the lines of the platform beside those that the order needs', async () => {
    answer(payments.inboxEntry, {
      entry: short,
      email: 'alice@example.com',
      lines: [{ title: 'Metro ISP · New York', variant: '1', quantity: 7, price: '2.00' }],
      needed: [{ name: 'New York', quantity: 8, paid: 7 }],
      proposed: 'NL-probably'
    })
    open(`${ROUTE}?open=4`)
    expect(await screen.findByText('7 × $2.00')).toBeTruthy()
    expect(screen.getByText('NL-probably')).toBeTruthy()
    expect(screen.getByText('7 of 8').closest('li')?.dataset['short']).toBe('true')
  })

  it('are applied to an order that is named, with the versions that were seen, once the question says what is delivered', async () => {
    answer(payments.plan, { ...plan, does: 'delivers', order: 'NL-other', proxies: 8, days: 30 })
    answer(payments.apply, null)
    const { user } = open()
    await choose(user, '#1004', 'Apply to an order')
    const field = await screen.findByRole<HTMLInputElement>('textbox', { name: /Order/ })
    expect(field.value).toBe('NL-short')
    await user.clear(field)
    await user.type(field, 'NL-other{Enter}')
    const question = await asked('Apply payment #1004?')
    expect(question.getByText(/Order NL-other is delivered: 8 addresses for 30 days/)).toBeTruthy()
    expect(requestsOf(payments.plan)[0]?.query).toEqual({ action: 'apply', order: 'NL-other' })
    expect(requestsOf(payments.apply)).toEqual([])
    await user.click(question.getByRole('button', { name: /^yes$/i }))
    await waitFor(() => expect(requestsOf(payments.apply)).toHaveLength(1))
    expect(requestsOf(payments.apply)[0]?.body).toEqual({ order: 'NL-other', version: 'v4', plan: 'p1' })
  })

  it('are marked refunded after a question that says who is told', async () => {
    answer(payments.plan, { ...plan, order: 'NL-short' })
    const { user } = open()
    await choose(user, '#1004', 'Mark as refunded')
    await user.type(await screen.findByRole('textbox', { name: /Reason/ }), 'by hand{Enter}')
    const question = await asked('Mark payment #1004 as refunded?')
    expect(question.getByText(/The customer of order NL-short gets an email\./)).toBeTruthy()
  })

  it('are ignored with a reason only, and not after NO', async () => {
    answer(payments.plan, { ...plan, order: 'NL-short' })
    answer(payments.ignore, null)
    const { user } = open()
    await choose(user, '#1004', 'Ignore')
    const field = await screen.findByRole('textbox', { name: /Reason/ })
    await user.type(field, '{Enter}')
    expect(await screen.findByText('Please enter a reason')).toBeTruthy()
    expect(requestsOf(payments.ignore)).toHaveLength(0)
    await user.type(field, 'a gift of the buyer{Enter}')
    const question = await asked('Ignore payment #1004?')
    expect(
      question.getByText(/The shop keeps \$20.00, but it pays for nothing.\s*Order NL-short does not change./)
    ).toBeTruthy()
    await user.click(question.getByRole('button', { name: /^no$/i }))
    await waitFor(() => expect(screen.queryByRole('dialog', { name: 'Ignore payment #1004?' })).toBeNull())
    expect(requestsOf(payments.ignore)).toHaveLength(0)
    await user.click(screen.getByRole('button', { name: 'Ignore' }))
    await user.click((await asked('Ignore payment #1004?')).getByRole('button', { name: /^yes$/i }))
    await waitFor(() => expect(requestsOf(payments.ignore)).toHaveLength(1))
  })

  it('that count are not said to pay for nothing when their entry is closed', async () => {
    answer(payments.plan, plan)
    const params = { order_id: 'NL-settled', platform_order: '#1003', amount: '5.00' }
    keepNothing()
    answer(payments.inbox, pageOf({ ...settled, unresolved: true, outcome: 'partly_refunded', params }))
    const { user } = renderScreen(<PaymentsPage />, { at: ROUTE, route: ROUTE })
    await choose(user, '#1003', 'Ignore')
    await user.type(await screen.findByRole('textbox', { name: /Reason/ }), 'as agreed{Enter}')
    const question = await asked('Ignore payment #1003?')
    expect(question.getByText(/This closes the entry\. No money moves\./)).toBeTruthy()
    expect(question.queryByText(/pays for nothing/)).toBeNull()
  })

  it('offer nothing for what has ended', async () => {
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Actions: #1003' }))
    const enabled = (await offeredActions()).filter(([, possible]) => possible).map(([name]) => name)
    expect(enabled).toEqual([])
  })

  it('offer what can be done with the money of each: a refund where any is left, and to apply what was ignored before its dispute was won', async () => {
    keepNothing()
    const params = { order_id: 'NL-settled', platform_order: '#1003' }
    const cancelled: InboxEntry = { ...settled, topic: 'orders/cancelled', outcome: 'cancelled_delivered', params }
    const won: InboxEntry = { ...short, topic: 'disputes/update', outcome: 'dispute_won', payment: 'ignored' }
    const stuck: InboxEntry = { ...settled, unresolved: true, topic: 'reconciled/doubt', outcome: 'refund_stuck' }
    const never: InboxEntry = { ...stuck, id: 6, platform_order: '#1006', payment: 'held' }
    const more: InboxEntry = { ...settled, unresolved: true, id: 7, platform_order: '#1007', outcome: 'lines_more' }
    const twice: InboxEntry = {
      ...more,
      id: 8,
      platform_order: '#1008',
      outcome: 'refunded_twice',
      payment: 'refunded'
    }
    const part: InboxEntry = { ...stuck, id: 9, platform_order: '#1009', outcome: 'part_paid', payment: null }
    const ended = [
      { ...stuck, id: 5, platform_order: '#1005' },
      never,
      more,
      { ...twice, topic: 'refunds/create' },
      part
    ]
    const events = [{ ...cancelled, unresolved: true }, won, ...ended]
    answer(payments.inbox, pageOf(...events))
    const { user } = renderScreen(<PaymentsPage />, { at: ROUTE, route: ROUTE })
    const offered = async (name: string) => {
      await user.click(await screen.findByRole('button', { name: `Actions: ${name}` }))
      const possible = (await offeredActions()).flatMap(([action, isPossible]) => (isPossible ? [action] : []))
      await user.keyboard('{Escape}')
      return possible
    }
    expect(await offered('#1003')).toEqual(['Refund', 'Mark as refunded', 'Ignore'])
    expect(await offered('#1004')).toEqual(['Apply to an order', 'Refund', 'Mark as refunded', 'Ignore'])
    expect(await offered('#1005')).toEqual(['Refund', 'Mark as refunded', 'Ignore'])
    expect(await offered('#1006')).toEqual(['Apply to an order', 'Refund', 'Mark as refunded', 'Ignore'])
    expect(await offered('#1007')).toEqual(['Refund', 'Ignore'])
    expect(await offered('#1008')).toEqual(['Ignore'])
    expect(await offered('#1009')).toEqual(['Ignore'])
  })

  it('give a payment back by the plan that is asked about, and say so where it is for no order', async () => {
    keepNothing()
    answer(payments.inbox, pageOf({ ...short, order: null, order_id: null }))
    const plan = { version: '9', amount: '5.00', currency: 'USD', platform_order: '#1004', by_hand: null }
    answer(payments.refundPlan, { ...plan, ends: 'nothing', proxies: 0, days: 0, held_until: null })
    answer(payments.refund, { amount: '5.00', platform_order: '#1004', by_hand: null })
    const { user } = renderScreen(<PaymentsPage />, { at: ROUTE, route: ROUTE })
    await user.click(await screen.findByRole('button', { name: 'Actions: #1004' }))
    await user.click(await screen.findByRole('menuitem', { name: 'Refund' }))
    const form = within(await screen.findByRole('dialog', { name: /^Refund/ }))
    await user.type(form.getByRole('textbox', { name: /Amount/ }), '5{Enter}')
    const question = within(await screen.findByRole('dialog', { name: 'Refund $5.00?' }))
    expect(
      question.getByText(/The buyer of payment #1004 gets \$5\.00 back\. The payment belongs to no order/)
    ).toBeTruthy()
    await user.click(question.getByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(payments.refund)).toMatchObject([{ body: { amount: '5.00', version: '9' } }]))
  })

  it('say what an unhandled event is waiting for, and offer no action', async () => {
    keepNothing()
    const waits_for = 'the platform did not answer'
    answer(payments.inbox, pageOf({ ...settled, outcome: null, payment: null, waits_for }))
    const { user } = renderScreen(<PaymentsPage />, { at: `${ROUTE}?late=1`, route: ROUTE })
    expect(within(await rowOf('#1003')).getByText(waits_for)).toBeTruthy()
    expect(requestsOf(payments.inbox).at(-1)?.query).toMatchObject({ late: '1' })
    await user.click(screen.getByRole('button', { name: 'Actions: #1003' }))
    const off = { name: 'Ignore', description: /still waiting to be processed/ }
    expect((await screen.findByRole('menuitem', off)).getAttribute('aria-disabled')).toBe('true')
  })

  it('call a chargeback a dispute, and no refund', async () => {
    keepNothing()
    const taken: InboxEntry = { ...settled, outcome: 'refunded', params: { reason: 'chargeback' }, payment: 'refunded' }
    answer(payments.inbox, pageOf(taken))
    renderScreen(<PaymentsPage />, { at: ROUTE, route: ROUTE })
    const row = within(await rowOf('#1003'))
    expect(row.getByText('Disputed')).toBeTruthy()
    expect(row.queryByText('Refunded')).toBeNull()
  })
})
