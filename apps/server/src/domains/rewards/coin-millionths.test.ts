import type { Page, PointRecord } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accountPorts } from '../../ports.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { migrationStatements } from '../../testing/migrations.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { accountRoutes } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import {
  createGiftCard,
  grantForPayment,
  lockEarners,
  restoreForPayment,
  rewardsRoutes,
  takeBackForPayment,
  takeBackPart
} from './index.ts'
import { rewardsQueues } from './queues.ts'
import { runs } from '../../../../../scripts/testing/tier.ts'
import { newKey } from '../../testing/asking-once.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({
    queues: rewardsQueues,
    routes: (mount, ctx) => {
      rewardsRoutes(mount, ctx)
      accountRoutes(mount, ctx, accountPorts(ctx))
    }
  })
})
afterAll(() => shop?.close())

type Customer = Awaited<ReturnType<typeof shop.customer>>

async function inviterOf(count: number) {
  const inviter = await shop.customer()
  const buyers: Customer[] = []
  for (let n = 0; n < count; n++) buyers.push(await shop.customer())
  for (const { user } of buyers)
    await shop.ctx.db.update(users).set({ invitedBy: inviter.user.id }).where(eq(users.id, user.id))
  return { inviter, buyers }
}

const amountOf = (cents: number): string => (cents / 100).toFixed(2)

/** A payment at a rate in ten-thousandths; `kept` is how many of its cents stand. */
type Payment = { id: string; buyer: Customer; cents: number; rate: number; hold: number; kept: number }

let count = 0
function paymentOf(buyer: Customer | undefined, cents: number, rate: number, hold = 0): Payment {
  if (!buyer) throw new Error('no buyer')
  return { id: `small ${++count}`, buyer, cents, rate, hold, kept: 0 }
}

async function settle(payment: Payment): Promise<void> {
  payment.kept = payment.cents
  const settings = {
    billing_rate: 1,
    invite_rebate_rate: payment.rate / 10_000,
    invite_level_points_per_user: 0,
    coins_hold_days: payment.hold
  }
  const { id: paymentId, buyer, cents } = payment
  const earned = { orderPublicId: 'NL-1', userId: buyer.user.id, amount: amountOf(cents), paymentId, settings }
  await command(shop.ctx, SYSTEM, unit => grantForPayment(unit, earned))
}

/** Sets how many cents of a payment stand, after refunds or reversals. */
async function keep(payment: Payment, cents: number): Promise<void> {
  const { id, buyer, kept: before } = payment
  const kept = { amount: amountOf(cents), of: amountOf(payment.cents) }
  payment.kept = cents
  await command(shop.ctx, SYSTEM, async unit => {
    await lockEarners(unit.tx, buyer.user.id)
    if (cents >= before && cents > 0) await restoreForPayment(unit, id, kept)
    else if (cents === 0) await takeBackForPayment(unit, id)
    else await takeBackPart(unit, id, kept)
  })
}

let cards = 0
async function spends(client: Customer, point: number) {
  const mount = `${++cards}.00`
  await createGiftCard(shop.ctx, SYSTEM, { mount, code: `small-${cards}`, point })
  return client.post('/api/rewards/gift_card/exchange/', { mount, point }, newKey())
}

async function balanceOf({ user }: Customer) {
  const [row] = await shop.ctx.db.select().from(users).where(eq(users.id, user.id))
  if (!row) throw new Error('no user')
  return { coins: row.coins, owed: row.coinsOwed, millionths: row.coinMillionths }
}

test('payments too small for a coin make one together, once each, and a refund takes back what its own earned', async () => {
  const { inviter, buyers } = await inviterOf(2)
  const [first, second, third] = [buyers[0], buyers[1], buyers[0]].map(buyer => paymentOf(buyer, 999, 500))
  if (!first || !second || !third) throw new Error('no payment')
  const fraction = async () =>
    (await inviter.get<{ coin_fraction: number }>('/api/users/invite_code')).data.coin_fraction
  await Promise.all([first, second, first, second].map(settle))
  expect(await balanceOf(inviter)).toEqual({ coins: 0, owed: 0, millionths: 999_000 })
  expect(await fraction()).toBe(0.99)
  await settle(third)
  expect(await balanceOf(inviter)).toEqual({ coins: 1, owed: 0, millionths: 498_500 })
  expect(await fraction()).toBe(0.49)
  const history = await inviter.get<Page<PointRecord>>('/api/rewards/point_record/?kind=coins')
  expect(history.data.data.map(({ point }) => point)).toEqual([1])
  await keep(first, 0)
  expect(await balanceOf(inviter)).toEqual({ coins: 0, owed: 0, millionths: 999_000 })
  await Promise.all([first, first].map(one => keep(one, 999)))
  expect(await balanceOf(inviter)).toEqual({ coins: 1, owed: 0, millionths: 498_500 })
  // The coin was spent. Nothing of two payments is left, and 0.4995 of the third.
  expect((await spends(inviter, 1)).code).toBe(2000)
  await Promise.all([first, third].map(one => keep(one, 0)))
  expect(await balanceOf(inviter)).toEqual({ coins: 0, owed: 1, millionths: 499_500 })
  await settle(paymentOf(buyers[1], 1500, 500))
  expect(await balanceOf(inviter)).toEqual({ coins: 0, owed: 0, millionths: 249_500 })
})

/** An inviter's coins match the records of its invitations, its millionths and its debt. */
async function expectBooks(inviter: Customer, payments: readonly Payment[]): Promise<void> {
  const { rows } = await shop.ctx.db.execute<Record<string, string>>(sql`
    select coalesce(sum(point), 0) as coins,
      coalesce(sum(nominal - taken_back) filter (where reason_code = 'invited_payment'), 0) as millionths,
      coalesce(-sum(point) filter (where reason_code = 'exchange'), 0) as spent
    from point_records where user_id = ${inviter.user.id} and kind = 'coins'`)
  const earned = payments.reduce((sum, { kept, rate }) => sum + kept * rate, 0)
  const { coins, owed, millionths } = await balanceOf(inviter)
  expect(Number(rows[0]?.['coins'])).toBe(coins)
  expect(Number(rows[0]?.['millionths'])).toBe(earned)
  expect((coins - owed + Number(rows[0]?.['spent'])) * 1_000_000 + millionths).toBe(earned)
  expect(Math.min(coins, owed)).toBe(0)
}

test('after any history of payments, refunds and returns, also at once, coins are the whole part of what stands', async () => {
  const cents = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 5000 }))
  const rate = fc.constantFrom(1, 375, 500, 3333, 10_050)
  const paying = fc.record({ cents, rate, buyer: fc.nat(1), hold: fc.constantFrom(0, 7) })
  const keeping = fc.record({ which: fc.nat(20), part: fc.constantFrom(0, 0, 1, 0.5, 0.337, 0.011) })
  const together = fc.oneof(
    fc.record({ pay: fc.array(paying, { minLength: 1, maxLength: 3 }) }),
    fc.record({ keep: fc.array(keeping, { minLength: 1, maxLength: 3 }) }),
    fc.record({ spend: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ days: fc.constantFrom(1, 8) })
  )
  await fc.assert(
    fc.asyncProperty(fc.array(together, { minLength: 5, maxLength: 14 }), async steps => {
      const { inviter, buyers } = await inviterOf(2)
      const payments: Payment[] = []
      for (const step of steps) {
        if ('pay' in step) {
          const paid = step.pay.map(one => paymentOf(buyers[one.buyer], one.cents, one.rate, one.hold))
          payments.push(...paid)
          await Promise.all([...paid, ...paid].map(settle))
        }
        if ('keep' in step && payments.length > 0) {
          const parts = new Map(step.keep.map(({ which, part }) => [which % payments.length, part]))
          await Promise.all(
            payments.flatMap((one, n) => {
              const part = parts.get(n)
              return part === undefined ? [] : [keep(one, Math.floor(one.cents * part))]
            })
          )
        }
        if ('spend' in step) await spends(inviter, step.spend)
        if ('days' in step) shop.advance(step.days * DAY)
        await expectBooks(inviter, payments)
      }
      await Promise.all(payments.map(one => keep(one, 0)))
      await expectBooks(inviter, payments)
      expect(await balanceOf(inviter)).toMatchObject({ coins: 0, millionths: 0 })
    }),
    runs(10, 500)
  )
}, 120_000)

test('coins from before are as many millionths, and what was taken back of them, too', async () => {
  const { db } = shop.ctx
  const { inviter } = await inviterOf(0)
  await db.transaction(async tx => {
    await tx.execute(sql`alter table users drop column coin_millionths`)
    await tx.execute(sql`alter table point_records drop constraint point_records_millionths`)
    await tx.execute(sql`insert into point_records
      (created_at, user_id, kind, point, reason_code, cause, payment, nominal, taken_back) values
      (now(), ${inviter.user.id}, 'coins', 7, 'invited_payment', 'payment:old:coins', 'old', null, 3),
      (now(), ${inviter.user.id}, 'coins', 2, 'invited_payment', 'restored:old', 'old', 2, 0),
      (now(), ${inviter.user.id}, 'level', 9, 'payment', 'payment:old:level', 'old', 10, 4)`)
    for (const statement of migrationStatements('_coin_millionths.sql')) await tx.execute(sql.raw(statement))
  })
  const { rows } = await db.execute(
    sql`select point, nominal, taken_back from point_records where payment = 'old' order by id`
  )
  expect(rows).toEqual([
    { point: 7, nominal: 7_000_000, taken_back: 3_000_000 },
    { point: 2, nominal: 2_000_000, taken_back: 0 },
    { point: 9, nominal: 10, taken_back: 4 }
  ])
  expect(await balanceOf(inviter)).toMatchObject({ millionths: 0 })
})
