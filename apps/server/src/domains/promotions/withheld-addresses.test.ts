import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { control } from '../../../../sandbox/src/testing/harness.ts'
import { writeSettings } from '../settings/index.ts'
import { checkCodes } from './check-codes.ts'
import { compareCustomers, tagCustomer } from './level-tags.ts'
import { startPromotions, type Promotions } from './promotions.fixture.ts'

let world: Promotions
let holder: Awaited<ReturnType<Promotions['shop']['customer']>>

beforeAll(async () => {
  world = await startPromotions()
  holder = await world.shop.customer({ username: 'holder1' })
}, 60_000)
beforeEach(() => world.fault('no_emails', { next: 100 }))
afterEach(() => world.fault('none'))
afterAll(() => world?.close())

const addCoupon = (code: string) => world.addCoupon({ username: holder.user.username, code })
const tagsOf = async () =>
  (await control<{ email: string; tags: string[] }[]>(world.sandbox, 'GET', '/customers')).find(
    one => one.email === holder.user.email.toLowerCase()
  )?.tags

test('without customers’ addresses a promo code is made for its holder, checked, changed and ended', async () => {
  const made = await addCoupon('HELD')
  await world.ask('coupon', made.id, 'create')
  expect(await world.codes()).toEqual([])
  expect(await world.coupon(made.id)).toMatchObject({ platform_state: 'present' })
  const there = await world.discount('HELD')
  expect(there && (await world.emailsOf(there))).toEqual([holder.user.email.toLowerCase()])
  const form = { username: holder.user.username, code: 'HELD', discount: '7.00', code_type: 1 }
  await world.admin.put(`/api/rewards/coupon_code/${made.id}/`, form)
  expect(await world.codes()).toEqual([])
  expect(await world.discount('HELD')).toMatchObject({ value: '7.00' })
  await checkCodes(world.shop.ctx, {})
  expect(await world.coupon(made.id)).toMatchObject({ platform_state: 'present' })
  await world.admin.delete(`/api/rewards/coupon_code/${made.id}/`)
  expect(await world.ends()).toEqual([])
  expect((await world.discount('HELD'))?.endsAt).toEqual(expect.any(String))
})

test('without customers’ addresses a code for another customer still differs in its holder', async () => {
  const made = await addCoupon('MOVED')
  await world.ask('coupon', made.id, 'create')
  await world.codes()
  await world.shop.customer({ username: 'other1' })
  await control(world.sandbox, 'PATCH', '/customers/other1%40example.test', { tags: [] })
  await world.shop.ctx.db.execute(sql`update coupons set holder_id = (select id from users where username = 'other1')`)
  await checkCodes(world.shop.ctx, {})
  expect(await world.coupon(made.id)).toMatchObject({ platform_state: 'differs', platform_differs: ['holder'] })
})

test('without customers’ addresses a change of level is tagged, and the nightly comparison removes no tag', async () => {
  await control(world.sandbox, 'PATCH', `/customers/${encodeURIComponent(holder.user.email)}`, { tags: ['vip'] })
  await world.shop.ctx.db.execute(sql`insert into level_codes (level, point, code, discount) values (1, 100, '', 0)`)
  await world.shop.ctx.db.execute(sql`update users set level_points = 100 where id = ${holder.user.id}`)
  await tagCustomer(world.shop.ctx, { userId: holder.user.id })
  expect(await tagsOf()).toEqual(['vip', 'netlet-level-1'])
  expect(await compareCustomers(world.shop.ctx, {})).toMatchObject({ changed: 0 })
  expect(await tagsOf()).toEqual(['vip', 'netlet-level-1'])
})

/** The platform, which refuses every call that asks for one of these codes. */
async function refusing(...codes: string[]) {
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request)
      const isRefused = codes.some(code => body.includes(`"${code}"`))
      const errors = [{ message: 'Not approved', path: ['code0'], extensions: { code: 'ACCESS_DENIED' } }]
      const headers = {
        'content-type': 'application/json',
        'x-shopify-access-token': String(request.headers['x-shopify-access-token'])
      }
      const answer = isRefused
        ? Response.json({ data: null, errors })
        : await fetch(`${world.sandbox.url}${request.url}`, { method: 'POST', headers, body })
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  await writeSettings(world.shop.ctx, {
    shopify_shop_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  return async () => {
    await writeSettings(world.shop.ctx, { shopify_shop_url: world.sandbox.url })
    server.close()
    server.closeAllConnections()
  }
}

test('codes that cannot be read do not keep others of their page, or other kinds, from being checked', async () => {
  await world.shop.ctx.db.execute(sql`truncate coupons, gift_cards`)
  const [one, bad, last] = [await addCoupon('ONE'), await addCoupon('BAD'), await addCoupon('LAST')]
  const card = await world.addCard('CARD')
  const allow = await refusing('BAD')
  await checkCodes(world.shop.ctx, {})
  await allow()
  expect(await world.coupon(one.id)).toMatchObject({ platform_state: 'missing' })
  expect(await world.coupon(bad.id)).toMatchObject({ platform_state: 'waiting' })
  expect(await world.coupon(last.id)).toMatchObject({ platform_state: 'missing' })
  expect(await world.card(card.id)).toMatchObject({ platform_state: 'missing' })
})

test('where no code of a kind can be read, the next kind is checked', async () => {
  await world.shop.ctx.db.execute(sql`truncate coupons, gift_cards`)
  for (const code of ['A1', 'A2', 'A3']) await addCoupon(code)
  const card = await world.addCard('CARD-2')
  const allow = await refusing('A1', 'A2')
  await checkCodes(world.shop.ctx, {}, { page: 2, pages: 2 })
  await allow()
  expect(await world.card(card.id)).toMatchObject({ platform_state: 'missing' })
})
