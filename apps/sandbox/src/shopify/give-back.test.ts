import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Sandbox } from '../sandbox.ts'
import { control, launchAlone, openCart, secrets, startReceiver } from '../testing/harness.ts'
import { demoPlans } from './catalogue.ts'
import type { PlatformOrder } from './state.ts'

let shop: Awaited<ReturnType<typeof startReceiver>>
let sandbox: Sandbox
beforeAll(async () => {
  shop = await startReceiver()
  sandbox = await launchAlone(shop.url)
})
afterAll(async () => {
  await sandbox.close()
  await shop.close()
})

/** An order of 16.16: the checkout's form pays 10.00 of it by gift card. */
async function buy(): Promise<PlatformOrder> {
  const checkout = await openCart(sandbox, `/cart/${demoPlans[0]?.variants[1]?.id}:8`)
  const body = new URLSearchParams({ email: 'a@example.test', gift_card: '10.00' })
  expect(await (await fetch(checkout)).text()).toContain('name="gift_card"')
  await fetch(`${checkout}/pay`, { method: 'POST', body, redirect: 'manual' })
  const [order] = await control<PlatformOrder[]>(sandbox, 'GET', '/orders')
  if (!order?.payments) throw new Error('no order of two payments')
  return order
}

type Asked = [payment: number | string, amount: string][]

/** Requests a refund like an app. @returns the platform's errors */
async function refund(order: PlatformOrder, asked: Asked, key: string, note = ''): Promise<string[]> {
  const query = `mutation ($input: RefundInput!, $key: String!) {
    refundCreate(input: $input) @idempotent(key: $key) { userErrors { message } }
  }`
  const orderId = `gid://shopify/Order/${order.id}`
  const transactions = asked.map(([payment, amount]) => ({
    orderId,
    amount,
    kind: 'REFUND',
    gateway: 'any',
    parentId: `gid://shopify/OrderTransaction/${typeof payment === 'string' ? payment : order.payments?.[payment]?.id}`
  }))
  const response = await fetch(`${sandbox.url}/admin/api/2026-07/graphql.json`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-shopify-access-token': secrets.accessToken },
    body: JSON.stringify({ query, variables: { input: { orderId, note, transactions }, key } })
  })
  const { data } = (await response.json()) as { data: { refundCreate: { userErrors: { message: string }[] } } }
  return data.refundCreate.userErrors.map(({ message }) => message)
}

test('no payment refunds more than it has left', async () => {
  const order = await buy()
  const upTo = (most: string) => [`Refund amount must be between 0.01 and ${most}`]
  expect(await refund(order, [[0, '10.01']], 'a')).toEqual(upTo('10.00'))
  expect(await refund(order, [[0, '16.16']], 'b')).toEqual(upTo('10.00'))
  const twice: Asked = [
    [1, '3.10'],
    [1, '3.10']
  ]
  expect(await refund(order, twice, 'c')).toEqual(upTo('6.16'))
  expect(await refund(order, [[0, '0.00']], 'd')).toEqual(upTo('10.00'))
  expect(await refund(order, [['1', '1.00']], 'e')).toEqual(['Parent transaction does not exist'])
  const most: Asked = [
    [0, '9.99'],
    [1, '6.16']
  ]
  expect(await refund(order, most, 'f')).toEqual([])
  expect(await refund(order, [[0, '0.02']], 'g')).toEqual(upTo('0.01'))
  expect(await refund(order, [[0, '0.01']], 'h')).toEqual([])
})

test('a known key repeats the answer to the same request, and refuses another one', async () => {
  const order = await buy()
  expect(await refund(order, [[0, '5.00']], 'key')).toEqual([])
  expect(await refund(order, [[0, '5.00']], 'key')).toEqual([])
  const otherInput = ['The same idempotency key cannot be used with different operation parameters.']
  expect(await refund(order, [[1, '5.00']], 'key')).toEqual(otherInput)
  expect(await refund(order, [[0, '5.00']], 'key', 'by another')).toEqual(otherInput)
  const now = (await control<PlatformOrder[]>(sandbox, 'GET', '/orders')).find(({ id }) => id === order.id)
  expect(now?.refunds.map(({ amount }) => amount)).toEqual(['5.00'])
})
