import type { CodeDifference, CodeState, Coupon, GiftCard, LevelCode, Page } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { control } from '../../../../sandbox/src/testing/harness.ts'
import { setCouponUse, seedLevelCodes, markCouponsUsed } from '../rewards/index.ts'
import { coupons, giftCards } from '../rewards/tables.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { writeSettings } from '../settings/index.ts'
import { checkCodes } from './check-codes.ts'
import { checkCodeOnPlatform } from './check-code.ts'
import { startPromotions, type Promotions } from './promotions.fixture.ts'
import { addRows } from '../../testing/rows.ts'
import { raisedNotices } from '../../testing/raised-notices.ts'
import { newKey } from '../../testing/asking-once.ts'

let world: Promotions
let holder: Awaited<ReturnType<Promotions['shop']['customer']>>
let count = 0

beforeAll(async () => {
  world = await startPromotions()
  await seedLevelCodes(world.shop.ctx)
  holder = await world.shop.customer({ username: 'holder1' })
}, 60_000)
beforeEach(async () => {
  await world.fault('none')
  await world.shop.ctx.db.execute(sql`truncate coupons, gift_cards`)
  await world.shop.ctx.db.execute(sql`delete from pgboss.job where name like '%platform%'`)
  count++
})
afterAll(() => world?.close())

async function addCoupon(more: Partial<Coupon> = {}): Promise<Coupon> {
  const form = { username: holder.user.username, code: `PROMO-${count}`, discount: '5.00', code_type: 1, ...more }
  const made = await world.admin.post<Coupon>('/api/rewards/coupon_code/', form)
  if (made.code !== 2000) throw new Error(made.msg)
  return made.data
}
async function addCard(more: object = {}): Promise<GiftCard> {
  const made = await world.admin.post<GiftCard>('/api/rewards/gift_card/', {
    mount: '25.00',
    code: `GIFT-${count}`,
    point: 10,
    ...more
  })
  if (made.code !== 2000) throw new Error(made.msg)
  return made.data
}

test('a code that is added here is looked for there, and the list tells which are missing', async () => {
  const made = await addCoupon()
  expect(made.platform_state).toBe('waiting')
  await world.codes()
  expect(await world.coupon(made.id)).toMatchObject({
    platform_state: 'missing',
    platform_checked_at: expect.any(String)
  })
  const missing = await world.admin.get<Page<Coupon>>('/api/rewards/coupon_code/?platform_state=missing')
  expect(missing.data.data.map(one => one.id)).toEqual([made.id])
  expect((await world.admin.get<Page<Coupon>>('/api/rewards/coupon_code/?platform_state=present')).data.total).toBe(0)
  // The holder learns nothing from the row or the filter.
  const own = await holder.get<Page<Coupon>>('/api/rewards/coupon_code/?platform_state=present')
  expect(own.data.data).toMatchObject([{ id: made.id, platform_state: null, platform_problem: null }])
})

test('it is created there for its holder alone, and a second time changes nothing', async () => {
  const made = await addCoupon({ discount: '12.50', discount_type: 'percent' })
  for (let n = 0; n < 2; n++) {
    expect((await world.ask('coupon', made.id, 'create')).data).toEqual({ status: 'queued' })
    await world.codes()
    expect(await world.coupon(made.id)).toMatchObject({ platform_state: 'present', platform_problem: null })
  }
  const there = await world.discount(made.code)
  expect(there).toMatchObject({ type: 'percentage', value: '12.5', usageLimit: 1, oncePerCustomer: true })
  expect(there && (await world.emailsOf(there))).toEqual([holder.user.email.toLowerCase()])
})

test('a gift counts once, for its holder; after a payment that was given back once more', async () => {
  const made = await addCoupon({ code_type: 2 })
  await world.ask('coupon', made.id, 'create')
  await world.codes()
  expect(await world.discount(made.code)).toMatchObject({ usageLimit: 1, oncePerCustomer: true })
  const { ctx } = world.shop
  await command(ctx, SYSTEM, unit => markCouponsUsed(unit, holder.user.id, { discount_codes: [made], id: '901' }))
  expect(await world.coupon(made.id)).toMatchObject({ is_used: true })
  expect(await world.ask('coupon', made.id, 'check')).toMatchObject({ code: 409, data: { reason: 'code_used' } })
  for (let n = 0; n < 2; n++) await command(ctx, SYSTEM, unit => setCouponUse(unit, '901', false))
  await world.codes()
  expect(await world.discount(made.code)).toMatchObject({ usageLimit: 2, oncePerCustomer: false })
  expect(await world.coupon(made.id)).toMatchObject({ is_used: false, platform_state: 'present' })
})

test('a gift card that is exchanged becomes its new holder’s on the platform too', async () => {
  const card = await addCard()
  await world.ask('gift_card', card.id, 'create')
  await world.codes()
  expect(await world.card(card.id)).toMatchObject({ platform_state: 'present' })
  expect(await world.discount(card.code)).toMatchObject({ usageLimit: 1, oncePerCustomer: true, customers: null })
  await world.shop.ctx.db.execute(sql`update users set coins = 100 where id = ${holder.user.id}`)
  expect((await holder.post('/api/rewards/gift_card/exchange/', { mount: '25.00', point: 10 }, newKey())).code).toBe(
    2000
  )
  await world.codes()
  const [coupon] = await world.shop.ctx.db.select().from(coupons).where(eq(coupons.code, card.code))
  expect(await world.coupon(coupon?.id ?? 0)).toMatchObject({ platform_state: 'present', code_type: 2 })
  const there = await world.discount(card.code)
  expect(there && (await world.emailsOf(there))).toEqual([holder.user.email.toLowerCase()])
  expect(await world.ask('gift_card', card.id, 'create')).toMatchObject({ data: { reason: 'code_used' } })
})

test('a gift card that the platform does not have is created with its exchange; one that it refused is not offered', async () => {
  const offers = async () => (await holder.get<{ mount: string }[]>('/api/rewards/gift_card/base-info/')).data
  const refused = await addCard({ mount: '31.00', code: 'REFUSED-31' })
  const other = await addCard({ mount: '31.00', code: 'OTHER-31' })
  await world.codes()
  const set = (id: number, platformState: CodeState, platformDiffers: CodeDifference[] = []) =>
    world.shop.ctx.db.update(giftCards).set({ platformState, platformDiffers }).where(eq(giftCards.id, id))
  await set(refused.id, 'refused')
  await set(other.id, 'differs', ['value'])
  expect(JSON.stringify(await offers())).not.toContain('31.00')
  await set(other.id, 'missing')
  expect(JSON.stringify(await offers())).toContain('31.00')
  await world.shop.ctx.db.execute(sql`update users set coins = 100 where id = ${holder.user.id}`)
  const exchanged = await holder.post<{ code: string }>(
    '/api/rewards/gift_card/exchange/',
    {
      mount: '31.00',
      point: 10
    },
    newKey()
  )
  expect(exchanged.data.code).toBe(other.code)
  await world.codes()
  const [coupon] = await world.shop.ctx.db.select().from(coupons).where(eq(coupons.code, other.code))
  expect(await world.coupon(coupon?.id ?? 0)).toMatchObject({ platform_state: 'present' })
  expect(await world.discount(other.code)).toMatchObject({ value: '31.00', usageLimit: 1 })
})

test.for([
  { the: 'refuses it', email: 'no-address', ours: true, state: 'refused' },
  { the: 'has another discount under it', email: null, ours: false, state: 'differs' }
])('operators hear once of a code that was bought with coins if the platform $the', async ({ email, ours, state }) => {
  const { ctx } = world.shop
  const card = await addCard({ mount: '41.00' })
  await world.codes()
  if (!ours)
    await control(world.sandbox, 'POST', '/discounts', { code: card.code, type: 'fixed_amount', value: '1.00' })
  await ctx.db.execute(
    sql`update users set coins = 100, email = coalesce(${email}, email) where id = ${holder.user.id}`
  )
  onTestFinished(async () => {
    await ctx.db.execute(sql`update users set email = ${holder.user.email} where id = ${holder.user.id}`)
  })
  const asked = { mount: '41.00', point: 10 }
  expect(await holder.post('/api/rewards/gift_card/exchange/', asked, newKey())).toMatchObject({ code: 2000 })
  const [coupon] = await ctx.db.select().from(coupons).where(eq(coupons.code, card.code))
  const notices = async () =>
    (await raisedNotices(ctx.db)).filter(({ key }) => key === `bought-code:${coupon?.id}`).map(({ text }) => text)
  // While the platform is away, the job tries again.
  await world.fault('error500')
  expect(await world.codes()).toHaveLength(1)
  expect(await notices()).toEqual([])
  await world.fault('none')
  expect(await world.codes()).toEqual([])
  expect(await world.coupon(coupon?.id ?? 0)).toMatchObject({ platform_state: state })
  expect(await notices()).toEqual([expect.stringContaining('spent 10 coins on a code of 41.00')])
})

test('a code that an operator made by hand works for who buys it, so operators hear nothing', async () => {
  const { ctx } = world.shop
  const discount = { type: 'fixed_amount', value: '43.00', usageLimit: 1, oncePerCustomer: true }
  await control(world.sandbox, 'POST', '/discounts', { code: 'HAND-43', ...discount })
  const card = await world.addCard('HAND-43')
  await ctx.db.update(giftCards).set({ mount: '43.00' }).where(eq(giftCards.id, card.id))
  await world.codes()
  await ctx.db.execute(sql`update users set coins = 100 where id = ${holder.user.id}`)
  const asked = { mount: '43.00', point: 10 }
  expect(await holder.post('/api/rewards/gift_card/exchange/', asked, newKey())).toMatchObject({ code: 2000 })
  await world.codes()
  const [coupon] = await ctx.db.select().from(coupons).where(eq(coupons.code, 'HAND-43'))
  expect(await world.coupon(coupon?.id ?? 0)).toMatchObject({ platform_differs: ['holder', 'foreign'] })
  expect((await raisedNotices(ctx.db)).filter(({ key }) => key === `bought-code:${coupon?.id}`)).toEqual([])
})

test('a code with a comma, which older versions took, is named as one that links cannot use, and is not handed out', async () => {
  const { ctx } = world.shop
  const card = await world.addCard('OLD-CARD')
  await ctx.db.update(giftCards).set({ code: 'OLD,CARD', mount: '77.00' }).where(eq(giftCards.id, card.id))
  for (let times = 0; times < 2; times++) {
    await world.ask('gift_card', card.id, 'create')
    await world.codes()
    expect(await world.card(card.id)).toMatchObject({ platform_state: 'differs', platform_differs: ['comma'] })
  }
  const options = await world.admin.get<{ mount: string }[]>('/api/rewards/gift_card/base-info/')
  expect(options.data.map(({ mount }) => mount)).not.toContain('77.00')
})

test('a discount that is there already is adopted when it is equal, and named as different when not', async () => {
  const [level] = (await world.admin.get<Page<LevelCode>>('/api/rewards/level_code/')).data.data
  if (!level) throw new Error('there is no level')
  const edit = (form: object) =>
    world.admin.put<LevelCode>(`/api/rewards/level_code/${level.id}/`, {
      point: level.point,
      discount: '8',
      code: 'GOLD8',
      ...form
    })
  expect((await edit({})).code).toBe(2000)
  await world.codes()
  expect(await world.level(level.id)).toMatchObject({
    platform_state: 'differs',
    platform_differs: ['value', 'foreign']
  })
  expect((await edit({ discount_type: 'percent', discount: '100.01' })).code).toBe(400)
  expect((await edit({ discount_type: 'percent' })).data.discount_type).toBe('percent')
  await world.ask('level_code', level.id, 'create')
  await world.codes()
  expect(await world.level(level.id)).toMatchObject({ platform_state: 'present', platform_differs: [] })
  // The shop must not change a discount that an operator made there.
  expect((await edit({ discount: '9', discount_type: 'percent' })).code).toBe(2000)
  await world.ask('level_code', level.id, 'create')
  await world.codes()
  expect(await world.level(level.id)).toMatchObject({
    platform_state: 'differs',
    platform_differs: ['value', 'foreign']
  })
  expect(await world.discount('GOLD8')).toMatchObject({ value: '8' })
})

test('an edit takes the shop’s own discount along, and a new code or a deletion ends the old one', async () => {
  const made = await addCoupon()
  await world.ask('coupon', made.id, 'create')
  await world.codes()
  const form = { username: holder.user.username, code: made.code, discount: '7.00', code_type: 1 }
  await world.admin.put(`/api/rewards/coupon_code/${made.id}/`, form)
  await world.codes()
  expect(await world.discount(made.code)).toMatchObject({ value: '7.00' })
  await world.admin.put(`/api/rewards/coupon_code/${made.id}/`, { ...form, code: `OTHER-${count}` })
  await world.codes()
  expect(await world.ends()).toEqual([])
  expect((await world.discount(made.code))?.endsAt).toEqual(expect.any(String))
  expect(await world.coupon(made.id)).toMatchObject({ platform_state: 'missing' })
  // Renamed back, the code makes the shop's discount work again.
  await world.admin.put(`/api/rewards/coupon_code/${made.id}/`, form)
  await world.ask('coupon', made.id, 'create')
  await world.codes()
  await world.ends()
  expect((await world.discount(made.code))?.endsAt).toBeNull()
  await world.admin.delete(`/api/rewards/coupon_code/${made.id}/`)
  await world.ends()
  expect((await world.discount(made.code))?.endsAt).toEqual(expect.any(String))
})

test('the shop’s own discount that got a minimum and a later start there is made again as the code says', async () => {
  const made = await addCoupon()
  await world.ask('coupon', made.id, 'create')
  await world.codes()
  const startsAt = new Date(world.shop.ctx.now().getTime() + 3_600_000).toISOString()
  await control(world.sandbox, 'POST', '/discounts', { ...(await world.discount(made.code)), startsAt, minimum: 3 })
  await world.ask('coupon', made.id, 'check')
  await world.codes()
  expect(await world.coupon(made.id)).toMatchObject({
    platform_state: 'differs',
    platform_differs: ['minimum', 'ended']
  })
  await world.ask('coupon', made.id, 'create')
  await world.codes()
  expect(await world.coupon(made.id)).toMatchObject({ platform_state: 'present', platform_differs: [] })
})

test('what the shop did not make is not ended with its code here', async () => {
  const made = await addCoupon({ code: 'WELCOME10' })
  await world.admin.delete(`/api/rewards/coupon_code/${made.id}/`)
  expect(await world.ends()).toEqual([])
  expect((await world.discount('WELCOME10'))?.endsAt ?? null).toBeNull()
})

/** A limited call is retried, so all of its tries must meet the fault. */
const next = (kind: string) => (kind === 'throttled' || kind === 'too_many' ? 100 : 1)

test.each([
  ['error500', 'internal error'],
  ['garbage', 'is not the e-commerce platform'],
  ['unauthorized', 'refused the access token'],
  ['locked', 'frozen or locked'],
  ['half', 'cannot be reached'],
  ['lost', 'cannot be reached'],
  ['timeout', 'did not respond within'],
  ['throttled', 'limits the request rate'],
  ['too_many', 'limits the request rate']
])('%s: the row says what is the matter, and the next try makes one discount', async (kind, problem) => {
  const card = await addCard({ code: `FAULT-${kind}` })
  await world.codes()
  for (const after of [0, 1]) {
    await world.ask('gift_card', card.id, 'create')
    // The check, then the creation. Whether it was done or not, there is no answer.
    await world.fault(kind, { after, next: next(kind) })
    expect(await world.codes()).toHaveLength(1)
    expect(await world.card(card.id)).toMatchObject({
      platform_state: 'waiting',
      platform_problem: expect.stringContaining(problem) as string
    })
    await world.fault('none')
    expect(await world.codes()).toEqual([])
    expect(await world.card(card.id)).toMatchObject({ platform_state: 'present', platform_problem: null })
    expect(await world.discount(card.code)).toMatchObject({ value: '25.00', usageLimit: 1 })
    await control(world.sandbox, 'DELETE', `/discounts/${card.code}`)
  }
})

test('two concurrent creations make one discount; an edit in between is not overwritten', async () => {
  const card = await addCard()
  await world.ask('gift_card', card.id, 'create')
  const [job] = await world.waiting('platform-code')
  expect(job).toBeDefined()
  const order = { kind: 'gift_card', id: card.id, act: 'create' } as const
  await Promise.all([checkCodeOnPlatform(world.shop.ctx, order), checkCodeOnPlatform(world.shop.ctx, order)])
  expect(await world.discount(card.code)).toMatchObject({ value: '25.00' })
  // Its amount changes while the platform replies.
  const looking = checkCodeOnPlatform(world.shop.ctx, { ...order, act: 'check' })
  await world.admin.put(`/api/rewards/gift_card/${card.id}/`, { mount: '30.00', code: card.code, point: 10 })
  await looking
  await world.codes()
  expect(await world.card(card.id)).toMatchObject({ mount: '30.00', platform_state: 'present' })
  expect(await world.discount(card.code)).toMatchObject({ value: '30.00' })
})

test('a refusal of the platform stays with its words, and is not tried again', async () => {
  const made = await addCoupon()
  const setEmail = (email: string) =>
    world.shop.ctx.db.execute(sql`update users set email = ${email} where id = ${holder.user.id}`)
  await setEmail('no-address')
  await world.ask('coupon', made.id, 'create')
  expect(await world.codes()).toEqual([])
  expect(await world.coupon(made.id)).toMatchObject({ platform_state: 'refused', platform_problem: 'Email is invalid' })
  await setEmail(holder.user.email)
})

test('without a platform nothing is known, and nothing fails', async () => {
  await writeSettings(world.shop.ctx, { shopify_shop_url: '' })
  const made = await addCoupon()
  expect(await world.codes()).toEqual([])
  expect(await world.coupon(made.id)).toMatchObject({
    platform_state: 'unknown',
    platform_checked_at: expect.any(String)
  })
  await writeSettings(world.shop.ctx, { shopify_shop_url: world.sandbox.url })
})

test('all codes are compared page by page, over as many runs as it takes', async () => {
  const { db } = world.shop.ctx
  await addRows(
    world.shop.ctx,
    giftCards,
    Array.from({ length: 7 }, (_, at) => ({ code: `SWEEP-${at}`, mount: '5.00', point: 1 }))
  )
  await addCoupon({ code: 'DIAMOND15', discount: '15', discount_type: 'percent' })
  await db.execute(sql`delete from pgboss.job where name = 'platform-code'`)
  let runs = 0
  await checkCodes(world.shop.ctx, {}, { page: 2, pages: 2 })
  for (; runs < 10; runs++) {
    const next = await world.waiting('check-platform-codes')
    if (next.length === 0) break
    await world.work('check-platform-codes', from => checkCodes(world.shop.ctx, from, { page: 2, pages: 2 }))
  }
  expect(runs).toBeGreaterThan(1)
  expect(await db.$count(giftCards, eq(giftCards.platformState, 'missing'))).toBe(7)
  const [coupon] = await db.select().from(coupons)
  expect(coupon).toMatchObject({ platformState: 'differs', platformDiffers: ['holder', 'uses', 'once', 'foreign'] })
  await world.fault('error500')
  await expect(checkCodes(world.shop.ctx, {})).rejects.toThrow('internal error')
})
