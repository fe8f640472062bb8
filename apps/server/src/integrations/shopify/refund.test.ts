import { expect, test } from 'vitest'
import { requestToken } from './access-token.ts'
import { createShopify, type RefundInput } from './index.ts'

const both = (shop: string, buyer: string) => ({ shopMoney: { amount: shop }, presentmentMoney: { amount: buyer } })

/** What the refund of an order sends that was paid in another currency. */
async function refund(
  amount: string,
  order: { presentmentCurrencyCode: string; paid: object | null; left?: object; refunds?: number }
): Promise<{ ok: boolean; input: RefundInput | undefined }> {
  const { paid, left, presentmentCurrencyCode, refunds = 0 } = order
  const platform = createShopify({
    shopUrl: 'shop.example',
    accessToken: 'token',
    apiSecret: 'secret',
    fetch: () => {
      const sale = { id: 'gid://shopify/OrderTransaction/1', kind: 'SALE', status: 'SUCCESS', gateway: 'cards' }
      const back = { id: 'gid://shopify/OrderTransaction/2', kind: 'REFUND', status: 'SUCCESS', gateway: 'cards' }
      const transactions = [
        { ...sale, ...(paid ? { amountSet: paid } : {}) },
        ...Array.from({ length: refunds }, () => back)
      ]
      const found = {
        currencyCode: 'USD',
        presentmentCurrencyCode,
        transactions,
        ...(left ? { netPaymentSet: left } : {})
      }
      return Promise.resolve(Response.json({ data: { order: found } }))
    }
  })
  const read = await platform.refundInput('1', { amount, note: 'n' })
  return { ok: read.ok, input: read.ok ? read.value : undefined }
}

test("a refund is in the buyer's currency, which is named", async () => {
  const part = await refund('5.00', { presentmentCurrencyCode: 'GBP', paid: both('20.00', '15.41') })
  expect(part.input).toMatchObject({ currency: 'GBP', transactions: [{ amount: '3.85' }] })
  const yen = await refund('1.00', { presentmentCurrencyCode: 'JPY', paid: both('20.00', '3010') })
  expect(yen.input).toMatchObject({ currency: 'JPY', transactions: [{ amount: '150' }] })
  // All that is left is refunded exactly.
  const rest = await refund('15.00', {
    presentmentCurrencyCode: 'GBP',
    paid: both('20.00', '15.41'),
    left: both('15.0', '11.56')
  })
  expect(rest.input).toMatchObject({ currency: 'GBP', transactions: [{ amount: '11.56' }] })
})

test('the rest after some parts is all that is left, although our books have a cent less for each part', async () => {
  // Two parts of 3.05 EUR are 3.33 USD each in our books, and 6.642 USD in all.
  const order = { presentmentCurrencyCode: 'EUR', paid: both('20.00', '18.37'), left: both('13.36', '12.27') }
  const asked = async (amount: string, refunds: number) =>
    (await refund(amount, { ...order, refunds })).input?.transactions[0]?.amount
  expect(await asked('13.34', 2)).toBe('12.27')
  // The platform converts by the rate of another day.
  expect((await refund('13.34', { ...order, left: both('13.02', '12.27'), refunds: 2 })).input).toMatchObject({
    transactions: [{ amount: '12.27' }]
  })
  // 1.029 KWD count as 1.02 KWD.
  const dinars = { presentmentCurrencyCode: 'KWD', paid: both('20.00', '6.145'), left: both('16.65', '5.116') }
  expect((await refund('16.67', { ...dinars, refunds: 1 })).input).toMatchObject({
    transactions: [{ amount: '5.116' }]
  })
  // Less than the rest stays a part.
  expect(await asked('13.33', 2)).toBe('12.24')
  expect(await asked('13.34', 1)).toBe('12.25')
})

test('in the shop’s own currency the amount stays, and no currency is named', async () => {
  const { input } = await refund('5.00', { presentmentCurrencyCode: 'USD', paid: both('20.00', '20.00') })
  expect(input).not.toHaveProperty('currency')
  expect(input).toMatchObject({ transactions: [{ amount: '5.00' }] })
})

test('nothing is refunded if the conversion is unknown', async () => {
  expect(await refund('5.00', { presentmentCurrencyCode: 'EUR', paid: null })).toEqual({ ok: false, input: undefined })
})

const link = (at: number) => ({ id: `gid://shopify/OrderTransaction/${at}` })

function outcomeOf(transactions: object[] | undefined) {
  const amountSet = { shopMoney: { amount: '5.00' }, presentmentMoney: { amount: '3.85', currencyCode: 'GBP' } }
  const nodes = transactions?.map(transaction => ({ ...transaction, amountSet }))
  const platform = createShopify({
    shopUrl: 'shop.example',
    accessToken: 'token',
    apiSecret: 'secret',
    fetch: () => Promise.resolve(Response.json({ data: { refund: nodes ? { transactions: { nodes } } : null } }))
  })
  return platform.readRefund('1')
}

test.for([
  { statuses: ['SUCCESS'], outcome: 'made' },
  { statuses: ['SUCCESS', 'FAILURE'], outcome: 'made' },
  { statuses: ['SUCCESS', 'PENDING'], outcome: 'pending' },
  { statuses: ['AWAITING_RESPONSE'], outcome: 'pending' },
  { statuses: ['a status of tomorrow'], outcome: 'pending' },
  { statuses: ['FAILURE', 'ERROR'], outcome: 'failed' },
  { statuses: [], outcome: 'unknown' },
  { statuses: null, outcome: 'unknown' }
])('a refund of $statuses is $outcome', async ({ statuses, outcome }) => {
  expect(await outcomeOf(statuses?.map((status, at) => ({ ...link(at), status })))).toMatchObject({
    ok: true,
    value: { outcome }
  })
})

test.for([
  { name: 'was made', result: 'SUCCESS', outcome: 'made' },
  { name: 'failed', result: 'FAILURE', outcome: 'failed' },
  { name: 'is pending again', result: 'PENDING', outcome: 'pending' }
])('a refund whose transaction was pending, and then $name, is $outcome', async ({ result, outcome }) => {
  const sale = { parentTransaction: link(9) }
  const nodes = [
    { ...link(0), status: 'PENDING', ...sale },
    { ...link(1), status: result, parentTransaction: link(0) }
  ]
  expect(await outcomeOf(nodes)).toMatchObject({ ok: true, value: { outcome } })
  expect(await outcomeOf(nodes.toReversed())).toMatchObject({ ok: true, value: { outcome } })
})

/** How the answer to a refund is understood. */
async function answered(answer: () => Response): Promise<string> {
  const platform = createShopify({
    shopUrl: 'shop.example',
    accessToken: 'token',
    apiSecret: 'secret',
    fetch: async () => answer(),
    sleep: async () => undefined
  })
  const input = { orderId: 'gid://shopify/Order/1', note: '', notify: false as const, transactions: [] }
  const made = await platform.refund(input, 'netlet-1')
  return made.ok ? 'made' : made.reason
}

const code = (name: string, more: object = {}) => ({ message: 'No', ...more, extensions: { code: name } })
const locations = [{ line: 1, column: 1 }]

test.for([
  { errors: [code('TIMEOUT', { path: ['refundCreate'] })], data: { refundCreate: null } },
  { errors: [code('RESOURCE_LOCKED', { locations })] },
  { errors: [code('SERVICE_UNAVAILABLE')] },
  { errors: [{ message: 'Internal error', locations, path: ['refundCreate'] }], data: null },
  { errors: [{ message: 'Internal error', locations, path: ['refundCreate'] }] },
  { errors: [{ message: 'Internal error', locations }], data: null },
  { errors: [code('undefinedField', { locations, path: ['mutation Refund', 'x'] }), { message: 'Timeout' }] },
  // The refund was made, and its id is withheld.
  { errors: [code('ACCESS_DENIED', { path: ['refundCreate', 'refund'] })], data: { refundCreate: { refund: null } } }
])('after this answer a refund may have been made: %j', async body => {
  expect(await answered(() => Response.json(body))).toBe('server_error')
})

test.for([408, 409, 422, 430, 499, 500, 502])('after HTTP %d a refund may have been made', async status => {
  expect(await answered(() => new Response('<html>', { status }))).toBe('server_error')
})

test.for([
  [{ errors: [code('THROTTLED')] }, 'throttled'],
  [{ errors: [code('ACCESS_DENIED', { path: ['refundCreate'] })], data: { refundCreate: null } }, 'unauthorized'],
  [{ errors: [code('SHOP_INACTIVE')] }, 'inactive'],
  [{ errors: [code('MAX_COST_EXCEEDED')] }, 'rejected'],
  [{ errors: [code('undefinedField', { locations, path: ['mutation Refund', 'refundCreate', 'x'] })] }, 'rejected'],
  [{ errors: [code('INVALID_VARIABLE', { locations })] }, 'rejected'],
  [{ errors: [{ message: 'Parse error', locations }] }, 'rejected'],
  [{ data: { refundCreate: { refund: null, userErrors: [{ field: null, message: 'No' }] } } }, 'rejected']
] as const)('after this answer no refund was made: %j', async ([body, reason]) => {
  expect(await answered(() => Response.json(body))).toBe(reason)
})

test.for([408, 409, 425, 430])(
  'a reading or a request for a token that gets HTTP %d may be tried again',
  async status => {
    const fetch = async () => new Response('<html>', { status })
    const platform = createShopify({ shopUrl: 'shop.example', accessToken: 'token', apiSecret: 's', fetch })
    expect(await platform.order('1')).toMatchObject({ ok: false, reason: 'server_error', retryable: true })
    const granted = await requestToken({ shopUrl: 'shop.example', clientId: 'key', clientSecret: 'secret', fetch })
    expect(granted).toMatchObject({ ok: false, reason: 'server_error', retryable: true })
  }
)

test.for(['TIMEOUT', 'SERVICE_UNAVAILABLE', 'RESOURCE_LOCKED', 'INTERNAL_SERVER_ERROR'])(
  'a reading that gets %s may be tried again',
  async name => {
    const fetch = async () => Response.json({ errors: [code(name, { locations })] })
    const platform = createShopify({ shopUrl: 'shop.example', accessToken: 'token', apiSecret: 's', fetch })
    expect(await platform.order('1')).toMatchObject({ ok: false, reason: 'server_error', retryable: true })
  }
)

test.for([
  [400, 'rejected'],
  [401, 'unauthorized'],
  [402, 'inactive'],
  [403, 'unauthorized'],
  [404, 'not_found'],
  [423, 'inactive'],
  [429, 'throttled']
] as const)('after HTTP %d no refund was made', async ([status, reason]) => {
  expect(await answered(() => new Response('', { status }))).toBe(reason)
})
