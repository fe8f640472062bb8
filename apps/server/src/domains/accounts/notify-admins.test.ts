import { eq } from '../../infra/db/drizzle.ts'
import { expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { startTestShop } from '../../testing/shop.ts'
import { mailJobs } from '../mail/index.ts'
import { noticeJobs } from '../notices/index.ts'
import { useStarted } from '../../testing/use-started.ts'
import { notifyAdmins, readOperators } from './index.ts'
import { users } from './tables.ts'

const ports = { finders: [], operators: readOperators, ownsAddresses: async () => false }
const shop = useStarted(() => startTestShop({ routes: () => undefined, jobs: [...mailJobs, ...noticeJobs(ports)] }))

test('by default every active administrator gets notices by mail, and no other user', async () => {
  const one = await shop.admin()
  const two = await shop.admin()
  const banned = await shop.admin()
  const customer = await shop.customer()
  const { ctx } = shop
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, banned.user.id))
  await command(ctx, SYSTEM, async unit =>
    notifyAdmins(unit, { words: 'orders_lost', params: { server: 'fr-1' }, key: 'down:1' })
  )
  for (const { user } of [one, two]) {
    const [mail] = await shop.outbox.waitFor(user.email)
    expect(mail?.subject).toBe('[Warning] Orders lost addresses with server fr-1')
    expect(mail?.html).toContain('>Server fr-1 was given up, and some of its orders')
  }
  for (const { user } of [banned, customer]) expect(shop.outbox.mails.some(mail => mail.to === user.email)).toBe(false)
})
