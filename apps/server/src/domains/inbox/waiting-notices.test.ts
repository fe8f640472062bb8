import type { InboxEntry } from '@netlet/contract'
import { asc, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import type { NoticeFinder } from '../notices/index.ts'
import { notices } from '../notices/tables.ts'
import { watchNotices } from '../notices/watch.ts'
import { paymentFinders } from './index.ts'
import { startOrderShop, type Buyer, type OrderShop } from '../payments/order-shop.fixture.ts'
import { TOO_LITTLE, paidOrder } from '../payments/event-outcome.fixture.ts'
import { tell } from '../payments/event-row.fixture.ts'
import { openRaisedNotice } from '../notices/jobs.ts'

let world: OrderShop
let buyer: Buyer
let boss: Buyer
/** Starts at a full hour, because notices group payments by clock hour. */
let time = Date.parse('2026-05-15T12:00:00Z')

beforeAll(async () => {
  world = await startOrderShop({ ranges: ['127.95.0.0/24'], now: () => new Date(time) })
  buyer = await world.customer('buyer1')
  boss = await world.admin('boss1')
}, 120_000)
afterAll(() => world?.close())
beforeEach(async () => {
  time += HOUR
  const { db } = world.shop.ctx
  await db.execute(sql`delete from platform_events`)
  await db.delete(notices)
})

/** A payment that settles nothing. @returns its id in the inbox */
const payCents = async () => (await tell(world, 'orders/paid', cents((await world.place(buyer)).publicId))).id
const cents = (publicId: string) => paidOrder(publicId, '0.01', { lines: TOO_LITTLE })
const ofStranger = async () => (await tell(world, 'orders/paid', paidOrder('NL-nobody', '5.00'))).id

/** Runs each job that raises a notice, twice. */
async function raise() {
  const { ctx } = world.shop
  const { rows } = await ctx.db.execute<{ data: Parameters<typeof openRaisedNotice>[1] }>(
    sql`delete from pgboss.job where name = 'raise-notice' returning data`
  )
  for (const { data } of [...rows, ...rows]) await openRaisedNotice(ctx, data)
}

const watch = async () => {
  time += MINUTE
  await watchNotices(world.shop.ctx, paymentFinders)
}

/** The payment that each notice names, oldest notice first, and whether the notice is open. */
async function told(): Promise<[id: number, isOpen: boolean][]> {
  const { db } = world.shop.ctx
  const rows = await db.select().from(notices).orderBy(asc(notices.id))
  const { rows: events } = await db.execute<{ event_id: string; id: string }>(
    sql`select event_id, id from platform_events`
  )
  const idOf = new Map(events.map(({ event_id, id }) => [event_id, Number(id)]))
  return rows.map(({ subject, closedAt }) => [idOf.get(subject) ?? 0, closedAt === null])
}

async function decide(id: number) {
  const { entry } = (await boss.get<{ entry: InboxEntry }>(`/api/payments/inbox/${id}/`)).data
  const note = { version: entry.version, note: 'by hand' }
  expect(await boss.post(`/api/payments/inbox/${id}/refunded/`, note)).toMatchObject({ code: 2000 })
}

test('the notice of a customer’s payments of an hour lasts until the last one was decided', async () => {
  const [first, second] = [await payCents(), await payCents()]
  await raise()
  await watch()
  expect(await told()).toEqual([[first, true]])
  await decide(first)
  await watch()
  expect(await told()).toEqual([[first, true]])
  await decide(second)
  await watch()
  expect(await told()).toEqual([[first, false]])
})

test('a payment that comes after the notice of its hour ended raises one notice, even if searches overlap', async () => {
  const first = await payCents()
  await raise()
  await decide(first)
  await watch()
  const second = await payCents()
  const { ctx } = world.shop
  await Promise.all([raise(), watchNotices(ctx, paymentFinders), watchNotices(ctx, paymentFinders)])
  const third = await payCents()
  await raise()
  await watch()
  expect(await told()).toEqual([
    [first, false],
    [second, true]
  ])
  const [, open] = await ctx.db.select().from(notices).orderBy(asc(notices.id))
  expect(open).toMatchObject({ cause: 'payment', words: 'payments', params: { order: expect.any(String) as string } })
  await decide(second)
  await watch()
  expect((await told()).at(-1)).toEqual([second, true])
  await decide(third)
  await watch()
  expect((await told()).at(-1)).toEqual([second, false])
})

test('a payment that a search found before its job ran is told once', async () => {
  const first = await payCents()
  await watch()
  await raise()
  await watch()
  expect(await told()).toEqual([[first, true]])
})

test('payments of another hour, and those of strangers, have a notice each, which ends with its own', async () => {
  const first = await payCents()
  time += HOUR
  const later = await payCents()
  const strangers = [await ofStranger(), await ofStranger()]
  await raise()
  await watch()
  const all = [first, later, ...strangers]
  const isOpen = async () => Object.fromEntries(await told())
  expect(await isOpen()).toEqual(Object.fromEntries(all.map(id => [id, true])))
  for (const [at, id] of all.entries()) {
    await decide(id)
    await watch()
    expect(await isOpen()).toEqual(Object.fromEntries(all.map((one, n) => [one, n > at])))
  }
})

test('more payments than one search finds all raise notices, and none counts as decided', async () => {
  const { ctx } = world.shop
  await ctx.db.execute(sql`insert into platform_events
      (received_at, event_id, topic, payload, processed_at, needs_hand, outcome, detail, order_public_id)
    select now(), 'many ' || n, 'orders/paid', '{}', ${new Date(time).toISOString()}::timestamptz - n * interval '1 hour', true,
      'lines_missing', '{}', ${(await world.place(buyer)).publicId} from generate_series(1, 120) n`)
  for (const count of [50, 100, 120, 120]) {
    await watch()
    const rows = await told()
    expect([rows.length, rows.every(([, isOpen]) => isOpen)]).toEqual([count, true])
  }
  await ctx.db.execute(sql`update platform_events set resolution = 'ignored' where event_id = 'many 1'`)
  await watch()
  expect((await told()).filter(([, isOpen]) => !isOpen)).toHaveLength(1)
})

test('a notice that is written while a search runs is not ended by it', async () => {
  const stranger = await ofStranger()
  const [finder] = paymentFinders
  if (!finder) throw new Error('nobody searches for payments')
  const { ctx } = world.shop
  const slow: NoticeFinder = {
    ...finder,
    async find(asked, search) {
      const found = await finder.find(asked, search)
      // The job began before the search, and writes its notice while the search runs.
      time -= MINUTE
      await raise()
      time += MINUTE
      return found
    }
  }
  await watchNotices(ctx, [slow])
  expect(await told()).toEqual([[stranger, true]])
  await decide(stranger)
  await watch()
  expect(await told()).toEqual([[stranger, false]])
})
