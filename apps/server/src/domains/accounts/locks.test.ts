import { Settings } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { startTestShop } from '../../testing/shop.ts'
import { grantForPayment, lockEarners } from '../rewards/index.ts'
import { accountRoutesWithPorts } from './accounts.fixture.ts'
import { users } from './tables.ts'
import { useStarted } from '../../testing/use-started.ts'
import { meanwhile } from '../../testing/one-connection.ts'
import { pointRecords } from '../rewards/tables.ts'

const shop = useStarted(() => startTestShop({ routes: accountRoutesWithPorts }))

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
 * Another transaction holds the user with the lower id, as the decay of level points does on its way up. `work` must
 * wait for it without holding the higher id, or the two would deadlock.
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
    await grantForPayment(unit, { orderPublicId: 'NL-1', userId, amount: '10.00', settings, paymentId: `of ${userId}` })
  })

test('a payment locks the inviter before the buyer if the inviter has the lower id', async () => {
  const [inviter, buyer] = [(await shop.customer()).user, (await shop.customer()).user]
  await invite(inviter, buyer)
  await takesTheLowerFirst([inviter.id, buyer.id], () => earn(buyer.id))
})

test('a payment locks the buyer before the inviter if the buyer has the lower id', async () => {
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

const admin = useStarted(() => shop.admin())

const deadlocks = async () => {
  const { rows } = await shop.ctx.db.execute<{ count: number }>(
    sql`select deadlocks as count from pg_stat_database where datname = current_database()`
  )
  return rows[0]?.count ?? 0
}

test('a ban that deadlocks with what a payment earns succeeds, and so does the payment', async () => {
  const { ctx } = shop
  // Everything locks users by id. A transaction that takes the buyer first, against that order, still reverts nothing.
  const buyer = await shop.admin()
  await ctx.db.update(users).set({ invitedBy: admin.user.id }).where(eq(users.id, buyer.user.id))
  const before = await deadlocks()
  let runs = 0
  const removing = Promise.withResolvers<{ code: number }>()
  const settled = command(ctx, SYSTEM, async unit => {
    runs += 1
    await unit.tx.execute(sql`select 1 from users where id = ${buyer.user.id} for update`)
    if (runs === 1) {
      void admin.post<null>(`/api/users/u/${buyer.user.id}/baned_user/`).then(removing.resolve, removing.reject)
      // It holds the other administrator and waits for the buyer, whom we hold.
      await meanwhile(waitUntilBlocked)
    }
    await grantForPayment(unit, {
      orderPublicId: 'NL-2',
      userId: buyer.user.id,
      amount: '100.00',
      settings: Settings.parse({}),
      paymentId: 'against the order'
    })
  })
  await settled
  expect(await removing.promise).toMatchObject({ code: 2000 })
  await expect.poll(deadlocks).toBeGreaterThan(before)
  const granted = await ctx.db
    .select()
    .from(pointRecords)
    .where(sql`${pointRecords.cause} like 'payment:against the order:%'`)
  expect(Object.fromEntries(granted.map(({ kind, point }) => [kind, point]))).toEqual({ coins: 5, level: 100 })
  expect(granted).toHaveLength(2)
})
