import { expect, test } from 'vitest'
import { createShopify, type RefundInput } from './index.ts'

const both = (shop: string, buyer: string) => ({ shopMoney: { amount: shop }, presentmentMoney: { amount: buyer } })

/** What the refund of an order sends that was paid in another currency. */
async function refund(
  amount: string,
  order: { presentmentCurrencyCode: string; paid: object | null; left?: object }
): Promise<{ ok: boolean; input: RefundInput | undefined }> {
  const { paid, left, presentmentCurrencyCode } = order
  const platform = createShopify({
    shopUrl: 'shop.example',
    accessToken: 'token',
    apiSecret: 'secret',
    fetch: () => {
      const sale = { id: 'gid://shopify/OrderTransaction/1', kind: 'SALE', status: 'SUCCESS', gateway: 'cards' }
      const transactions = [{ ...sale, ...(paid ? { amountSet: paid } : {}) }]
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

test('in the shop’s own currency the amount stays, and no currency is named', async () => {
  const { input } = await refund('5.00', { presentmentCurrencyCode: 'USD', paid: both('20.00', '20.00') })
  expect(input).not.toHaveProperty('currency')
  expect(input).toMatchObject({ transactions: [{ amount: '5.00' }] })
})

test('nothing is refunded if the conversion is unknown', async () => {
  expect(await refund('5.00', { presentmentCurrencyCode: 'EUR', paid: null })).toEqual({ ok: false, input: undefined })
})

test.for([
  { statuses: ['SUCCESS'], fate: 'made' },
  { statuses: ['SUCCESS', 'FAILURE'], fate: 'made' },
  { statuses: ['SUCCESS', 'PENDING'], fate: 'pending' },
  { statuses: ['AWAITING_RESPONSE'], fate: 'pending' },
  { statuses: ['a status of tomorrow'], fate: 'pending' },
  { statuses: ['FAILURE', 'ERROR'], fate: 'failed' },
  { statuses: null, fate: 'failed' }
])('a refund of $statuses is $fate', async ({ statuses, fate }) => {
  const nodes = statuses?.map(status => ({ status }))
  const platform = createShopify({
    shopUrl: 'shop.example',
    accessToken: 'token',
    apiSecret: 'secret',
    fetch: () => Promise.resolve(Response.json({ data: { refund: nodes ? { transactions: { nodes } } : null } }))
  })
  expect(await platform.refundOutcome('1')).toEqual({ ok: true, value: fate })
})
