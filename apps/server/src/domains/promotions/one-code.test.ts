import type { LevelCode, Page } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { seedLevelCodes } from '../rewards/index.ts'
import { checkCodeOnPlatform, endCode } from './check-code.ts'
import { startPromotions, type Promotions } from './promotions.fixture.ts'

let world: Promotions
let username: string
let levels: LevelCode[]

beforeAll(async () => {
  world = await startPromotions()
  await seedLevelCodes(world.shop.ctx)
  ;({ username } = (await world.shop.customer()).user)
  levels = (await world.admin.get<Page<LevelCode>>('/api/rewards/level_code/')).data.data
}, 60_000)
beforeEach(async () => {
  await world.shop.ctx.db.execute(sql`truncate coupons, gift_cards`)
  await world.shop.ctx.db.execute(sql`update level_codes set code = ''`)
  await world.shop.ctx.db.execute(sql`delete from pgboss.job where name like '%platform%'`)
  await world.fault('none')
})
afterAll(() => world?.close())

const setLevel = (at: number, code: string, more: object = {}) => {
  const level = levels[at]
  if (!level) throw new Error('there is no such level')
  return world.admin.put<LevelCode>(`/api/rewards/level_code/${level.id}/`, {
    point: level.point,
    discount: '15',
    discount_type: 'percent',
    code,
    ...more
  })
}
const taken = { code: 409, data: { reason: 'code_taken' } }
const card = { mount: '5.00', point: 1 }
const coupon = () => ({ username, discount: '5.00', code_type: 2 })

test('a level refuses the code of a promo code, a gift card or another level, in any case', async () => {
  await world.addCoupon({ username, code: 'TWIN-COUPON' })
  await world.addCard('TWIN-CARD')
  expect((await setLevel(1, 'TWIN-LEVEL')).code).toBe(2000)
  for (const code of ['twin-coupon', 'Twin-Card', 'twin-level']) expect(await setLevel(0, code)).toMatchObject(taken)
  expect((await world.level(levels[0]?.id ?? 0))?.code).toBe('')
  // It may keep its own code, also in another case.
  expect((await setLevel(1, 'twin-LEVEL', { discount: '9' })).code).toBe(2000)
  const last = levels.at(-1)
  await world.admin.delete(`/api/rewards/level_code/${last?.id}/`)
  const level = { level: last?.level, point: last?.point, discount: '5.00' }
  for (const code of ['twin-coupon', 'Twin-Card', 'twin-level'])
    expect(await world.admin.post('/api/rewards/level_code/', { ...level, code })).toMatchObject(taken)
  expect((await world.admin.post('/api/rewards/level_code/', { ...level, code: 'FREE' })).code).toBe(2000)
})

test('a promo code or a gift card takes no code of a level, new or renamed', async () => {
  await setLevel(0, 'GOLD')
  const mine = await world.addCoupon({ username, code: 'MINE' })
  const free = await world.addCard('FREE-CARD')
  const C = '/api/rewards/coupon_code/'
  const G = '/api/rewards/gift_card/'
  expect(await world.admin.post(C, { ...coupon(), code: 'gold' })).toMatchObject(taken)
  expect(await world.admin.put(`${C}${mine.id}/`, { ...coupon(), code: 'Gold' })).toMatchObject(taken)
  expect(await world.admin.post(G, { ...card, code: 'gold' })).toMatchObject(taken)
  expect(await world.admin.put(`${G}${free.id}/`, { ...card, code: 'gold' })).toMatchObject(taken)
})

test('of a level and a promo code that take one code at once, one gets it', async () => {
  for (let n = 0; n < 3; n++) {
    const code = `ONCE-${n}`
    const answers = await Promise.all([
      world.admin.post('/api/rewards/coupon_code/', { ...coupon(), code }),
      setLevel(0, code.toLowerCase()),
      setLevel(1, code)
    ])
    expect(answers.filter(one => one.code === 2000)).toHaveLength(1)
    await setLevel(0, '-a')
    await setLevel(1, '-b')
  }
})

/** Runs some work. The platform delays its `after`-th call until `meanwhile` has happened. */
async function overtaken(
  after: number,
  work: () => Promise<unknown>,
  meanwhile: () => Promise<unknown>
): Promise<void> {
  const { ctx } = world.shop
  const limits = ctx.platformLimits
  const { promise: hasHappened, resolve } = Promise.withResolvers<void>()
  ctx.platformLimits = { timeoutMs: 2000, sleep: () => hasHappened }
  try {
    await world.fault('too_many', { next: 1, after })
    const working = work()
    await world.hasMetFault()
    await meanwhile().finally(resolve)
    await working
  } finally {
    ctx.platformLimits = limits
  }
}
const create = (id: number) => () => checkCodeOnPlatform(world.shop.ctx, { kind: 'coupon', id, act: 'create' })
/** Runs all remaining work, in any order. */
async function settle() {
  for (let n = 0; n < 3; n++) expect([...(await world.codes()), ...(await world.ends())]).toEqual([])
}

test('a code that is deleted while its discount is being made leaves none that counts', async () => {
  const { id } = await world.addCoupon({ username, code: 'GHOST' })
  await overtaken(2, create(id), async () => {
    expect((await world.admin.delete(`/api/rewards/coupon_code/${id}/`)).code).toBe(2000)
    await settle()
  })
  await settle()
  expect((await world.discount('GHOST'))?.endsAt).toEqual(expect.any(String))
})

test('what is edited while its discount is being made is there as it was edited', async () => {
  const { id } = await world.addCoupon({ username, code: 'EDITED', discount: '50.00' })
  await overtaken(2, create(id), async () => {
    const form = { ...coupon(), code: 'EDITED', discount: '1.00' }
    expect((await world.admin.put(`/api/rewards/coupon_code/${id}/`, form)).code).toBe(2000)
    await settle()
  })
  expect(await world.discount('EDITED')).toMatchObject({ value: '1.00' })
  expect(await world.coupon(id)).toMatchObject({ platform_state: 'present' })
})

test('a code that is renamed while its discount is being made counts under its new name only', async () => {
  const { id } = await world.addCoupon({ username, code: 'OLD-NAME' })
  await overtaken(2, create(id), async () => {
    const form = { ...coupon(), code: 'NEW-NAME' }
    expect((await world.admin.put(`/api/rewards/coupon_code/${id}/`, form)).code).toBe(2000)
    await settle()
  })
  await settle()
  expect((await world.discount('OLD-NAME'))?.endsAt).toEqual(expect.any(String))
  expect((await world.discount('NEW-NAME'))?.endsAt ?? null).toBeNull()
  expect(await world.coupon(id)).toMatchObject({ platform_state: 'present' })
})

test('a code that comes back while its discount is being ended goes on', async () => {
  const gone = await world.addCoupon({ username, code: 'BACK' })
  await create(gone.id)()
  await world.admin.delete(`/api/rewards/coupon_code/${gone.id}/`)
  await world.shop.ctx.db.execute(sql`delete from pgboss.job where name like '%platform%'`)
  let id = 0
  await overtaken(
    1,
    () => endCode(world.shop.ctx, { code: 'BACK' }),
    async () => {
      ;({ id } = await world.addCoupon({ username, code: 'BACK' }))
      await settle()
    }
  )
  await settle()
  expect((await world.discount('BACK'))?.endsAt).toBeNull()
  expect(await world.coupon(id)).toMatchObject({ platform_state: 'present' })
})

test('a creation with a lost answer leaves no discount for a code deleted in between', async () => {
  const { id } = await world.addCoupon({ username, code: 'LOST' })
  await world.shop.ctx.db.execute(sql`delete from pgboss.job where name like '%platform%'`)
  await world.fault('lost', { after: 2 })
  const working = world.shop.ctx.db.transaction(async tx => {
    await tx.execute(sql`select 1 from coupons where id = ${id} for update`)
    const created = create(id)().catch((error: Error) => error.message)
    await world.hasMetFault()
    await tx.execute(sql`delete from coupons where id = ${id}`)
    return { created }
  })
  expect(await (await working).created).toContain('cannot be reached')
  expect(await world.waiting('end-platform-code')).toHaveLength(1)
  await settle()
  expect((await world.discount('LOST'))?.endsAt).toEqual(expect.any(String))
})

test("a deleted user's unused codes count no more, also one that is being made", async () => {
  const { user } = await world.shop.customer()
  const left = await world.addCoupon({ username: user.username, code: 'LEFT-BEHIND' })
  await create(left.id)()
  expect(await world.discount('LEFT-BEHIND')).toMatchObject({ code: 'LEFT-BEHIND' })
  expect((await world.discount('LEFT-BEHIND'))?.endsAt).toBeFalsy()
  const late = await world.addCoupon({ username: user.username, code: 'LATE' })
  await overtaken(2, create(late.id), async () => {
    expect((await world.admin.delete(`/api/users/u/${user.id}/`)).code).toBe(2000)
    await settle()
  })
  await settle()
  for (const code of ['LEFT-BEHIND', 'LATE']) expect((await world.discount(code))?.endsAt).toEqual(expect.any(String))
})
