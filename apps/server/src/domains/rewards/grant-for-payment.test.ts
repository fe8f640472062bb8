import type { PointRecord } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import type { Published } from '../../infra/change-feed.ts'
import { command } from '../../infra/command.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { users } from '../accounts/tables.ts'
import { grantForPayment, rewardsRoutes } from './index.ts'
import { rewardsQueues } from './queues.ts'
import { pointRecords } from './tables.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({ routes: rewardsRoutes, queues: rewardsQueues })
})
afterAll(() => shop.close())

const rates = { invite_level_points_per_user: 0, coins_hold_days: 0 }

async function customerWith(balance: { invitedBy?: number } = {}) {
  const customer = await shop.customer()
  if (balance.invitedBy) await shop.ctx.db.update(users).set(balance).where(eq(users.id, customer.user.id))
  return customer
}

async function balanceOf(id: number) {
  const [user] = await shop.ctx.db.select().from(users).where(eq(users.id, id))
  if (!user) throw new Error('no user')
  return { coins: user.coins, levelPoints: user.levelPoints }
}

const historyOf = async (client: TestClient) =>
  (await client.get<{ data: PointRecord[] }>('/api/rewards/point_record/')).data.data

test('a payment earns level points for the buyer and coins for the inviter, once in spite of repeated settlements', async () => {
  const inviter = await customerWith()
  const buyer = await customerWith({ invitedBy: inviter.user.id })
  const payment = {
    orderPublicId: 'NL-12',
    userId: buyer.user.id,
    amount: '57.60',
    settings: { ...rates, billing_rate: 1.5, invite_rebate_rate: 0.05 },
    paymentId: '5012'
  }
  await Promise.all(Array.from({ length: 10 }, () => command(shop.ctx, SYSTEM, unit => grantForPayment(unit, payment))))
  expect(await balanceOf(buyer.user.id)).toEqual({ levelPoints: 86, coins: 0 })
  expect(await balanceOf(inviter.user.id)).toEqual({ levelPoints: 0, coins: 2 })
  await command(shop.ctx, SYSTEM, unit => grantForPayment(unit, { ...payment, paymentId: '5013' }))
  expect(await balanceOf(buyer.user.id)).toMatchObject({ levelPoints: 172 })
  expect((await historyOf(buyer)).map(row => [row.kind, row.point])).toEqual([
    ['level', 86],
    ['level', 86]
  ])
})

test('the payment of a buyer whose inviter was deleted earns the points of the buyer', async () => {
  const inviter = await customerWith()
  const buyer = await customerWith({ invitedBy: inviter.user.id })
  await shop.ctx.db.delete(users).where(eq(users.id, inviter.user.id))
  const payment = {
    orderPublicId: 'NL-13',
    userId: buyer.user.id,
    amount: '57.60',
    settings: { billing_rate: 1, invite_rebate_rate: 1, invite_level_points_per_user: 10, coins_hold_days: 0 },
    paymentId: '5113'
  }
  await command(shop.ctx, SYSTEM, unit => grantForPayment(unit, payment))
  expect(await balanceOf(buyer.user.id)).toEqual({ levelPoints: 57, coins: 0 })
})

test('every balance is the sum of its records', async () => {
  const { db } = shop.ctx
  const buyer = await customerWith()
  const grant = (amount: string, paymentId: string) =>
    command(shop.ctx, SYSTEM, unit =>
      grantForPayment(unit, {
        orderPublicId: 'NL-1',
        userId: buyer.user.id,
        amount,
        settings: { ...rates, billing_rate: 1, invite_rebate_rate: 0 },
        paymentId
      })
    )
  await Promise.all([grant('10.99', 'sum:1'), grant('0.99', 'sum:2'), grant('20.00', 'sum:3')])
  const [total] = await db
    .select({ total: sql<number>`sum(${pointRecords.point})`.mapWith(Number) })
    .from(pointRecords)
    .where(eq(pointRecords.userId, buyer.user.id))
  expect(await balanceOf(buyer.user.id)).toMatchObject({ levelPoints: total?.total })
  expect(total?.total).toBe(30)
})

test('the history says why, as a sentence and as a code with parameters; its user hears of the change', async () => {
  const inviter = await customerWith()
  const buyer = await customerWith({ invitedBy: inviter.user.id })
  const heard: Published[] = []
  const stop = shop.ctx.changes.subscribe(event => heard.push(...(event?.changes ?? [])))
  const payment = {
    orderPublicId: 'ORD-4',
    userId: buyer.user.id,
    amount: '10.00',
    settings: { ...rates, billing_rate: 1, invite_rebate_rate: 1 },
    paymentId: '6001'
  }
  await command(shop.ctx, SYSTEM, unit => grantForPayment(unit, payment))
  expect(await historyOf(buyer)).toMatchObject([
    { reason: 'Payment of order ORD-4', reason_code: 'payment', params: { order: 'ORD-4' }, point: 10 }
  ])
  expect(await historyOf(inviter)).toMatchObject([
    {
      reason: `Payment by ${buyer.user.username} (invited by you)`,
      reason_code: 'invited_payment',
      params: { username: buyer.user.username }
    }
  ])
  const change = ({ user }: typeof buyer) => ({ resource: 'user', id: user.id, userId: user.id })
  await vi.waitFor(() => expect(heard).toEqual(expect.arrayContaining([change(buyer), change(inviter)])), {
    timeout: 30_000
  })
  stop()
})
