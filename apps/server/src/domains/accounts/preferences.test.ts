import { sql } from '../../infra/db/drizzle.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { startTestShop } from '../../testing/shop.ts'
import { accountRoutesWithPorts } from './accounts.fixture.ts'
import { userPreferences } from './tables.ts'
import { useStarted } from '../../testing/use-started.ts'

const shop = useStarted(() => startTestShop({ routes: accountRoutesWithPorts }))
const anna = useStarted(() => shop.customer())
const bob = useStarted(() => shop.customer())

beforeEach(() => shop.ctx.db.delete(userPreferences))

const at = (key: string) => `/api/users/preferences/${key}`
const kept = async (key: string, client = anna) => (await client.get(at(key))).data
const save = (key: string, value: unknown, client = anna) => client.put(at(key), { value })
async function countOf(userId: number): Promise<number> {
  const { rows } = await shop.ctx.db.execute<{ count: number }>(
    sql`select count(*) as count from user_preferences where user_id = ${userId}`
  )
  return Number(rows[0]?.count)
}

test('each person has their own', async () => {
  expect(await anna.get(at('orders.columns'))).toMatchObject({ code: 2000, data: null })
  expect(await save('orders.columns', ['id', 'state'])).toMatchObject({ code: 2000, data: null })
  expect(await save('orders.columns', { of: 'bob' }, bob)).toMatchObject({ code: 2000 })
  expect(await kept('orders.columns')).toEqual(['id', 'state'])
  expect(await kept('orders.columns', bob)).toEqual({ of: 'bob' })
  expect(await kept('orders.views')).toBeNull()
})

test('a value takes the place of the one before; null keeps nothing', async () => {
  for (const value of [{ a: 1 }, 'text', 0, false, '', [], 12.5, [null], { a: { b: [{ c: null }] } }]) {
    expect(await save('x', value)).toMatchObject({ code: 2000 })
    expect(await kept('x')).toEqual(value)
  }
  expect(await countOf(anna.user.id)).toBe(1)
  for (let twice = 0; twice < 2; twice++) {
    expect(await save('x', null)).toMatchObject({ code: 2000 })
    expect(await kept('x')).toBeNull()
  }
  expect(await countOf(anna.user.id)).toBe(0)
})

describe('limits', () => {
  test('200 keys a person, also when they come at once', async () => {
    await shop.ctx.db.execute(sql`insert into user_preferences (user_id, key, value, updated_at)
      select ${anna.user.id}, 'k' || n, '1', now() from generate_series(1, 195) n`)
    const replies = await Promise.all(Array.from({ length: 12 }, (_, n) => save(`more${n}`, n)))
    expect(replies.filter(({ code }) => code === 2000)).toHaveLength(5)
    const refused = replies.filter(({ code }) => code !== 2000)
    for (const reply of refused) {
      expect(reply).toMatchObject({ code: 409, data: { reason: 'too_many_kept', params: { max: 200 } } })
    }
    expect(await countOf(anna.user.id)).toBe(200)
    // Existing values can still be changed, and another person has room.
    expect(await save('k7', 'new')).toMatchObject({ code: 2000 })
    expect(await kept('k7')).toBe('new')
    expect(await save('k7', 1, bob)).toMatchObject({ code: 2000 })
    await save('k7', null)
    expect(await save('k999', 1)).toMatchObject({ code: 2000 })
  })

  test('one key that is saved many times at once is kept once', async () => {
    const replies = await Promise.all(Array.from({ length: 10 }, (_, n) => save('same', n)))
    for (const reply of replies) expect(reply).toMatchObject({ code: 2000 })
    expect(await countOf(anna.user.id)).toBe(1)
  })

  test('32,000 characters', async () => {
    expect(await save('big', 'x'.repeat(31_998))).toMatchObject({ code: 2000 })
    expect(await save('big', 'y'.repeat(31_999))).toMatchObject({
      code: 400,
      data: { errors: { value: 'At most 32000 characters' } }
    })
    expect(await kept('big')).toBe('x'.repeat(31_998))
    expect(await save('big', 'ä'.repeat(31_998))).toMatchObject({ code: 2000 })
    expect(await kept('big')).toBe('ä'.repeat(31_998))
  })
})

describe('what cannot be kept', () => {
  test.each(['Key', 'a%2Fb', '..%2F..%2Fu', 'a%00', 'a%ED%A0%80', '1a', 'a'.repeat(65), 'ключ', 'a%20b'])(
    'under the key %s',
    async key => {
      for (const reply of [await anna.get(at(key)), await anna.put(at(key), { value: 1 })])
        expect([400, 404]).toContain(reply.code)
      expect(await countOf(anna.user.id)).toBe(0)
    }
  )

  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  test.each([
    ['NUL', '{"value":"a\\u0000b"}'],
    ['NUL in a name', '{"value":{"a\\u0000":1}}'],
    ['NUL deep inside', '{"value":[{"a":[1,{"b":"\\u0000"}]}]}'],
    ['half of a surrogate pair', '{"value":"\\ud800"}'],
    ['half of a surrogate pair in a name', '{"value":{"\\udfff":[]}}'],
    ['a hundred levels', `{"value":${nested(100)}}`],
    ['thirty thousand levels', `{"value":${nested(30_000)}}`],
    ['a prototype', '{"value":{"__proto__":{"isSuperuser":true}}}'],
    ['no value', '{}'],
    ['no object', '[]'],
    ['no JSON', '{"value":'],
    ['bytes that are no text', Buffer.from([0x7b, 0xff])]
  ])('a value with %s', async (_what, body) => {
    await save('x', 'before')
    const reply = await anna.fetch(at('x'), { method: 'PUT', headers: { 'content-type': 'application/json' }, body })
    expect(reply.status).toBe(400)
    expect(await kept('x')).toBe('before')
  })

  test('but what only looks like it can', async () => {
    const value = { text: '\\u0000 \\ud800', emoji: '😀', levels: JSON.parse(nested(90)) as unknown, constructor: 1 }
    expect(await save('x', value)).toMatchObject({ code: 2000 })
    expect(await kept('x')).toEqual(value)
    // JSON allows larger numbers than JavaScript, which turns this one into null.
    const huge = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"value":[1e400]}' }
    expect((await anna.fetch(at('x'), huge)).status).toBe(200)
    expect(await kept('x')).toEqual([null])
  })
})

test('an administrator who views the shop as a user may read, not save', async () => {
  await save('x', 'of anna')
  const boss = await shop.admin()
  await save('x', 'of the boss', boss)
  expect(await boss.post('/api/users/admin/switch-user', { user_id: anna.user.id })).toMatchObject({ code: 2000 })
  expect(await kept('x', boss)).toBe('of anna')
  expect(await save('x', 'changed', boss)).toMatchObject({ code: 403 })
  expect(await save('x', null, boss)).toMatchObject({ code: 403 })
  expect(await kept('x')).toBe('of anna')
  await boss.post('/api/users/admin/switch-back')
  expect(await kept('x', boss)).toBe('of the boss')
})

test('they go with the account', async () => {
  const [gone, boss] = [await shop.customer(), await shop.admin()]
  await save('x', 1, gone)
  expect(await boss.delete(`/api/users/u/${gone.user.id}/`)).toMatchObject({ code: 2000 })
  expect(await countOf(gone.user.id)).toBe(0)
})
