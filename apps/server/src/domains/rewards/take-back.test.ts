import type { CurrentUser, Page, PointRecord } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accountPorts } from '../../ports.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { accountRoutes } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import { writeSettings } from '../settings/index.ts'
import {
  createGiftCard,
  grantForPayment,
  lockEarners,
  pendingCoins,
  restoreForPayment,
  rewardInvitation,
  rewardsRoutes,
  takeBackForPayment,
  takeBackPart
} from './index.ts'
import { decayLevelPoints } from './jobs.ts'
import { rewardsQueues } from './queues.ts'
import { pointRecords } from './tables.ts'
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

const settings = { billing_rate: 1, invite_rebate_rate: 1, invite_level_points_per_user: 10, coins_hold_days: 7 }

async function pair() {
  const inviter = await shop.customer()
  const buyer = await shop.customer()
  await shop.ctx.db.update(users).set({ invitedBy: inviter.user.id }).where(eq(users.id, buyer.user.id))
  return { inviter, buyer }
}

let count = 0
async function pays(userId: number, amount: string, change: Partial<typeof settings> = {}): Promise<string> {
  count += 1
  const paymentId = `p${count}`
  const payment = { orderPublicId: 'NL-1', userId, amount, settings: { ...settings, ...change }, paymentId }
  await command(shop.ctx, SYSTEM, unit => grantForPayment(unit, payment))
  return paymentId
}

const refunds = (userId: number, paymentId: string) =>
  command(shop.ctx, SYSTEM, async unit => {
    await lockEarners(unit.tx, userId)
    await takeBackForPayment(unit, paymentId)
  })

/** The payment's money came back; may be repeated. */
const restores = (userId: number, paymentId: string) =>
  command(shop.ctx, SYSTEM, async unit => {
    await lockEarners(unit.tx, userId)
    await restoreForPayment(unit, paymentId)
    await rewardInvitation(unit, { userId, paymentId, settings })
  })

const restoreEarned = (userId: number, paymentId: string) =>
  command(shop.ctx, SYSTEM, async unit => {
    await lockEarners(unit.tx, userId)
    await restoreForPayment(unit, paymentId, { amount: '54.00', of: '54.00' })
  })

let cards = 0
const exchange = async (client: Awaited<ReturnType<typeof shop.customer>>, point: number) => {
  cards += 1
  const mount = `${1000 + cards}.00`
  await createGiftCard(shop.ctx, SYSTEM, { mount, code: `card-${cards}`, point })
  return client.post('/api/rewards/gift_card/exchange/', { mount, point }, newKey())
}

async function balanceOf(id: number) {
  const [user] = await shop.ctx.db.select().from(users).where(eq(users.id, id))
  if (!user) throw new Error('no user')
  const { coins, coinsOwed, levelPoints } = user
  return { coins, coinsOwed, levelPoints, pending: await pendingCoins(shop.ctx.db, id, shop.ctx.now()) }
}

async function sumOf(id: number, kind: 'coins' | 'level') {
  const { rows } = await shop.ctx.db.execute<{ sum: string }>(
    sql`select coalesce(sum(point), 0) as sum from ${pointRecords} where user_id = ${id} and kind = ${kind}`
  )
  return Number(rows[0]?.sum)
}

test('coins wait for the days of the settings, show as pending, and can be spent after', async () => {
  const { inviter, buyer } = await pair()
  await pays(buyer.user.id, '30.00')
  const me = async () => (await inviter.get<CurrentUser>('/api/auth/login')).data
  expect(await me()).toMatchObject({ reward_points: 30, pending_points: 30 })
  const history = await inviter.get<Page<PointRecord>>('/api/rewards/point_record/')
  expect(history.data.data.find(({ kind }) => kind === 'coins')?.pending_until).toBeTruthy()
  expect(await exchange(inviter, 20)).toMatchObject({ status: 409, msg: 'Insufficient Coins' })
  shop.advance(7 * DAY + 1000)
  expect(await me()).toMatchObject({ reward_points: 30, pending_points: 0 })
  expect((await exchange(inviter, 20)).code).toBe(2000)
  expect(await balanceOf(inviter.user.id)).toMatchObject({ coins: 10, coinsOwed: 0, pending: 0 })
})

test('a refund before that takes the coins away before they can be spent', async () => {
  const { inviter, buyer } = await pair()
  const payment = await pays(buyer.user.id, '30.00')
  await refunds(buyer.user.id, payment)
  await refunds(buyer.user.id, payment)
  expect(await balanceOf(inviter.user.id)).toEqual({ coins: 0, coinsOwed: 0, levelPoints: 0, pending: 0 })
  expect(await balanceOf(buyer.user.id)).toMatchObject({ levelPoints: 0 })
  shop.advance(8 * DAY)
  expect((await exchange(inviter, 20)).status).toBe(409)
  const history = await inviter.get<Page<PointRecord>>('/api/rewards/point_record/')
  expect(history.data.data[0]?.reason).toBe(`Refund to ${buyer.user.username} (invited by you)`)
})

test('coins that were spent are owed, and kept from those that are earned next', async () => {
  const { inviter, buyer } = await pair()
  const payment = await pays(buyer.user.id, '30.00', { coins_hold_days: 0 })
  expect((await exchange(inviter, 25)).code).toBe(2000)
  await refunds(buyer.user.id, payment)
  expect(await balanceOf(inviter.user.id)).toMatchObject({ coins: 0, coinsOwed: 25 })
  await pays(buyer.user.id, '10.00', { coins_hold_days: 0 })
  expect(await balanceOf(inviter.user.id)).toMatchObject({ coins: 0, coinsOwed: 15 })
  await pays(buyer.user.id, '20.00', { coins_hold_days: 0 })
  expect(await balanceOf(inviter.user.id)).toMatchObject({ coins: 5, coinsOwed: 0 })
})

test('coins that were spent are taken from pending coins of other payments too: only the rest is owed', async () => {
  const { inviter, buyer } = await pair()
  const first = await pays(buyer.user.id, '100.00')
  shop.advance(4 * DAY)
  const second = await pays(buyer.user.id, '100.00')
  shop.advance(4 * DAY)
  const third = await pays(buyer.user.id, '100.00')
  expect((await exchange(inviter, 100)).code).toBe(2000)
  expect(await balanceOf(inviter.user.id)).toMatchObject({ coins: 200, coinsOwed: 0, pending: 200 })
  await refunds(buyer.user.id, first)
  expect(await balanceOf(inviter.user.id)).toMatchObject({ coins: 100, coinsOwed: 0, pending: 100 })
  // The second payment's coins are gone, so none mature.
  shop.advance(4 * DAY)
  expect(await exchange(inviter, 100)).toMatchObject({ status: 409, msg: 'Insufficient Coins' })
  await refunds(buyer.user.id, second)
  expect(await balanceOf(inviter.user.id)).toMatchObject({ coins: 0, coinsOwed: 0, pending: 0 })
  await refunds(buyer.user.id, third)
  expect(await balanceOf(inviter.user.id)).toMatchObject({ coins: 0, coinsOwed: 100, pending: 0 })
  expect(await sumOf(inviter.user.id, 'coins')).toBe(0)
  // The money comes back, and the new earnings pay the debt.
  for (const payment of [third, second, first]) await restores(buyer.user.id, payment)
  shop.advance(8 * DAY)
  expect(await balanceOf(inviter.user.id)).toMatchObject({ coins: 200, coinsOwed: 0, pending: 0 })
})

test('coins that are owed from before are not exchanged', async () => {
  const { inviter, buyer } = await pair()
  await pays(buyer.user.id, '100.00', { coins_hold_days: 0 })
  await pays(buyer.user.id, '50.00')
  await shop.ctx.db.update(users).set({ coinsOwed: 90 }).where(eq(users.id, inviter.user.id))
  // 150, of which 50 are pending, and 90 owed.
  expect(await exchange(inviter, 61)).toMatchObject({ status: 409, msg: 'Insufficient Coins' })
  expect((await exchange(inviter, 60)).code).toBe(2000)
})

test('an administrator takes spendable coins first, then pending ones; what is pending never exceeds the balance', async () => {
  const { inviter, buyer } = await pair()
  const id = inviter.user.id
  const change = (by: number) =>
    command(shop.ctx, SYSTEM, unit => accountPorts(shop.ctx).changePoints(unit, id, { kind: 'coins', by }))
  const payment = await pays(buyer.user.id, '100.00')
  await change(30)
  await change(-90)
  expect(await balanceOf(id)).toMatchObject({ coins: 40, coinsOwed: 0, pending: 40 })
  await refunds(buyer.user.id, payment)
  expect(await balanceOf(id)).toMatchObject({ coins: 0, coinsOwed: 60, pending: 0 })
  await change(100)
  expect(await balanceOf(id)).toMatchObject({ coins: 40, coinsOwed: 0, pending: 0 })
  expect(await sumOf(id, 'coins')).toBe(40)
})

test('an invitation earns at the first payment that stands: again after a refund, never twice', async () => {
  const { inviter, buyer } = await pair()
  expect(await balanceOf(inviter.user.id)).toMatchObject({ levelPoints: 0 })
  const first = await pays(buyer.user.id, '5.00')
  expect(await balanceOf(inviter.user.id)).toMatchObject({ levelPoints: 10 })
  await refunds(buyer.user.id, first)
  expect(await balanceOf(inviter.user.id)).toMatchObject({ levelPoints: 0 })
  await Promise.all([1, 2, 3].map(() => pays(buyer.user.id, '5.00')))
  expect(await balanceOf(inviter.user.id)).toMatchObject({ levelPoints: 10 })
  const nothing = await pair()
  await pays(nothing.buyer.user.id, '0.00')
  expect(await balanceOf(nothing.inviter.user.id)).toMatchObject({ levelPoints: 0 })
})

test('a refund takes only what decay has left of its own points', async () => {
  const { buyer } = await pair()
  const old = await pays(buyer.user.id, '100.00')
  const older = await pays(buyer.user.id, '11.00')
  await writeSettings(shop.ctx, { level_points_decay_day: 1, level_points_decay_rate: 0.1 })
  // Two months: 111, then 99, then 89.
  for (const month of ['2100-01-02', '2100-02-02'])
    await decayLevelPoints({ ...shop.ctx, now: () => new Date(`${month}T00:00:00Z`) })
  expect(await balanceOf(buyer.user.id)).toMatchObject({ levelPoints: 89 })
  await pays(buyer.user.id, '50.00')
  expect(await balanceOf(buyer.user.id)).toMatchObject({ levelPoints: 139 })
  // 100 × 89/111, rounded up.
  await refunds(buyer.user.id, old)
  expect(await balanceOf(buyer.user.id)).toMatchObject({ levelPoints: 139 - 81 })
  await refunds(buyer.user.id, older)
  expect((await balanceOf(buyer.user.id)).levelPoints).toBe(139 - 81 - 9)
  expect(await sumOf(buyer.user.id, 'level')).toBe(139 - 81 - 9)
})

test('of a payment that is given back in parts, what is kept of it has earned what it earns; decay counts for its part', async () => {
  const { inviter, buyer } = await pair()
  const payment = await pays(buyer.user.id, '100.00', { billing_rate: 0.7, invite_rebate_rate: 0.35 })
  const keeps = (amount: string) =>
    command(shop.ctx, SYSTEM, async unit => {
      await lockEarners(unit.tx, buyer.user.id)
      await takeBackPart(unit, payment, { amount, of: '100.00' })
    })
  const restoresTo = (amount: string) =>
    command(shop.ctx, SYSTEM, async unit => {
      await lockEarners(unit.tx, buyer.user.id)
      await restoreForPayment(unit, payment, { amount, of: '100.00' })
    })
  const expectEarned = async (level: number, coins: number, owed = 0) => {
    expect(await balanceOf(buyer.user.id)).toMatchObject({ levelPoints: level })
    expect(await balanceOf(inviter.user.id)).toMatchObject({ coins, coinsOwed: owed })
  }
  await expectEarned(70, 35)
  // The points for the invitation stay while any part of the payment is kept.
  expect(await balanceOf(inviter.user.id)).toMatchObject({ levelPoints: 10 })
  await Promise.all([keeps('66.65'), keeps('66.65')])
  await expectEarned(46, 23)
  await keeps('33.30')
  await expectEarned(23, 11)
  await Promise.all([restoresTo('66.65'), restoresTo('66.65')])
  await expectEarned(46, 23)
  // The decay leaves half, so a later refund takes half as many.
  await writeSettings(shop.ctx, { level_points_decay_day: 1, level_points_decay_rate: 0.5 })
  await decayLevelPoints({ ...shop.ctx, now: () => new Date('2101-02-02T00:00:00Z') })
  await expectEarned(23, 23)
  await keeps('33.30')
  await expectEarned(11, 11)
  await restoresTo('66.65')
  await expectEarned(28, 23)
  // Spent coins are owed.
  shop.advance(8 * DAY)
  expect((await exchange(inviter, 20)).code).toBe(2000)
  await keeps('33.30')
  await expectEarned(11, 0, 9)
  await keeps('0.01')
  await expectEarned(0, 0, 20)
  // As many as were taken, some of them before the decay.
  await restoresTo('100.00')
  await expectEarned(47, 15)
})

test('money that came back earns again what was taken: once, as pending as before, and another refund takes it again', async () => {
  const { inviter, buyer } = await pair()
  const payment = await pays(buyer.user.id, '30.00')
  const earned = [await balanceOf(inviter.user.id), await balanceOf(buyer.user.id)]
  const now = async () => [await balanceOf(inviter.user.id), await balanceOf(buyer.user.id)]
  expect(earned).toMatchObject([{ coins: 30, pending: 30, levelPoints: 10 }, { levelPoints: 30 }])
  for (let round = 0; round < 3; round++) {
    await refunds(buyer.user.id, payment)
    expect(await now()).toMatchObject([{ coins: 0, pending: 0, levelPoints: 0 }, { levelPoints: 0 }])
    await Promise.all([restores(buyer.user.id, payment), restores(buyer.user.id, payment)])
    expect(await now()).toEqual(earned)
  }
  // Spent coins are owed until the money comes back.
  shop.advance(8 * DAY)
  expect((await exchange(inviter, 25)).code).toBe(2000)
  await refunds(buyer.user.id, payment)
  expect(await balanceOf(inviter.user.id)).toMatchObject({ coins: 0, coinsOwed: 25 })
  await restores(buyer.user.id, payment)
  expect(await balanceOf(inviter.user.id)).toEqual({ coins: 5, coinsOwed: 0, levelPoints: 10, pending: 0 })
})

test('after any history a balance is the sum of its records, and what can be spent is never less than nothing', async () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('pay' as const),
      amount: fc.integer({ min: 0, max: 40 }),
      hold: fc.constantFrom(0, 7)
    }),
    fc.record({ kind: fc.constantFrom('refund' as const, 'restore' as const), which: fc.nat(20) }),
    fc.record({ kind: fc.constant('spend' as const), point: fc.integer({ min: 1, max: 40 }) }),
    fc.record({ kind: fc.constant('take' as const), part: fc.constantFrom(1, 2, 3) }),
    fc.record({ kind: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 8 }) })
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 14 }), async steps => {
      const { inviter, buyer } = await pair()
      const ids = [inviter.user.id, buyer.user.id]
      const paid: string[] = []
      for (const one of steps) {
        if (one.kind === 'pay') paid.push(await pays(buyer.user.id, `${one.amount}.00`, { coins_hold_days: one.hold }))
        if (one.kind === 'refund' && paid.length > 0) await refunds(buyer.user.id, paid[one.which % paid.length] ?? '')
        if (one.kind === 'restore' && paid.length > 0)
          await restores(buyer.user.id, paid[one.which % paid.length] ?? '')
        if (one.kind === 'spend') await exchange(inviter, one.point)
        if (one.kind === 'take') {
          const by = -Math.floor((await balanceOf(inviter.user.id)).coins / one.part)
          await command(shop.ctx, SYSTEM, unit =>
            accountPorts(shop.ctx).changePoints(unit, inviter.user.id, { kind: 'coins', by })
          )
        }
        if (one.kind === 'wait') shop.advance(one.days * DAY)
        for (const id of ids) {
          const { coins, coinsOwed, levelPoints, pending } = await balanceOf(id)
          expect(await sumOf(id, 'coins')).toBe(coins)
          expect(await sumOf(id, 'level')).toBe(levelPoints)
          expect(coins - pending).toBeGreaterThanOrEqual(0)
          expect(coinsOwed).toBeGreaterThanOrEqual(0)
          // Nothing is owed while the balance has coins.
          expect(Math.min(coins, coinsOwed)).toBe(0)
        }
      }
      // Once all is refunded, only the spent coins are left, as a debt.
      for (const payment of paid) await refunds(buyer.user.id, payment)
      const left = await balanceOf(inviter.user.id)
      expect(left).toMatchObject({ levelPoints: 0, pending: 0 })
      const { rows } = await shop.ctx.db.execute<{ spent: string }>(
        sql`select coalesce(-sum(point), 0) as spent from ${pointRecords}
          where user_id = ${inviter.user.id} and reason_code in ('exchange', 'set_by_admin')`
      )
      expect(left.coinsOwed - left.coins).toBe(Number(rows[0]?.spent))
    }),
    runs(10, 500)
  )
}, 120_000)

test('what earned nothing by the settings earns nothing later by other settings', async () => {
  const { inviter, buyer } = await pair()
  const nothing = { billing_rate: 0, invite_rebate_rate: 0, invite_level_points_per_user: 0 }
  const paymentId = await pays(buyer.user.id, '54.00', nothing)
  const earn = () =>
    command(shop.ctx, SYSTEM, unit =>
      grantForPayment(unit, { orderPublicId: 'NL-1', userId: buyer.user.id, amount: '54.00', settings, paymentId })
    )
  const none = { coins: 0, levelPoints: 0 }
  // Judged again, for example after a partly won dispute.
  await earn()
  for (const { user } of [inviter, buyer]) expect(await balanceOf(user.id)).toMatchObject(none)
  // A full refund, which is reversed.
  await refunds(buyer.user.id, paymentId)
  await restoreEarned(buyer.user.id, paymentId)
  await earn()
  expect(await balanceOf(buyer.user.id)).toMatchObject(none)
  expect(await balanceOf(inviter.user.id)).toMatchObject({ coins: 0 })
  // Records of 0 points are in no history.
  const history = await buyer.get<Page<PointRecord>>('/api/rewards/point_record/')
  expect(history.data.data).toEqual([])
})

test('an invitation that the settings gave nothing for is not rewarded by a later payment', async () => {
  const { inviter, buyer } = await pair()
  const first = await pays(buyer.user.id, '10.00', { invite_level_points_per_user: 0 })
  await pays(buyer.user.id, '10.00')
  expect(await balanceOf(inviter.user.id)).toMatchObject({ levelPoints: 0, coins: 20 })
  // After the refund of the first payment, the next one is the first that stands.
  await refunds(buyer.user.id, first)
  await pays(buyer.user.id, '10.00')
  expect(await balanceOf(inviter.user.id)).toMatchObject({ levelPoints: 10 })
})
