import { expect, test } from 'vitest'
import { demoPlans } from '../../../../sandbox/src/shopify/catalogue.ts'
import type { PlatformOrder } from '../../../../sandbox/src/shopify/state.ts'
import {
  control,
  launchAlone,
  openCart,
  secrets,
  startReceiver,
  until
} from '../../../../sandbox/src/testing/harness.ts'
import { useStarted } from '../../testing/use-started.ts'
import { createShopify, RefundEvent } from './index.ts'
import { spreadOver } from './refund-parts.ts'

const shop = useStarted(startReceiver)
const sandbox = useStarted(() => launchAlone(shop.url))
const platform = () =>
  createShopify({ shopUrl: sandbox.url, accessToken: secrets.accessToken, apiSecret: secrets.appSecret })

/** An order of 16.16, partly paid by gift card. */
async function buy(giftCard: string, more: object = {}): Promise<PlatformOrder> {
  const token = new URL(await openCart(sandbox, `/cart/${demoPlans[0]?.variants[1]?.id}:8`)).pathname.split('/').at(-1)
  const paid = await control<{ order: PlatformOrder }>(sandbox, 'POST', `/checkouts/${token}/pay`, {
    gift_card: giftCard,
    ...more
  })
  expect(paid.order.totalPrice).toBe('16.16')
  return paid.order
}

async function refund(order: PlatformOrder, amount: string, key: string) {
  const input = await platform().refundInput(order.id, { amount, note: 'n' })
  return input.ok ? platform().refund(input.value, key) : input
}

/** What each refund of an order gave back by gift card and by card. */
async function givenBack(order: PlatformOrder): Promise<string[][]> {
  const now = (await control<PlatformOrder[]>(sandbox, 'GET', '/orders')).find(one => one.id === order.id)
  const gateway = (id: string) => now?.payments?.find(payment => payment.id === id)?.gateway ?? ''
  return (now?.refunds ?? []).map(({ parts = [] }) => parts.map(one => `${gateway(one.parentId)} ${one.amount}`))
}

test('an order that a gift card and a card paid is refunded to each what it paid', async () => {
  const order = await buy('10.01')
  expect(await refund(order, '16.16', 'all')).toMatchObject({ ok: true })
  expect(await givenBack(order)).toEqual([['gift_card 10.01', 'bogus 6.15']])
  const told = await until('the webhook', () =>
    shop.received
      .filter(one => one.headers['x-shopify-topic'] === 'refunds/create')
      .map(one => RefundEvent.parse(JSON.parse(one.body.toString())))
      .find(one => one.order_id === order.id)
  )
  expect(told.transactions.map(({ amount }) => amount)).toEqual(['10.01', '6.15'])
  expect(await platform().order(order.id)).toMatchObject({ value: { financialStatus: 'REFUNDED' } })
})

test('a pending refund that failed is asked for again from the payments that it came from', async () => {
  const order = await buy('10.01')
  const begun = await control<{ id: string }>(sandbox, 'POST', `/orders/${order.id}/refund`, { pending: true })
  expect(await platform().readRefund(begun.id)).toMatchObject({ ok: true, value: { outcome: 'pending' } })
  await control(sandbox, 'POST', `/refunds/${begun.id}`, { status: 'failure' })
  expect(await platform().readRefund(begun.id)).toMatchObject({ ok: true, value: { outcome: 'failed' } })
  expect(await refund(order, '16.16', 'after the failure')).toMatchObject({ ok: true })
  expect((await givenBack(order)).at(-1)).toEqual(['gift_card 10.01', 'bogus 6.15'])
})

test('what a bank deposit paid is named, since the platform only records its refund', async () => {
  const order = await buy('10.01', { bank_deposit: true })
  const part = await platform().refundInput(order.id, { amount: '10.00', note: 'n' })
  expect(part.ok && part.value).not.toHaveProperty('byHand')
  const all = await platform().refundInput(order.id, { amount: '16.16', note: 'n' })
  expect(all).toMatchObject({ ok: true, value: { byHand: '6.15 USD' } })
  // The platform refuses a field that it does not know.
  expect(await refund(order, '16.16', 'by hand')).toMatchObject({ ok: true })
  const told = await until('the webhook', () =>
    shop.received
      .filter(one => one.headers['x-shopify-topic'] === 'refunds/create')
      .map(one => RefundEvent.parse(JSON.parse(one.body.toString())))
      .find(one => one.order_id === order.id)
  )
  expect(told.transactions.map(one => one.manual_payment_gateway)).toEqual([false, true])
})

test("parts go to the gift card first, then over both, cent by cent, and no further than the order's total", async () => {
  const order = await buy('10.01')
  expect(await refund(order, '10.00', 'first')).toMatchObject({ ok: true })
  expect(await refund(order, '0.02', 'second')).toMatchObject({ ok: true })
  expect(await refund(order, '6.14', 'third')).toMatchObject({ ok: true })
  expect(await givenBack(order)).toEqual([['gift_card 10.00'], ['gift_card 0.01', 'bogus 0.01'], ['bogus 6.14']])
  expect(await refund(order, '0.01', 'fourth')).toMatchObject({ ok: false, reason: 'rejected' })
  expect(await givenBack(order)).toHaveLength(3)
})

test('what the merchant already refunded on the platform is not refunded again', async () => {
  const order = await buy('10.01')
  await control(sandbox, 'POST', `/orders/${order.id}/refund`, { amount: '12.00' })
  expect(await refund(order, '4.16', 'rest')).toMatchObject({ ok: true })
  expect(await givenBack(order)).toEqual([['gift_card 10.01', 'bogus 1.99'], ['bogus 4.16']])
})

test('a repeat with the same key and input gets the answer that was lost, and makes no second refund', async () => {
  const order = await buy('10.01')
  const input = await platform().refundInput(order.id, { amount: '12.00', note: 'n' })
  if (!input.ok) throw new Error(input.message)
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'lost', next: 1 })
  expect(await platform().refund(input.value, 'once')).toMatchObject({ ok: false, reason: 'network' })
  expect(await platform().refund(input.value, 'once')).toMatchObject({ ok: true, value: expect.any(String) })
  // 'rejected' would mean that it was not made.
  const otherNote = { ...input.value, note: 'm' }
  expect(await platform().refund(otherNote, 'once')).toMatchObject({ ok: false, reason: 'bad_reply' })
  expect(await refund(order, '12.00', 'once')).toMatchObject({ ok: false, reason: 'bad_reply' })
  expect(await givenBack(order)).toEqual([['gift_card 10.01', 'bogus 1.99']])
})

const both = (amount: string) => ({ shopMoney: { amount: '1.00' }, presentmentMoney: { amount } })
const paid = (id: string, amount: string, more: object = {}) => ({
  id,
  kind: 'SALE',
  status: 'SUCCESS',
  gateway: `by ${id}`,
  amountSet: both(amount),
  ...more
})
const back = (parent: string, amount: string, status = 'SUCCESS') => ({
  ...paid(`of ${parent}`, amount, { kind: 'REFUND', status }),
  parentTransaction: { id: parent }
})
const suggest = (...all: [id: string, most: string | null][]) => ({
  suggestedTransactions: all.map(([id, most]) => ({
    parentTransaction: { id },
    maximumRefundableSet: most === null ? null : both(most)
  }))
})
const parts = (order: Parameters<typeof spreadOver>[0], asked: string, currency = 'USD') =>
  spreadOver(order, { asked, currency }).map(({ parentId, amount }) => `${parentId} ${amount}`)

test.for([
  {
    what: 'the platform’s order of payments counts',
    order: {
      transactions: [paid('a', '5.00'), paid('b', '5.00')],
      suggestedRefund: suggest(['b', '5.00'], ['a', '5.00'])
    },
    asked: '6.00',
    to: ['b 5.00', 'a 1.00']
  },
  {
    what: 'the platform’s maximum counts if it is lower',
    order: {
      transactions: [paid('a', '5.00'), paid('b', '5.00')],
      suggestedRefund: suggest(['a', '2.00'], ['b', null])
    },
    asked: '6.00',
    to: ['a 2.00', 'b 4.00']
  },
  {
    what: 'payments without a suggestion come last',
    order: { transactions: [paid('a', '5.00'), paid('b', '5.00')], suggestedRefund: suggest(['b', '5.00']) },
    asked: '6.00',
    to: ['b 5.00', 'a 1.00']
  },
  {
    what: 'pending refunds are subtracted, failed ones are not',
    order: {
      transactions: [paid('a', '5.00'), paid('b', '5.00'), back('a', '3.00', 'PENDING'), back('b', '5.00', 'FAILURE')]
    },
    asked: '6.00',
    to: ['a 2.00', 'b 4.00']
  },
  {
    what: 'a pending or only authorised payment is not refunded, a capture is',
    order: {
      transactions: [
        paid('a', '5.00', { status: 'PENDING' }),
        paid('b', '5.00', { kind: 'AUTHORIZATION' }),
        paid('c', '5.00', { kind: 'CAPTURE' })
      ]
    },
    asked: '5.00',
    to: ['c 5.00']
  },
  {
    what: 'a currency without cents gets none',
    order: { transactions: [paid('a', '1000'), paid('b', '2010')] },
    asked: '1500',
    currency: 'JPY',
    to: ['a 1000', 'b 500']
  },
  {
    what: 'an amount above the payments is requested in full',
    order: { transactions: [paid('a', '5.00'), paid('b', '5.00')] },
    asked: '10.01',
    to: ['a 5.00', 'b 5.01']
  },
  {
    what: 'if the paid amounts are unknown, the first payment refunds everything',
    order: { transactions: [{ ...paid('a', '1'), amountSet: undefined }, paid('b', '5.00')] },
    asked: '7.00',
    to: ['a 7.00']
  }
])('$what', ({ order, asked, currency, to }) => {
  expect(parts(order, asked, currency)).toEqual(to)
})
