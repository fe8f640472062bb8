import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestShop, type TestShop } from '../testing/shop.ts'
import { describeCalls, type ApiCall } from './calls.ts'
import { resolve, type JsonSchema } from './schemas.ts'
import { SPECIFIED_CALLS, SPECIFIED_ENTITIES, SPECIFIED_PROBES } from './specification.fixture.ts'

const { calls, components } = describeCalls()
const keyOf = ({ method, path }: Pick<ApiCall, 'method' | 'path'>) => `${method} ${path.replace(/(.)\/$/, '$1')}`
const byKey = new Map(calls.map(call => [keyOf(call), call]))
const find = (method: string, path: string) => byKey.get(`${method} ${path.replace(/(.)\/$/, '$1')}`)

const specified = SPECIFIED_CALLS.trim()
  .split('\n')
  .map(line => {
    const [, method = '', path = ''] = /^(\w+) (\S+)/.exec(line) ?? []
    const words = (mark: string) => new RegExp(`\\${mark} ([^?<>]+)`).exec(line)?.[1]?.trim().split(' ') ?? []
    return { line, method, path, query: words('?'), body: words('<'), reply: words('>') }
  })

/** Names of the fields of an object, or of one of several that it may be. */
function namesIn(schema: JsonSchema | undefined): string[] {
  if (!schema) return []
  const target = resolve(schema, components)
  return [...Object.keys(target.properties ?? {}), ...(target.anyOf ?? []).flatMap(one => namesIn(one))]
}

/** The entries of a reply that is a list, of the one list in it, or the reply itself. */
function entryOf(schema: JsonSchema): JsonSchema {
  const target = resolve(schema, components)
  if (target.items) return target.items
  const list = Object.values(target.properties ?? {}).find(property => property.type === 'array')
  return list?.items ?? target
}

describe('the contract has every call that is specified', () => {
  test.each(specified)('$method $path', ({ method, path, query, body, reply }) => {
    const call = find(method, path)
    expect(call, 'it is not in the contract').toBeDefined()
    expect(namesIn(call?.query)).toEqual(expect.arrayContaining(query))
    expect(namesIn(call?.body)).toEqual(expect.arrayContaining(body))
    expect(namesIn(call?.reply)).toEqual(expect.arrayContaining(reply))
  })

  test.each(Object.entries(SPECIFIED_ENTITIES))('%s replies with the fields of its entity', (key, fields) => {
    const [method = '', path = ''] = key.split(' ')
    const call = find(method, path)
    expect(call && namesIn(entryOf(call.reply))).toEqual(expect.arrayContaining(fields.split(' ')))
  })

  test('lists reply with data, total, limit and offset', () => {
    const lists = calls.filter(({ query }) => namesIn(query).includes('offset'))
    expect(lists.length).toBeGreaterThan(15)
    for (const call of lists) {
      const names = namesIn(call.reply)
      expect(names, call.id).toEqual(expect.arrayContaining(['total', 'limit', 'offset']))
    }
  })
})

describe('the server', () => {
  let shop: TestShop

  beforeAll(async () => {
    shop = await startTestShop({})
  })
  afterAll(() => shop?.close())

  test.each(calls)('has mounted $method $path', ({ method, path }) => {
    expect(shop.app.hasRoute({ method, url: path.replace(/(.)\/$/, '$1') })).toBe(true)
  })

  test.each(SPECIFIED_PROBES)('answers at %s', async path => {
    expect((await shop.visitor().fetch(path)).status).toBe(200)
  })

  test('takes every path with and without the trailing slash', async () => {
    const visitor = shop.visitor()
    for (const { method, path } of calls.filter(call => call.access !== 'public')) {
      const bare = path.replace(/\/$/, '').replace(':id', '1')
      for (const url of [bare, `${bare}/`]) expect((await visitor.fetch(url, { method })).status, url).toBe(401)
    }
  })

  test('answers a path that is none with the envelope', async () => {
    expect(await shop.visitor().get('/api/nothing/here')).toMatchObject({ status: 404, code: 404, msg: 'Not found' })
  })
})
