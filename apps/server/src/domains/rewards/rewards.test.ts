import type { Coupon, GiftCard, LevelCode, PointRecord } from '@netlet/contract'
import { eq, sql, sum } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { userActor } from '../../testing/session.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { users } from '../accounts/tables.ts'
import { auditLog } from '../../infra/tables.ts'
import { exchangeCoins } from './exchange.ts'
import { discountCodeFor, rewardsRoutes, seedLevelCodes } from './index.ts'
import { endCodeQueue, rewardsQueues } from './queues.ts'
import { coupons, giftCards, levelCodes, pointRecords } from './tables.ts'
import { newKey } from '../../testing/asking-once.ts'

let shop: TestShop
let admin: Awaited<ReturnType<TestShop['admin']>>
type Page<T> = { data: T[]; total: number }

const R = '/api/rewards'
let serial = 0
const code = () => `code-${++serial}`

beforeAll(async () => {
  shop = await startTestShop({ routes: rewardsRoutes, queues: rewardsQueues })
  admin = await shop.admin()
})

afterAll(() => shop.close())

async function customerWith(balance: { coins?: number; levelPoints?: number; invitedBy?: number } = {}) {
  const customer = await shop.customer()
  if (Object.keys(balance).length > 0)
    await shop.ctx.db.update(users).set(balance).where(eq(users.id, customer.user.id))
  return customer
}

async function balanceOf(id: number) {
  const [user] = await shop.ctx.db.select().from(users).where(eq(users.id, id))
  if (!user) throw new Error('no user')
  return { coins: user.coins, levelPoints: user.levelPoints }
}

const addCard = (form: Record<string, unknown>) => admin.post<GiftCard>(`${R}/gift_card/`, { code: code(), ...form })

const NO_COMMA = 'Must not contain a comma or a line break: checkout links separate codes with commas'

test('coupon form: username, code, discount and type are required', async () => {
  const { user } = await customerWith()
  const whole = { username: user.username, code: code(), discount: '5', code_type: 1 }
  const rows: [field: string, msg: string][] = [
    ['username', 'Please enter username'],
    ['code', 'Please enter code'],
    ['discount', 'Please enter discount'],
    ['code_type', 'Please select type']
  ]
  for (const [field, msg] of rows) {
    for (const missing of [undefined, '', null]) {
      const refused = await admin.post(`${R}/coupon_code/`, { ...whole, [field]: missing })
      expect(refused).toMatchObject({ status: 400, msg, data: { errors: { [field]: msg } } })
    }
  }
  expect(await admin.post(`${R}/coupon_code/`, { ...whole, code: 'TEN,OFF' })).toMatchObject({ msg: NO_COMMA })
  expect(await admin.post(`${R}/coupon_code/`, { ...whole, code_type: 3 })).toMatchObject({ msg: 'Please select type' })
  const made = await admin.post<Coupon>(`${R}/coupon_code/`, { ...whole, code_type: '2' })
  expect(made.data).toMatchObject({ username: user.username, discount: '5.00', code_type: 2, is_used: false })
})

test('a promo code is found by its user, is one of a kind, and each role sees its own', async () => {
  const one = await customerWith()
  const other = await customerWith()
  const form = { username: one.user.username.toUpperCase(), code: code(), discount: '2.50', code_type: 1 }
  const made = await admin.post<Coupon>(`${R}/coupon_code/`, form)
  expect(made.data.holder_username).toBe(one.user.username)
  expect(await admin.post(`${R}/coupon_code/`, { ...form, code: form.code.toUpperCase() })).toMatchObject({
    status: 409,
    msg: 'This code already exists'
  })
  expect(await admin.post(`${R}/coupon_code/`, { ...form, username: 'nobody', code: code() })).toMatchObject({
    status: 400,
    msg: 'This user does not exist'
  })
  expect((await one.get<Page<Coupon>>(`${R}/coupon_code/`)).data).toMatchObject({
    total: 1,
    // The holder learns nothing about the platform.
    data: [{ ...made.data, platform_state: null }]
  })
  expect((await other.get<Page<Coupon>>(`${R}/coupon_code/`)).data).toMatchObject({ total: 0, data: [] })
  for (const search of [form.code, one.user.username]) {
    const found = await admin.get<Page<Coupon>>(`${R}/coupon_code/?search=${search}`)
    expect(found.data.data.map(row => row.id)).toContain(made.data.id)
  }
  const path = `${R}/coupon_code/${made.data.id}/`
  const changed = await admin.put<Coupon>(path, { ...form, username: other.user.username, is_used: true })
  expect(changed.data).toMatchObject({ holder_username: other.user.username, is_used: true })
  expect((await one.get<Page<Coupon>>(`${R}/coupon_code/`)).data.total).toBe(0)
  expect((await admin.delete(path)).code).toBe(2000)
  expect((await admin.delete(path)).status).toBe(404)
  const entries = await shop.ctx.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.targetId, String(made.data.id)))
    .orderBy(auditLog.id)
  expect(entries.filter(entry => entry.targetType === 'coupon').map(entry => entry.action)).toEqual([
    'coupon.create',
    'coupon.edit',
    'coupon.delete'
  ])
})

test('what administrators do is refused to everyone else', async () => {
  const customer = await customerWith()
  for (const [client, status] of [
    [shop.visitor(), 401],
    [customer, 403]
  ] as const) {
    const replies = [
      await client.post(`${R}/coupon_code/`, {}),
      await client.put(`${R}/coupon_code/1/`, {}),
      await client.delete(`${R}/coupon_code/1/`),
      await client.get(`${R}/gift_card/`),
      await client.post(`${R}/gift_card/`, {}),
      await client.put(`${R}/gift_card/1/`, {}),
      await client.delete(`${R}/gift_card/1/`),
      await client.post(`${R}/level_code/`, {}),
      await client.put(`${R}/level_code/1/`, {}),
      await client.delete(`${R}/level_code/1/`)
    ]
    expect(replies.map(reply => reply.status)).toEqual(replies.map(() => status))
  }
  for (const path of ['coupon_code', 'gift_card/base-info', 'level_code', 'point_record'])
    expect((await shop.visitor().get(`${R}/${path}/`)).status).toBe(401)
})

test('gift card form: mount, code and point are required', async () => {
  const whole = { mount: '10', code: `card-${code()}`, point: 100 }
  const rows: [field: string, wrong: unknown[], msg: string][] = [
    ['mount', [undefined, '', '0', '-1', '1.234'], 'Please enter mount'],
    ['code', [undefined, ''], 'Please enter code'],
    ['code', ['TEN,OFF', ',', 'TEN\nOFF'], NO_COMMA],
    ['point', [undefined, '', -1, 1.5, null, 'x'], 'Please enter point']
  ]
  for (const [field, values, msg] of rows)
    for (const value of values)
      expect(await admin.post(`${R}/gift_card/`, { ...whole, [field]: value })).toMatchObject({ status: 400, msg })
  const made = await admin.post<GiftCard>(`${R}/gift_card/`, { ...whole, point: '100' })
  expect(made.data).toMatchObject({ mount: '10.00', point: 100, is_exchanged: false })
  expect(await admin.post(`${R}/gift_card/`, whole)).toMatchObject({ status: 409, msg: 'This code already exists' })
  const found = await admin.get<Page<GiftCard>>(`${R}/gift_card/?search=${whole.code}`)
  expect(found.data).toMatchObject({ total: 1, data: [{ id: made.data.id }] })
  const path = `${R}/gift_card/${made.data.id}/`
  expect((await admin.put<GiftCard>(path, { ...whole, point: 7 })).data.point).toBe(7)
  const entries = await shop.ctx.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.targetId, String(made.data.id)))
  expect(entries.filter(entry => entry.targetType === 'gift_card')).toMatchObject([
    { action: 'gift_card.create', after: { code: `…${whole.code.slice(-4)}` } },
    { action: 'gift_card.edit' }
  ])
  expect(JSON.stringify(entries)).not.toContain(whole.code)
  expect((await admin.delete(path)).code).toBe(2000)
  expect((await admin.delete(path)).status).toBe(404)
})

test('a code cannot be a promo code and an available gift card', async () => {
  const { user } = await customerWith()
  const card = await addCard({ mount: '3', point: 1_000_000 })
  const form = { username: user.username, code: card.data.code, discount: '1', code_type: 1 }
  expect((await admin.post(`${R}/coupon_code/`, form)).status).toBe(409)
  const coupon = { ...form, code: code() }
  await admin.post(`${R}/coupon_code/`, coupon)
  expect((await addCard({ mount: '3', point: 1, code: coupon.code })).status).toBe(409)
})

test('an exchange takes the coins, hands over the cheapest card of the amount and keeps a record', async () => {
  const customer = await customerWith({ coins: 130 })
  await addCard({ mount: '21', point: 60 })
  const cheap = await addCard({ mount: '21', point: 50 })
  const list = await customer.get<{ mount: string; point: number }[]>(`${R}/gift_card/base-info/`)
  expect(list.data).toContainEqual({ mount: '21.00', point: 50 })
  const got = await customer.post(`${R}/gift_card/exchange/`, { mount: '21', point: 50 }, newKey())
  expect(got).toMatchObject({ code: 2000, data: { code: cheap.data.code, mount: '21.00', reward_points: 80 } })
  const own = await customer.get<Page<Coupon>>(`${R}/coupon_code/`)
  expect(own.data.data).toMatchObject([{ code: cheap.data.code, code_type: 2, discount: '21.00', is_used: false }])
  const history = await customer.get<Page<PointRecord>>(`${R}/point_record/?limit=4`)
  expect(history.data).toMatchObject({ total: 1, data: [{ kind: 'coins', point: -50 }] })
  expect(history.data.data[0]?.reason).toContain('21.00')

  // Administrators cannot change an exchanged card.
  for (const refused of [
    await admin.put(`${R}/gift_card/${cheap.data.id}/`, { mount: '1', code: code(), point: 1 }),
    await admin.delete(`${R}/gift_card/${cheap.data.id}/`)
  ])
    expect(refused).toMatchObject({ status: 409, msg: 'This gift card has already been exchanged' })
})

test('an exchange without enough coins or without a card changes nothing', async () => {
  const customer = await customerWith({ coins: 9 })
  const card = await addCard({ mount: '33', point: 10 })
  expect(await customer.post(`${R}/gift_card/exchange/`, { mount: '33.00', point: 10 }, newKey())).toMatchObject({
    status: 409,
    msg: 'Insufficient Coins'
  })
  expect(await customer.post(`${R}/gift_card/exchange/`, { mount: '34', point: 10 }, newKey())).toMatchObject({
    status: 409,
    msg: 'This reward is not available right now'
  })
  expect((await customer.post(`${R}/gift_card/exchange/`, { mount: 'x', point: 10 }, newKey())).msg).toBe(
    'Please enter mount'
  )
  expect(await balanceOf(customer.user.id)).toMatchObject({ coins: 9 })
  expect((await customer.get<Page<Coupon>>(`${R}/coupon_code/`)).data.total).toBe(0)
  const [row] = await shop.ctx.db.select().from(giftCards).where(eq(giftCards.id, card.data.id))
  expect(row?.isExchanged).toBe(false)
})

test('an exchange names its price in coins, and is refused if the cheap card has just gone', async () => {
  const [first, second] = [await customerWith({ coins: 200 }), await customerWith({ coins: 200 })]
  await addCard({ mount: '41', point: 40 })
  await addCard({ mount: '41', point: 90 })
  const offered = await first.get<{ mount: string; point: number }[]>(`${R}/gift_card/base-info/`)
  expect(offered.data.filter(({ mount }) => mount === '41.00')).toEqual([{ mount: '41.00', point: 40 }])
  const wanted = { mount: '41.00', point: 40 }
  expect((await first.post(`${R}/gift_card/exchange/`, wanted, newKey())).code).toBe(2000)
  expect(await second.post(`${R}/gift_card/exchange/`, wanted, newKey())).toMatchObject({
    status: 409,
    msg: 'The price has changed: this reward now costs 90 coins'
  })
  expect(await balanceOf(second.user.id)).toMatchObject({ coins: 200 })
  expect((await second.post(`${R}/gift_card/exchange/`, { mount: '41.00' }, newKey())).status).toBe(400)
  expect((await second.post(`${R}/gift_card/exchange/`, { mount: '41.00', point: 90 }, newKey())).code).toBe(2000)
})

test('50 exchanges at once: no card twice, no coin too many', async () => {
  const { db } = shop.ctx
  const crowd = await Promise.all([customerWith({ coins: 1000 }), customerWith({ coins: 70 })])
  await Promise.all(Array.from({ length: 12 }, () => addCard({ mount: '55', point: 30 })))
  const [rich, poor] = crowd.map(one => one.user.id)
  if (rich === undefined || poor === undefined) throw new Error('no crowd')
  const results = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      exchangeCoins(shop.ctx, userActor(at % 2 ? rich : poor), { mount: '55.00', point: 30 }, null)
    )
  )
  const got = results.flatMap(result => (result.ok ? [result.data.code] : []))
  expect(new Set(got).size).toBe(got.length)
  const cards = await db.select().from(giftCards).where(eq(giftCards.mount, '55.00'))
  expect(cards.filter(card => card.isExchanged)).toHaveLength(got.length)
  const spent = (id: number) => cards.filter(card => card.exchangedBy === id).length * 30
  expect(await balanceOf(rich)).toMatchObject({ coins: 1000 - spent(rich) })
  expect(await balanceOf(poor)).toMatchObject({ coins: 70 - spent(poor) })
  expect(spent(poor)).toBeLessThanOrEqual(60)
  const held = await db.select().from(coupons).where(eq(coupons.discount, '55.00'))
  expect(held.map(coupon => coupon.code).toSorted()).toEqual(got.toSorted())
  for (const id of [rich, poor]) {
    const [records] = await db
      .select({ total: sum(pointRecords.point).mapWith(Number) })
      .from(pointRecords)
      .where(eq(pointRecords.userId, id))
    expect(records?.total ?? 0).toBe(-spent(id) || 0)
  }
  // No user who could pay was refused while a card was left: concurrent exchanges only delay.
  while ((await exchangeCoins(shop.ctx, userActor(rich), { mount: '55.00', point: 30 }, null)).ok) continue
  const left = await db.select().from(giftCards).where(eq(giftCards.mount, '55.00'))
  expect(left.every(card => card.isExchanged)).toBe(true)
})

test('level codes: five levels from the start, discount, code and point required, thresholds in order', async () => {
  const { db } = shop.ctx
  await seedLevelCodes(shop.ctx)
  await seedLevelCodes(shop.ctx)
  const customer = await customerWith({ levelPoints: 5200 })
  const shown = await customer.get<Page<LevelCode>>(`${R}/level_code/`)
  expect(shown.data.data.map(row => row.point)).toEqual([100, 5000, 10_000, 20_000, 50_000])
  expect(shown.data.data.every(row => row.code === null)).toBe(true)
  expect(await discountCodeFor(db, customer.user.id)).toBeNull()

  const silver = shown.data.data[1]
  if (!silver) throw new Error('no second level')
  const path = `${R}/level_code/${silver.id}/`
  const whole = { discount: '5', code: 'SILVER5', point: 5000 }
  const rows: [field: string, msg: string][] = [
    ['discount', 'Please enter discount'],
    ['code', 'Please enter code'],
    ['point', 'Please enter point']
  ]
  for (const [field, msg] of rows)
    expect(await admin.put(path, { ...whole, [field]: '' })).toMatchObject({ status: 400, msg })
  expect(await admin.put(path, { ...whole, code: 'SILVER,5' })).toMatchObject({ status: 400, msg: NO_COMMA })
  expect((await admin.put<LevelCode>(path, whole)).data).toMatchObject({ level: 2, code: 'SILVER5', discount: '5.00' })
  expect(await discountCodeFor(db, customer.user.id)).toBe('SILVER5')
  for (const [point, msg, reason, params] of [
    [100, 'Points must rise with each level. Level 1 has 100.', 'level_points_order', { points: 100, level: 1 }],
    [10_000, 'Points must rise with each level. Level 3 has 10000.', 'level_points_order', { points: 10_000, level: 3 }]
  ] as const) {
    const data = { reason, params, errors: { point: msg } }
    expect(await admin.put(path, { ...whole, point })).toMatchObject({ status: 400, msg, data })
  }

  const found = await admin.get<Page<LevelCode>>(`${R}/level_code/?search=silver`)
  expect(found.data).toMatchObject({ total: 1, data: [{ id: silver.id, code: 'SILVER5' }] })
  expect((await customer.get<Page<LevelCode>>(`${R}/level_code/?search=silver`)).data.total).toBe(0)

  const fifth = shown.data.data[4]
  if (!fifth) throw new Error('no fifth level')
  await admin.delete(`${R}/level_code/${fifth.id}/`)
  await seedLevelCodes(shop.ctx)
  expect(await db.$count(levelCodes)).toBe(4)
  const again = { level: 5, discount: '9', code: 'DIAMOND9', point: 50_000 }
  expect((await admin.post(`${R}/level_code/`, again)).code).toBe(2000)
  expect((await admin.post(`${R}/level_code/`, again)).status).toBe(409)
})

test('a promo code that changes its holder is published to both', async () => {
  const [one, other] = [await customerWith(), await customerWith()]
  const told = new Set<number>()
  const stop = shop.ctx.changes.subscribe(event => {
    for (const { resource, userId } of event?.changes ?? []) if (resource === 'coupon' && userId) told.add(userId)
  })
  const toldTo = (...ids: number[]) => vi.waitFor(() => expect(told).toEqual(new Set(ids)), 30_000)
  const form = { username: one.user.username, code: code(), discount: '5', code_type: 1 }
  const { data } = await admin.post<Coupon>(`${R}/coupon_code/`, form)
  await toldTo(one.user.id)
  told.clear()
  await admin.put(`${R}/coupon_code/${data.id}/`, { ...form, username: other.user.username })
  await toldTo(one.user.id, other.user.id)
  stop()
})

test('a promo code that is renamed while it is deleted ends on the platform under its new code', async () => {
  const { db } = shop.ctx
  const [{ user }, renamed] = [await customerWith(), code()]
  const form = { username: user.username, code: code(), discount: '5', code_type: 1 }
  const { data } = await admin.post<Coupon>(`${R}/coupon_code/`, form)
  const deleted = await db.transaction(async tx => {
    await tx.update(coupons).set({ code: renamed }).where(eq(coupons.id, data.id))
    const deletion = admin.delete(`${R}/coupon_code/${data.id}/`)
    await vi.waitFor(async () => {
      const { rows } = await db.execute(sql`select 1 from pg_locks l join pg_stat_activity a using (pid)
        where not l.granted and a.datname = current_database()`)
      expect(rows).not.toEqual([])
    }, 30_000)
    // In an object, so that the caller does not await it before the change.
    return { deletion }
  })
  expect((await deleted.deletion).code).toBe(2000)
  const { rows } = await db.execute<{ code: string }>(
    sql`select data ->> 'code' as code from pgboss.job where name = ${endCodeQueue.name}`
  )
  expect(rows.map(row => row.code)).toContain(renamed)
})
