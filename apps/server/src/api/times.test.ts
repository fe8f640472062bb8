import { sql } from '../infra/db/drizzle.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startStockedShop, type Buyer, type StockedShop } from './stocked-shop.fixture.ts'

let shop: StockedShop
let admin: Buyer
let customer: Buyer

beforeAll(async () => {
  shop = await startStockedShop()
  admin = await shop.admin()
  customer = await shop.customer()
})
afterAll(() => shop?.close())

const ORDERS = '/api/orders/order_list/?ends_on='
const AUDIT = '/api/settings/audit_log/'
const ADDRESSES = '/api/servers/addresses'
const wrong = { status: 400, data: { reason: 'invalid' } }

async function looks(): Promise<number> {
  const { rows } = await shop.ctx.db.execute(sql`select id from audit_log`)
  return rows.length
}

describe.each(['0000-01-01', '0001-01-01', '9999-12-31'])(
  'the day %s, which cannot be stored or was never meant',
  day => {
    test('is a wrong filter of orders, also for customers and in a bulk run', async () => {
      expect(await customer.get(`${ORDERS}${day}`)).toMatchObject(wrong)
      expect(await admin.get(`${ORDERS}${day}`)).toMatchObject(wrong)
      const order = { action: 'order.check', selection: { query: { ends_on: day } } }
      for (const path of ['/api/bulk/plan/', '/api/bulk/']) expect(await admin.post(path, order)).toMatchObject(wrong)
    })

    test('is a wrong end of a span of the audit log', async () => {
      for (const name of ['from', 'until']) expect(await admin.get(`${AUDIT}?${name}=${day}`)).toMatchObject(wrong)
    })
  }
)

describe.each(['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+14:00', '9999-12-31T23:59:59-14:00'])(
  'the instant %s, which cannot be stored or was never meant',
  instant => {
    const at = encodeURIComponent(instant)

    test('is refused before somebody looks up who had an address', async () => {
      const before = await looks()
      for (const name of ['from', 'to'])
        expect(await admin.get(`${ADDRESSES}/leases/?address=10.1.2.0/24&${name}=${at}`)).toMatchObject(wrong)
      expect(await admin.get(`${ADDRESSES}/?address=10.1.2.3&at=${at}`)).toMatchObject(wrong)
      expect(await looks()).toBe(before)
    })

    test('is a wrong end of a span of the audit log, and of an outage', async () => {
      for (const name of ['from', 'until']) expect(await admin.get(`${AUDIT}?${name}=${at}`)).toMatchObject(wrong)
      const path = `/api/servers/servers/${shop.serverId}/outages/`
      expect(await admin.post(path, { started_at: instant, ended_at: '2026-03-01T00:00:00Z' })).toMatchObject(wrong)
    })
  }
)

test('the first and the last day and instant that are taken are answered', async () => {
  const [first, last] = ['1970-01-01', '9998-12-31']
  // An offset that PostgreSQL does not take.
  const [begin, end] = [`${first}T23:00:00%2B23:00`, `${last}T23:59:59Z`]
  for (const path of [
    `${ORDERS}${first}`,
    `${ORDERS}${last}`,
    `${AUDIT}?from=${first}&until=${last}`,
    `${AUDIT}?from=${begin}&until=${end}`,
    `${ADDRESSES}/leases/?address=10.1.2.0/24&from=${begin}&to=${end}`,
    `${ADDRESSES}/?address=10.1.2.3&at=${begin}`,
    `${ADDRESSES}/?address=10.1.2.3&at=${end}`
  ])
    expect(await admin.get(path), path).toMatchObject({ status: 200 })
})
