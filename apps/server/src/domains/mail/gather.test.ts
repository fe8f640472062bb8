import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { gatherMail, gatherMailQueue, sendGathered } from './gather.ts'
import { forgetAddress, mailJobs, mailRoutes } from './index.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({
    routes: mailRoutes,
    jobs: mailJobs.filter(({ queue }) => queue.name === 'send-mail'),
    queues: [gatherMailQueue]
  })
})
afterAll(() => shop?.close())

const change = (order_id: string, to = 'buyer@example.com') =>
  command(shop.ctx, SYSTEM, unit =>
    gatherMail(unit, 'run:1', {
      to,
      template: 'order-changed',
      data: { username: 'buyer', order_id, product_name: 'Metro ISP', change: 'password' },
      key: `changed:${order_id}`
    })
  )
/** Lets it look for parts once. */
const look = async () => {
  const { rows } = await shop.ctx.db.execute<{ data: Parameters<typeof sendGathered>[1] }>(
    sql`delete from pgboss.job where name = 'gather-mail' returning data`
  )
  for (const { data } of rows) await sendGathered(shop.ctx, data)
  await shop.drain()
}
const subjects = (to = 'buyer@example.com') =>
  shop.outbox.mails.filter(mail => mail.to === to).map(({ subject }) => subject)

test('orders that change one after the other are in one mail to each customer, which waits for the last', async () => {
  await change('NL-1')
  await change('NL-9', 'other@example.com')
  await look()
  await change('NL-2')
  await look()
  expect(subjects('other@example.com')).toEqual(['New password for your proxies: Metro ISP'])
  expect(subjects()).toEqual([])
  await look()
  expect(subjects()).toEqual(['New password for your proxies: 2 orders'])
  const text = shop.outbox.mails.at(-1)?.text
  expect(text).toContain('NL-1: Metro ISP\nNL-2: Metro ISP')
})

test('a late order gets a mail of its own, and endless ones do not delay it for ever', async () => {
  const before = subjects().length
  for (let at = 0; at < 50; at++) {
    await change(`NL-late${at}`)
    await look()
  }
  expect(subjects()).toHaveLength(before + 1)
  expect(subjects().at(-1)).toBe('New password for your proxies: 40 orders')
})

test('a deleted user gets none', async () => {
  const to = 'gone@example.com'
  await change('NL-3', to)
  await command(shop.ctx, SYSTEM, unit =>
    forgetAddress(unit, {
      username: 'gone',
      email: to,
      since: unit.now,
      namedSince: unit.now,
      names: [],
      addresses: []
    })
  )
  await look()
  await look()
  expect(subjects(to)).toEqual([])
})
