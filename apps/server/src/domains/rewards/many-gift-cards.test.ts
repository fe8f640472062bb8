import type { GiftCard, Page } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { createHttpApp } from '../../app.ts'
import { allJobs } from '../../workers.ts'
import { coupons, giftCards } from './tables.ts'
import { addRow } from '../../testing/rows.ts'

let shop: TestShop
let admin: Awaited<ReturnType<TestShop['admin']>>

beforeAll(async () => {
  shop = await startTestShop({ app: createHttpApp, queues: allJobs.map(({ queue }) => queue) })
  admin = await shop.admin({ username: 'boss' })
})
afterAll(() => shop?.close())

const batchOf = (digit: string) => digit.repeat(32)
const make = (form: object) => admin.post<GiftCard[]>('/api/rewards/gift_cards/', form)
const cards = async () => (await admin.get<Page<GiftCard>>('/api/rewards/gift_card/?limit=1000')).data.data

test('many gift cards have codes of their own, each is audited without its code, and customers see them', async () => {
  const made = await make({ mount: '5', point: '500', count: '200', batch: batchOf('a') })
  expect(made.code).toBe(2000)
  expect(made.data).toHaveLength(200)
  expect(new Set(made.data.map(({ code }) => code)).size).toBe(200)
  expect(
    made.data.every(({ code, mount, point }) => /^[a-z2-9]{16}$/.test(code) && mount === '5.00' && point === 500)
  ).toBe(true)
  const { rows } = await shop.ctx.db.execute<{ entries: number; told: boolean }>(sql`
    select count(*)::int as entries, bool_or(after ->> 'code' = ${made.data[0]?.code ?? ''}) as told
    from audit_log where action = 'gift_card.create'`)
  expect(rows).toEqual([{ entries: 200, told: false }])
  expect((await cards()).map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(made.data.map(({ id }) => id))
})

test('the same batch makes its cards once, even if repeated and concurrent', async () => {
  const before = (await cards()).length
  const form = { mount: '2.50', point: 0, count: 30, batch: batchOf('b') }
  const replies = await Promise.all([1, 2, 3, 4].map(() => make(form)))
  expect(new Set(replies.map(({ data }) => JSON.stringify(data.map(({ code }) => code)))).size).toBe(1)
  expect((await cards()).length).toBe(before + 30)
  // Another request under the same name does not return it.
  for (const other of [{ mount: '3' }, { point: 1 }, { count: 31 }])
    expect(await make({ ...form, ...other })).toMatchObject({ status: 409 })
  expect((await cards()).length).toBe(before + 30)
})

test('none is made if one of their codes is a promo code, or the form is wrong', async () => {
  const before = (await cards()).length
  const form = { mount: '2.50', point: 0, count: 3, batch: batchOf('c') }
  const [, second] = (await make(form)).data
  await shop.ctx.db.delete(giftCards).where(sql`code in (select code from gift_cards order by id desc limit 3)`)
  await addRow(shop.ctx, coupons, {
    holderId: admin.user.id,
    code: second?.code.toUpperCase() ?? '',
    codeType: 1,
    discount: '1.00'
  })
  expect(await make(form)).toMatchObject({ status: 409 })
  for (const wrong of [
    { count: 0 },
    { count: 201 },
    { count: '' },
    { count: 1.5 },
    { mount: '0' },
    { point: -1 },
    { batch: 'x' }
  ])
    expect((await make({ ...form, ...wrong })).status).toBe(400)
  expect((await cards()).length).toBe(before)
})
