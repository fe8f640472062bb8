import { Settings } from '@netlet/contract'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { grantForPayment, lockEarners } from '../rewards/index.ts'
import { accountRoutesWithPorts } from './accounts.fixture.ts'
import { users } from './tables.ts'

let shop: TestShop
beforeAll(async () => {
  shop = await startTestShop({ routes: accountRoutesWithPorts })
})
afterAll(() => shop.close())

const waitUntilBlocked = () =>
  expect
    .poll(
      async () => {
        const { rows } = await shop.ctx.db.execute(sql`select 1 from pg_locks l join pg_stat_activity a using (pid)
          where not l.granted and a.datname = current_database()`)
        return rows.length
      },
      { timeout: 30_000 }
    )
    .toBeGreaterThan(0)

/**
 * While somebody holds the user with the lower id, as the decay of level points does on its way up, `work` waits for it. The
 * one with the higher id must be free meanwhile, or the two would wait for each other.
 */
async function takesTheLowerFirst([low, high]: [number, number], work: () => Promise<unknown>): Promise<void> {
  expect(low).toBeLessThan(high)
  let waiting: Promise<unknown> | undefined
  try {
    await shop.ctx.db.transaction(async tx => {
      await tx.execute(sql`select 1 from users where id = ${low} for no key update`)
      waiting = work()
      await waitUntilBlocked()
      await tx.execute(sql`select 1 from users where id = ${high} for no key update nowait`)
    })
  } finally {
    await waiting
  }
}

const invite = async (inviter: { id: number }, invited: { id: number }) => {
  await shop.ctx.db.update(users).set({ invitedBy: inviter.id }).where(eq(users.id, invited.id))
}
const earn = (userId: number) =>
  command(shop.ctx, SYSTEM, async unit => {
    await lockEarners(unit.tx, userId)
    const settings = Settings.parse({})
    await grantForPayment(unit, {
      orderPublicId: 'NL-1',
      userId,
      amount: '10.00',
      settings,
      paymentId: `of ${userId}`
    })
  })

test('a payment locks the inviter before the buyer, where the inviter came first', async () => {
  const [inviter, buyer] = [(await shop.customer()).user, (await shop.customer()).user]
  await invite(inviter, buyer)
  await takesTheLowerFirst([inviter.id, buyer.id], () => earn(buyer.id))
})

test('a payment locks the buyer before the inviter, where the buyer came first', async () => {
  const [buyer, inviter] = [(await shop.customer()).user, (await shop.customer()).user]
  await invite(inviter, buyer)
  await takesTheLowerFirst([buyer.id, inviter.id], () => earn(buyer.id))
})

test('who is banned, edited or deleted is locked by its id, among the administrators', async () => {
  const [first, second, third] = [
    (await shop.customer()).user,
    (await shop.customer()).user,
    (await shop.customer()).user
  ]
  const admin = await shop.admin()
  const U = '/api/users/u'
  await takesTheLowerFirst([first.id, admin.user.id], () => admin.post(`${U}/${first.id}/baned_user/`))
  await takesTheLowerFirst([second.id, admin.user.id], () => admin.put(`${U}/${second.id}/`, { username: 'renamed' }))
  await takesTheLowerFirst([third.id, admin.user.id], () => admin.delete(`${U}/${third.id}/`))
  const left = await shop.ctx.db.select({ name: users.username, active: users.isActive }).from(users)
  expect(left).toContainEqual({ name: first.username, active: false })
  expect(left).toContainEqual({ name: 'renamed', active: true })
  expect(left.map(({ name }) => name)).not.toContain(third.username)
})
