import { sql } from '../../../infra/db/drizzle.ts'
import { expect } from 'vitest'
import { DAY } from '../../../infra/clock.ts'
import { expectAll } from './invariants.fixture.ts'
import { isServed, OF_SERVER, type Model, type Real } from './model.fixture.ts'
import { refund } from './steps-of-money.fixture.ts'
import { confirmServer } from './steps-of-orders.fixture.ts'
import { answer, moveTo, rescueNow, resume, takeServerBack } from './steps-of-servers.fixture.ts'
import { endGracesNow, endRest, expireNow, timeOutNow } from './steps-of-time.fixture.ts'

/** Ends all orders of a run in every way that orders end, and expects that nothing is held any more. */
export async function endRun(model: Model, real: Real): Promise<void> {
  for (const [nth, server] of model.servers.entries()) {
    if (server.status === 'given_up') await takeServerBack(server, model, real)
    await answer(nth).run(model, real)
    await resume(nth).run(model, real)
  }
  const confirmAll = async () => {
    // The rounds confirm new addresses first, then the old ones that they replace.
    for (let round = 0; round < 3; round++) {
      for (const nth of model.servers.keys()) await confirmServer(nth, model, real)
    }
  }
  await confirmAll()
  await rescueNow(model, real)
  await confirmAll()
  await expectAll(model, real)
  // Refunds every other order, and those that could not be delivered. The others expire.
  for (const [at, order] of model.orders.entries()) {
    const purchase = order.purchase
    const ends = order.state === 'delivered' && at % 2 === 0
    if (!purchase || purchase.refunded || ends || order.state === 'expired') continue
    await refund(model.payments.length - 1 - model.payments.indexOf(purchase), 'whole').run(model, real)
  }
  const last = Math.max(model.now, ...model.orders.filter(isServed).map(({ expiredAt }) => expiredAt ?? 0))
  await moveTo(last + DAY, model, real)
  await timeOutNow(model, real)
  await expireNow(model, real)
  await confirmAll()
  await moveTo(model.now + 2 * DAY, model, real)
  await endGracesNow(model, real)
  await confirmAll()
  await endRest().run(model, real)

  const { db } = real.world.shop.ctx
  for (const rule of real.world.rules) expect(await real.world.stock([rule])).toBe(OF_SERVER * model.servers.length)
  const { rows } = await db.execute(sql`select
    (select count(*) from leases where state <> 'released') as leases,
    (select count(*) from agent_users) as users,
    (select count(*) from proxies where state <> 'retired') as proxies`)
  expect(rows).toEqual([{ leases: 0, users: 0, proxies: 0 }])
}
