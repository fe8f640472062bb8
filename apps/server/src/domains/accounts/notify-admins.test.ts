import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { mailJobs } from '../mail/index.ts'
import { notifyAdmins } from './index.ts'
import { users } from './tables.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({ routes: () => undefined, jobs: mailJobs })
})
afterAll(() => shop.close())

test('every active administrator is told, and nobody else', async () => {
  const one = await shop.admin()
  const two = await shop.admin()
  const banned = await shop.admin()
  const customer = await shop.customer()
  const { ctx } = shop
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, banned.user.id))
  await command(ctx, SYSTEM, async unit =>
    notifyAdmins(unit, { subject: 'Server down', text: 'fr-1 does not answer.\n\nLook at it.', key: 'down:1' })
  )
  for (const { user } of [one, two]) {
    const [mail] = await shop.outbox.waitFor(user.email)
    expect(mail?.subject).toBe('Server down')
    expect(mail?.html).toContain('>fr-1 does not answer.</p>')
  }
  for (const { user } of [banned, customer]) expect(shop.outbox.mails.some(mail => mail.to === user.email)).toBe(false)
})
