import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { HOUR } from '../../infra/clock.ts'
import { startBooks, type Books } from '../payments/books.fixture.ts'
import { wantedCode } from '../rewards/index.ts'
import { reconcile, says } from './reconciling.fixture.ts'

let b: Books
let count = 0
beforeAll(async () => {
  b = await startBooks()
}, 120_000)
beforeEach(() => b.world.platformOrders.known.clear())
afterAll(() => b?.world.close())

/** A promo code of the buyer, and how it stands: is it used, and how often should it work on the platform? */
async function promoCode() {
  const code = `UNPAID-${(count += 1)}`
  const form = { username: b.buyer.user.username, code, discount: '5', code_type: 2 }
  const { data } = await b.admin.post<{ id: number }>('/api/rewards/coupon_code/', form)
  const stand = async () => {
    const { rows } = await b.db().execute<{ is_used: boolean }>(sql`select is_used from coupons where id = ${data.id}`)
    return [rows[0]?.is_used, (await wantedCode(b.db(), { kind: 'coupon', id: data.id }))?.uses]
  }
  return { code, stand }
}

test.for([
  { displayFinancialStatus: 'EXPIRED' },
  { displayFinancialStatus: 'VOIDED' },
  { displayFinancialStatus: 'PENDING', cancelledAt: '2026-01-01T00:00:00Z' }
])('a promo code works once more after its order ended unpaid (%o), however often that is read', async ended => {
  const { code, stand } = await promoCode()
  const paid = b.paymentFor(await b.world.place(b.buyer))
  const order = { fullyPaid: false, discountCodes: [code] }
  says(b, paid, [], { ...order, displayFinancialStatus: 'PENDING' })
  await reconcile(b)
  expect(await stand()).toEqual([false, 1])
  for (let times = 0; times < 2; times++) {
    await b.world.advance(HOUR)
    says(b, paid, [], { ...order, ...ended })
    expect(await reconcile(b)).toBe(times === 0 ? 1 : 0)
    // The platform has counted the use when the order was placed.
    expect(await stand()).toEqual([false, 2])
  }
  expect(await b.entriesOf(paid)).toMatchObject([{ outcome: 'not_paid', unresolved: false }])
  // It is marked as paid there after all.
  expect(
    await b.tell('orders/paid', { ...paid, discount_codes: [{ code, amount: '5.00', type: 'fixed_amount' }] })
  ).toBe('settled')
  expect(await stand()).toEqual([true, undefined])
})

test('an order without a promo code that ended unpaid is no event', async () => {
  const paid = b.paymentFor(await b.world.place(b.buyer))
  says(b, paid, [], { displayFinancialStatus: 'EXPIRED', fullyPaid: false })
  expect(await reconcile(b)).toBe(0)
})
