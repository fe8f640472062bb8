import type { PointRecord } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY } from '../../infra/clock.ts'
import { startBooks, type Books } from '../payments/books.fixture.ts'
import { users } from './tables.ts'
import { editNow } from '../../testing/asking-once.ts'

let b: Books

beforeAll(async () => {
  b = await startBooks()
}, 60_000)
afterAll(() => b?.world.close())

const reasons = async () =>
  (await b.inviter.get<{ data: PointRecord[] }>('/api/rewards/point_record/?limit=100')).data.data.map(
    row => row.reason
  )

test('a deleted user’s name leaves the inviter’s earnings, and the next user of that name stays in them', async () => {
  const rename = async (id: number, username: string) =>
    expect((await b.admin.put(`/api/users/u/${id}/`, { username })).code).toBe(2000)
  const pay = async (by: typeof b.buyer) => {
    const placed = await b.world.place(by)
    const paid = b.paymentFor(placed)
    expect(await b.tell('orders/paid', paid)).toBe('settled')
    return paid
  }
  // Paid under the old name, then refunded.
  const paid = await pay(b.buyer)
  await b.world.confirm()
  await b.world.advance(8 * DAY)
  const { coins = 0 } = (await b.books()) ?? {}
  const spent = await editNow(b.admin, b.inviter.user.id, { reward_points_change: -coins })
  expect(spent.code).toBe(2000)
  await rename(b.buyer.user.id, 'another')
  const next = await b.world.customer('heir')
  await rename(next.user.id, 'buyer')
  await b.db().update(users).set({ invitedBy: b.inviter.user.id }).where(eq(users.id, next.user.id))
  await pay(next)
  await b.world.confirm()
  // Its own coins are spent, so coins of the next payment are taken.
  expect(await b.refund(paid, '20.00')).toBe('refunded')
  await b.world.endAll()
  const before = await reasons()
  expect(before.filter(reason => reason.includes('buyer'))).toHaveLength(6)

  expect((await b.admin.delete(`/api/users/u/${b.buyer.user.id}/`)).code).toBe(2000)
  const deleted = `deleted-${b.buyer.user.id}`
  const after = await reasons()
  expect(after).toHaveLength(before.length)
  expect(after.filter(reason => reason.includes(deleted)).toSorted()).toEqual([
    `Invited ${deleted}`,
    `Payment by ${deleted} (invited by you)`,
    `Refund to ${deleted} (invited by you)`,
    `Refund to ${deleted} (invited by you)`
  ])
  expect(after.filter(reason => reason.includes('buyer')).toSorted()).toEqual([
    'Invited buyer',
    'Payment by buyer (invited by you)'
  ])
})
