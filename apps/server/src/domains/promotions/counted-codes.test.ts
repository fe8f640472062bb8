import type { Coupon, CouponForm } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { z } from 'zod'
import { control } from '../../../../sandbox/src/testing/harness.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { paidOrder, tell } from '../payments/event-outcome.fixture.ts'
import { syncCodesOf } from '../rewards/platform-codes.ts'
import { setCouponUse, markCouponsUsed } from '../rewards/index.ts'
import { coupons } from '../rewards/tables.ts'
import { startPromotions, type Promotions } from './promotions.fixture.ts'
import { newKey } from '../../testing/asking-once.ts'

let world: Promotions
let holder: Awaited<ReturnType<Promotions['shop']['customer']>>
let code: string
let count = 0

beforeAll(async () => {
  world = await startPromotions()
}, 60_000)
beforeEach(async () => {
  await world.shop.ctx.db.execute(sql`truncate coupons, gift_cards`)
  await world.shop.ctx.db.execute(sql`delete from pgboss.job where name like '%platform%'`)
  holder = await world.shop.customer()
  code = `COUNTED-${++count}`
})
afterAll(() => world?.close())

const STRANGER = 'stranger@example.com'

/** A promo code of the holder that exists on the platform. */
async function present(more: Partial<Coupon> = {}): Promise<Coupon> {
  const made = await world.addCoupon({ username: holder.user.username, code, ...more })
  await world.ask('coupon', made.id, 'create')
  await world.codes()
  expect(await world.coupon(made.id)).toMatchObject({ platform_state: 'present' })
  return made
}
const edit = async (id: number, more: Partial<z.input<typeof CouponForm>>) => {
  const form = { username: holder.user.username, code, discount: '5.00', code_type: 1, ...more }
  expect((await world.admin.put(`/api/rewards/coupon_code/${id}/`, form)).code).toBe(2000)
  await world.codes()
  expect(await world.ends()).toEqual([])
  await world.codes()
}
const use = (userId: number, payment: string) =>
  command(world.shop.ctx, SYSTEM, unit => markCouponsUsed(unit, userId, { discount_codes: [{ code }], id: payment }))

test.each([1, 2] as const)('a promo code of type %i counts once', async code_type => {
  const made = await present({ code_type })
  expect(await world.discount(code)).toMatchObject({ usageLimit: 1, oncePerCustomer: true })
  expect(await world.buy(holder.user.email, code)).toEqual([code])
  expect(await world.buy(holder.user.email, code)).toEqual([])
  // A refund before the delivery allows one more use.
  await use(holder.user.id, '1')
  await command(world.shop.ctx, SYSTEM, unit => setCouponUse(unit, '1', false))
  await world.codes()
  expect(await world.coupon(made.id)).toMatchObject({ platform_state: 'present', is_used: false })
  expect(await world.buy(holder.user.email, code)).toEqual([code])
  expect(await world.buy(holder.user.email, code)).toEqual([])
})

test('a promo code whose payment came back counts no more, as often as it goes to and fro', async () => {
  const made = await present()
  expect(await world.buy(holder.user.email, code)).toEqual([code])
  await use(holder.user.id, '1')
  for (let times = 0; times < 2; times++) {
    await command(world.shop.ctx, SYSTEM, unit => setCouponUse(unit, '1', false))
    await world.codes()
    await command(world.shop.ctx, SYSTEM, unit => setCouponUse(unit, '1', true))
    await world.codes()
    expect(await world.ends()).toEqual([])
    expect(await world.coupon(made.id)).toMatchObject({ is_used: true })
    expect(await world.buy(holder.user.email, code)).toEqual([])
  }
  // Another refund allows another use, but judging the order again does not.
  await command(world.shop.ctx, SYSTEM, unit => setCouponUse(unit, '1', false))
  await world.codes()
  await use(holder.user.id, '1')
  expect(await world.ends()).toEqual([])
  expect(await world.buy(holder.user.email, code)).toEqual([])
})

test('an operator who says that a code is used ends it there, and who says that it is not lets it count again', async () => {
  const made = await present()
  await edit(made.id, { is_used: true })
  expect((await world.discount(code))?.endsAt).toEqual(expect.any(String))
  expect(await world.buy(holder.user.email, code)).toEqual([])
  await edit(made.id, { is_used: false })
  expect(await world.coupon(made.id)).toMatchObject({ platform_state: 'present' })
  expect(await world.buy(holder.user.email, code)).toEqual([code])
  // An operator's decision allows another use after an order's.
  await use(holder.user.id, '1')
  await edit(made.id, { is_used: false })
  expect(await world.coupon(made.id)).toMatchObject({ platform_state: 'present', is_used: false })
  expect(await world.buy(holder.user.email, code)).toEqual([code])
  expect(await world.buy(holder.user.email, code)).toEqual([])
  // Under another name the platform counts from zero.
  await use(holder.user.id, '2')
  const other = `${code}-B`
  await edit(made.id, { code: other, is_used: false })
  await world.ask('coupon', made.id, 'create')
  await world.codes()
  expect(await world.discount(other)).toMatchObject({ usageLimit: 1, oncePerCustomer: true })
})

test('a discount that the shop did not make stays, even if an operator marks its code as used', async () => {
  code = 'DIAMOND15'
  const made = await world.addCoupon({ username: holder.user.username, code })
  await edit(made.id, { is_used: true })
  expect((await world.discount(code))?.endsAt ?? null).toBeNull()
})

test('a gift card used on the platform differs in that, and is not sold', async () => {
  const offers = async () => JSON.stringify((await holder.get('/api/rewards/gift_card/base-info/')).data)
  const card = await world.addCard(code)
  await world.ask('gift_card', card.id, 'create')
  await world.codes()
  expect(await offers()).toContain('25.00')
  expect(await world.buy(STRANGER, code)).toEqual([code])
  const used = { platform_state: 'differs', platform_differs: ['used'] }
  for (const act of ['check', 'create'] as const) {
    await world.ask('gift_card', card.id, act)
    // Nor during a new check, once it is known.
    if (act === 'create') expect(await offers()).not.toContain('25.00')
    await world.codes()
    expect(await world.card(card.id)).toMatchObject(used)
    expect(await offers()).not.toContain('25.00')
  }
  // A failed check changes nothing.
  await world.ask('gift_card', card.id, 'check')
  await world.fault('error500')
  expect(await world.codes()).toHaveLength(1)
  await world.fault('none')
  expect(await offers()).not.toContain('25.00')
})

test('a gift card with a discount for other customers is not sold', async () => {
  const other = await world.addCoupon({ username: holder.user.username, code, discount: '25.00' })
  await world.ask('coupon', other.id, 'create')
  await world.codes()
  await control(world.sandbox, 'POST', '/discounts', { ...(await world.discount(code)), tags: [] })
  await world.admin.delete(`/api/rewards/coupon_code/${other.id}/`)
  const card = await world.addCard(code)
  await world.codes()
  expect((await world.card(card.id))?.platform_differs).toEqual(expect.arrayContaining(['holder', 'foreign']))
  expect((await holder.get('/api/rewards/gift_card/base-info/')).data).toEqual([])
  // The shop's own discount is updated to the card when it is sold.
  await control(world.sandbox, 'POST', '/discounts', { ...(await world.discount(code)), tags: ['netlet'] })
  await world.ask('gift_card', card.id, 'check')
  await world.codes()
  expect((await world.card(card.id))?.platform_differs).toEqual(['holder'])
  expect(JSON.stringify((await holder.get('/api/rewards/gift_card/base-info/')).data)).toContain('25.00')
})

test('a paid order that names an unsold gift card takes it off sale at once, until the platform says otherwise', async () => {
  const card = await world.addCard(code)
  await world.ask('gift_card', card.id, 'create')
  await world.codes()
  const paid = { ...paidOrder('nobody-s-order', '10.00'), discount_codes: [{ code: code.toLowerCase() }] }
  const discount_codes = [{ code: code.toLowerCase(), amount: '10.00', type: 'fixed_amount' }]
  expect(await tell(world.shop.ctx, 'orders/paid', { ...paid, discount_codes })).toBe('ignored')
  expect(await world.card(card.id)).toMatchObject({ platform_state: 'differs', platform_differs: ['used'] })
  await world.shop.ctx.db.execute(sql`update users set coins = 100 where id = ${holder.user.id}`)
  expect(await holder.post('/api/rewards/gift_card/exchange/', { mount: '25.00', point: 10 }, newKey())).toMatchObject({
    data: { reason: 'no_gift_card' }
  })
  // The platform has counted no use, so it was another code.
  await world.codes()
  expect(await world.card(card.id)).toMatchObject({ platform_state: 'present', platform_differs: [] })
})

test('a promo code that another’s order used is no longer present, nor used by its holder', async () => {
  const made = await present({ code_type: 2 })
  const other = await world.shop.customer()
  expect(await world.buy(holder.user.email, code)).toEqual([code])
  for (let n = 0; n < 2; n++) {
    await use(other.user.id, '7')
    await world.codes()
    expect(await world.coupon(made.id)).toMatchObject({
      is_used: false,
      platform_state: 'differs',
      platform_differs: ['used']
    })
  }
  // The holder learns nothing about the platform.
  const own = await holder.get<{ data: Coupon[] }>('/api/rewards/coupon_code/')
  expect(own.data.data).toMatchObject([{ platform_state: null, platform_differs: [] }])
  await use(holder.user.id, '8')
  expect(await world.coupon(made.id)).toMatchObject({ is_used: true })
})

test('the unused codes of a holder whose address changes follow, in one job', async () => {
  const made = await present()
  const spent = await present({ code: `${code}-SPENT` })
  await world.shop.ctx.db.update(coupons).set({ isUsed: true }).where(eq(coupons.id, spent.id))
  const email = `moved-${count}@example.com`
  expect((await world.admin.put(`/api/users/u/${holder.user.id}/`, { email })).code).toBe(2000)
  expect(await world.waiting('tag-platform-customer')).toHaveLength(1)
  expect(await world.waiting('holder-platform-codes')).toHaveLength(1)
  expect(await world.work('holder-platform-codes', data => syncCodesOf(world.shop.ctx, data))).toEqual([])
  expect(await world.waiting('platform-code')).toHaveLength(1)
  await world.codes()
  expect(await world.coupon(made.id)).toMatchObject({ platform_state: 'present' })
  const there = await world.discount(code)
  expect(there && (await world.emailsOf(there))).toEqual([email])
  expect(await world.buy(holder.user.email, code)).toEqual([])
  expect(await world.buy(email, code)).toEqual([code])
  // Without a change nothing is enqueued.
  expect((await world.admin.put(`/api/users/u/${holder.user.id}/`, { email })).code).toBe(2000)
  expect(await world.waiting('holder-platform-codes')).toHaveLength(0)
})
