import { asc, eq, isNull, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { paidEvent } from '../../testing/buying.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { allQueues } from '../../workers.ts'
import { eventHandlers } from '../../event-handlers.ts'
import { MINUTE } from '../../infra/clock.ts'
import { notices } from '../notices/tables.ts'
import { watchNotices } from '../notices/watch.ts'
import { storeEvent } from './events.ts'
import { handleEvent } from './handle-event.ts'
import { commerceFinders } from './jobs.ts'
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
const noticesAbout = async (eventId: string) => {
  const { rows } = await shop.ctx.db.execute(
    sql`select 1 from pgboss.job where name = 'raise-notice' and data ->> 'key' = ${`payment:${eventId}`}`
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
    needsResolution: true,
    detail: { reason: 'a fault of ours' },
    processedAt: expect.any(Date)
  })
  expect(await noticesAbout('fails')).toBe(1)
})

test('values that our columns do not hold end it at once', async () => {
  await store('too large')
  await handle('too large', async ({ tx }) => {
    await tx.execute(sql`select '9999999999999.00'::numeric(14, 2)`)
    return { outcome: 'settled' }
  })
  expect(await eventOf('too large')).toMatchObject({ outcome: 'unreadable', needsResolution: true })
})

test('a database whose structure is another version’s, or that is broken, is no fault of the event: it waits, and is handled then', async () => {
  await store('migrated')
  const other = () =>
    handle('migrated', async ({ tx }) => {
      await tx.execute(sql`select no_such_column from platform_events`)
      return { outcome: 'settled' }
    })
  for (let n = 0; n < 6; n++) await expect(other()).rejects.toMatchObject({ cause: { code: '42703' } })
  for (const code of ['42P01', '53100', '55P03', '57014', '58030', 'XX000']) {
    const error = Object.assign(new Error(code), { code })
    for (let n = 0; n < 6; n++) await expect(handle('migrated', () => Promise.reject(error))).rejects.toThrow(code)
  }
  expect(await eventOf('migrated')).toMatchObject({ processedAt: null, failures: 0 })
  await handle('migrated', () => Promise.resolve({ outcome: 'settled' }))
  expect(await eventOf('migrated')).toMatchObject({ outcome: 'settled' })
})

test('a database that is away for a moment is no fault of the event', async () => {
  await store('later')
  const away = Object.assign(new Error('read-only'), { code: '25006' })
  for (let n = 0; n < 6; n++) await expect(handle('later', () => Promise.reject(away))).rejects.toThrow('read-only')
  expect(await eventOf('later')).toMatchObject({ processedAt: null, failures: 0 })
})

test('operators are told once of events that wait for more than an hour, of another cause again, and again after all were handled', async () => {
  const { ctx } = shop
  await ctx.db.execute(sql`update platform_events set processed_at = now() where processed_at is null`)
  const told = async () =>
    (await ctx.db.select().from(notices).orderBy(asc(notices.id))).map(({ params }) => params['reason'])
  const finders = commerceFinders.filter(({ cause }) => cause === 'late_events')
  const watch = (minutes: number) =>
    watchNotices({ ...ctx, now: () => new Date(ctx.now().getTime() + minutes * MINUTE) }, finders, { all: true })
  const fail = (query: string) =>
    expect(
      handle('stuck', async ({ tx }) => {
        await tx.execute(sql.raw(query))
        return { outcome: 'settled' }
      })
    ).rejects.toThrow()
  await store('stuck')
  await fail('select no_such_column from platform_events')
  await watch(59)
  expect(await told()).toEqual([])
  const first = 'column "no_such_column" does not exist'
  for (let n = 0; n < 3; n++) await watch(61 + n)
  expect(await told()).toEqual([first])

  await fail('select 1 from no_such_table')
  for (let n = 0; n < 3; n++) await watch(70 + n)
  const second = 'relation "no_such_table" does not exist'
  expect(await told()).toEqual([first, second])

  await handle('stuck', () => Promise.resolve({ outcome: 'settled' }))
  await watch(80)
  expect(await ctx.db.$count(notices, isNull(notices.closedAt))).toBe(0)
  await store('stuck again')
  await watch(200)
  expect(await told()).toEqual([first, second, '–'])
})
