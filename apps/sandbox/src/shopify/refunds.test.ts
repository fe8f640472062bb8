import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Sandbox } from '../sandbox.ts'
import { control, launchAlone, openCart, secrets, startReceiver, until } from '../testing/harness.ts'
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
  const { refundCreate } = await ask<{ refundCreate: { userErrors: { message: string }[] } }>(query, {
    input: { orderId, note, transactions },
    key
  })
  return refundCreate.userErrors.map(({ message }) => message)
}

/** Calls the API like an app. */
async function ask<Data>(query: string, variables: object): Promise<Data> {
  const response = await fetch(`${sandbox.url}/admin/api/2026-07/graphql.json`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-shopify-access-token': secrets.accessToken },
    body: JSON.stringify({ query, variables })
  })
  return ((await response.json()) as { data: Data }).data
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

type Read = {
  order: {
    updatedAt: string
    displayFinancialStatus: string
    disputes: { id: string; initiatedAs: string; status: string }[]
    refunds: { totalRefundedSet: { shopMoney: { amount: string } }; transactions: { nodes: { status: string }[] } }[]
  }
}
const readOrder = async ({ id }: PlatformOrder) => {
  const query = `query ($id: ID!) { order(id: $id) { updatedAt displayFinancialStatus disputes { id initiatedAs status }
    refunds(first: 5) { totalRefundedSet { shopMoney { amount } } transactions(first: 5) { nodes { status } } } } }`
  return (await ask<Read>(query, { id: `gid://shopify/Order/${id}` })).order
}
/** Topics and bodies of the webhooks about an order. */
const webhooksOf = ({ id }: PlatformOrder, topic: string) =>
  shop.received
    .filter(one => one.headers['x-shopify-topic'] === topic)
    .map(({ body }) => JSON.parse(body.toString()) as { order_id: number; transactions?: { status: string }[] })
    .filter(({ order_id }) => order_id === Number(id))
const press = (path: string, values: Record<string, string>) =>
  fetch(`${sandbox.url}${path}`, { method: 'POST', body: new URLSearchParams(values), redirect: 'manual' })

test('a pending refund gives nothing back until it has a result, which changes no order and is no event of the refund', async () => {
  const order = await buy()
  await press('/faults/refunds', { kind: 'pending', next: '1' })
  expect(await refund(order, [[0, '4.00']], 'pending')).toEqual([])
  // The next one is not pending.
  expect(await refund(order, [[0, '1.00']], 'made')).toEqual([])
  const begun = await readOrder(order)
  const sums = (read: Read['order']) => read.refunds.map(one => Number(one.totalRefundedSet.shopMoney.amount))
  expect(sums(begun)).toEqual([0, 1])
  expect(begun.refunds[0]?.transactions.nodes).toEqual([{ status: 'PENDING' }])
  expect(await refund(order, [[0, '5.01']], 'too much')).toEqual(['Refund amount must be between 0.01 and 5.00'])
  await until('both reports', () => webhooksOf(order, 'refunds/create').length === 2 || null)
  expect(webhooksOf(order, 'refunds/create').map(one => one.transactions?.[0]?.status)).toEqual(['pending', 'success'])
  const made = (await control<PlatformOrder[]>(sandbox, 'GET', '/orders')).find(({ id }) => id === order.id)?.refunds[0]
  await control(sandbox, 'POST', `/refunds/${made?.id}`, { status: 'success' })
  expect(await readOrder(order)).toMatchObject({ updatedAt: begun.updatedAt })
  const ended = await readOrder(order)
  expect(sums(ended)).toEqual([4, 1])
  expect(ended.refunds[0]?.transactions.nodes).toEqual([{ status: 'PENDING' }, { status: 'SUCCESS' }])
  // Days later the bank returns it.
  await press(`/orders/refunds/${made?.id}`, { status: 'failure' })
  expect(await readOrder(order)).toMatchObject({ updatedAt: begun.updatedAt })
  expect(sums(await readOrder(order))).toEqual([0, 1])
  await press(`/orders/refunds/${made?.id}`, { status: 'success' })
  expect(sums(await readOrder(order)), 'a failure is final').toEqual([0, 1])
  await until('both results', () => webhooksOf(order, 'order_transactions/create').length === 2 || null)
})

test('a refund that is begun on the page and fails can be begun again', async () => {
  const order = await buy()
  for (const status of ['failure', 'success']) {
    await press(`/orders/${order.id}/refund`, { as: 'pending' })
    const now = (await control<PlatformOrder[]>(sandbox, 'GET', '/orders')).find(({ id }) => id === order.id)
    expect(now?.refunds.at(-1)).toMatchObject({ amount: '16.16', status: 'pending' })
    expect(await (await fetch(`${sandbox.url}/orders`)).text()).toContain(`/orders/refunds/${now?.refunds.at(-1)?.id}`)
    await press(`/orders/refunds/${now?.refunds.at(-1)?.id}`, { status })
  }
  expect((await readOrder(order)).displayFinancialStatus).toBe('REFUNDED')
})

test('a silent dispute stands with its order and in the list of disputes, and no webhook reports it', async () => {
  const order = await buy()
  const { updatedAt } = await readOrder(order)
  const opened = await control<{ id: string }>(sandbox, 'POST', `/orders/${order.id}/dispute`, {
    type: 'inquiry',
    silent: true
  })
  await press(`/orders/${order.id}/dispute`, { id: opened.id, status: 'lost', notify: 'no' })
  await control(sandbox, 'POST', `/orders/${order.id}/dispute`, {
    id: opened.id,
    type: 'chargeback',
    status: 'won',
    silent: true
  })
  expect(await readOrder(order)).toMatchObject({
    updatedAt,
    disputes: [{ id: `gid://shopify/OrderDisputeSummary/${opened.id}`, initiatedAs: 'INQUIRY', status: 'WON' }]
  })
  const list = `query ($query: String!) { disputes(first: 5, query: $query, reverse: true) { nodes { id type status finalizedOn } } }`
  const since = (at: string) => ask<{ disputes: { nodes: object[] } }>(list, { query: `initiated_at:>='${at}'` })
  const id = `gid://shopify/ShopifyPaymentsDispute/${opened.id}`
  expect((await since('2020-01-01T00:00:00Z')).disputes.nodes).toEqual([
    { id, type: 'CHARGEBACK', status: 'WON', finalizedOn: expect.any(String) }
  ])
  expect((await since('2999-01-01T00:00:00Z')).disputes.nodes).toEqual([])
  await press(`/orders/${order.id}/dispute`, { status: 'needs_response', notify: 'yes' })
  await until('one report', () => webhooksOf(order, 'disputes/create').length === 1 || null)
  expect(webhooksOf(order, 'disputes/update')).toEqual([])
})
