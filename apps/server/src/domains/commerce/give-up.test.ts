import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { paidEvent } from '../../testing/buying.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { allQueues, eventHandlers } from '../../workers.ts'
import { storeEvent } from './events.ts'
import { handleEvent } from './handle-event.ts'
import { platformEvents } from './tables.ts'
import type { EventHandlers } from './topics.ts'

let shop: TestShop
beforeAll(async () => {
  shop = await startTestShop({ routes: () => {}, queues: allQueues })
})
afterAll(() => shop?.close())

const store = (eventId: string) =>
  command(shop.ctx, SYSTEM, unit =>
    storeEvent(unit, { eventId, topic: 'orders/paid', payload: paidEvent({ publicId: 'NL-1', amount: '4.00' }) })
  )
const handle = (eventId: string, settle: EventHandlers['orders/paid']) =>
  handleEvent(shop.ctx, { ...eventHandlers, 'orders/paid': settle }, eventId)
const eventOf = async (eventId: string) => {
  const [event] = await shop.ctx.db.select().from(platformEvents).where(eq(platformEvents.eventId, eventId))
  return event
}
const mailsAbout = async (eventId: string) => {
  const { rows } = await shop.ctx.db.execute(
    sql`select 1 from pgboss.job where name = 'send-mail' and data ->> 'key' like ${`%payment:${eventId}%`}`
  )
  return rows.length
}

test('an event whose handling fails each time ends as unreadable and waits for an administrator', async () => {
  await shop.admin({ username: 'boss' })
  await store('fails')
  const fail = () => handle('fails', () => Promise.reject(new Error('a fault of ours')))
  for (let n = 0; n < 4; n++) await expect(fail()).rejects.toThrow('a fault of ours')
  expect(await eventOf('fails')).toMatchObject({ processedAt: null, failures: 4 })
  await fail()
  expect(await eventOf('fails')).toMatchObject({
    outcome: 'unreadable',
    needsHand: true,
    detail: { reason: 'a fault of ours' },
    processedAt: expect.any(Date)
  })
  expect(await mailsAbout('fails')).toBe(1)
})

test('values that our columns do not hold end it at once', async () => {
  await store('too large')
  await handle('too large', async ({ tx }) => {
    await tx.execute(sql`select '9999999999999.00'::numeric(14, 2)`)
    return { outcome: 'settled' }
  })
  expect(await eventOf('too large')).toMatchObject({ outcome: 'unreadable', needsHand: true })
})

test('a database that is away for a moment is no fault of the event', async () => {
  await store('later')
  const away = Object.assign(new Error('read-only'), { code: '25006' })
  for (let n = 0; n < 6; n++) await expect(handle('later', () => Promise.reject(away))).rejects.toThrow('read-only')
  expect(await eventOf('later')).toMatchObject({ processedAt: null, failures: 0 })
})
