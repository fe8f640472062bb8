import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { routes, type Reference, type Route } from '@netlet/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestShop, TEST_PASSWORD, type TestShop } from '../testing/shop.ts'
import { customerDocument, customerReference } from './customer.ts'

type Operation = { operationId: string; security: Record<string, string[]>[]; responses: Record<string, unknown> }
type Document = {
  paths: Record<string, Record<string, Operation>>
  tags: { name: string }[]
  components: Record<string, Record<string, unknown>>
}

const SHOP_URL = 'http://shop.example.com'
const text = JSON.stringify(customerDocument(SHOP_URL))
const document = JSON.parse(text) as Document
const reference = customerReference(SHOP_URL)
const call = (id: string) => {
  const found = reference.calls.find(one => one.id === id)
  if (!found) throw new Error(`${id} is not in the reference`)
  return found
}

describe('the document for customers', () => {
  test('has what a key may call, each with its scope, and nothing else', () => {
    const wanted = Object.values(routes)
      .flatMap(own => Object.values(own) as Route[])
      .filter(route => route.scope)
      .map(({ method, path, scope }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')} ${scope}`)
    expect(wanted.length).toBeGreaterThan(15)
    const found = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { security }]) => {
        expect(security).toHaveLength(1)
        return `${method.toUpperCase()} ${path} ${security[0]?.['apiKey']?.join()}`
      })
    )
    expect(found.toSorted()).toEqual(wanted.toSorted())
    expect(reference.calls.map(({ method, path, scope }) => `${method} ${path} ${scope}`).toSorted()).toEqual(
      wanted.toSorted()
    )
  })

  test('speaks of no administrator, and of no shape that these calls do not use', () => {
    expect(text).not.toMatch(/administrator|console\.use|ServerForm|SettingsForm|"session":|"name":"user_id"/)
    const refs = new Set([...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name))
    expect([...refs].toSorted()).toEqual(Object.keys(document.components['schemas'] ?? {}).toSorted())
    for (const [, name = ''] of text.matchAll(/"#\/components\/responses\/(\w+)"/g))
      expect(document.components['responses'], name).toHaveProperty(name)
    for (const methods of Object.values(document.paths))
      for (const { responses } of Object.values(methods)) expect(responses).toHaveProperty('429')
  })
})

describe('the reference', () => {
  test('says in a notation without words what a call takes', () => {
    const { query, path_fields: inPath } = call('orders_proxyDetail')
    expect(inPath).toEqual([{ name: 'id', type: 'integer', required: true }])
    expect(query).toContainEqual({ name: 'limit', type: 'integer', required: false })
    expect(query).toContainEqual({ name: 'format', type: '"json" | "csv"', required: false })
    expect(call('orders_renewMany').body).toEqual([{ name: 'order_ids', type: 'integer[] 1..50', required: true }])
    expect(call('orders_traffic').query).toContainEqual({ name: 'last', type: 'integer 1..731 = 48', required: false })
    expect(call('orders_list').reply.map(({ name }) => name)).toContain('data[].order_id')
    expect(call('webhooks_endpoints').reply.map(({ name }) => name)).toContain('[].url')
    expect(call('orders_exportProxies').reveals).toBe(true)
    expect(call('orders_list').reveals).toBe(false)
  })

  test('is worded as the page words it, in English', () => {
    const words = JSON.parse(
      readFileSync(new URL('../../../web/src/i18n/reference.en.json', import.meta.url), 'utf8')
    ) as Record<string, string>
    const worded = Object.entries(words).filter(([key]) => key.startsWith('call.'))
    const told = reference.calls.map(({ id, summary }) => [`call.${id}`, summary])
    expect(Object.fromEntries(worded)).toEqual(Object.fromEntries(told))
  })

  test('shows each call in three languages', () => {
    const { curl, python } = call('webhooks_createEndpoint').samples
    expect(curl).toMatch(/^curl \\\n {2}-X POST \\\n {2}-H "Authorization: Bearer \$API_KEY" \\\n/)
    expect(curl).toContain(`-d '{"`)
    expect(curl).toContain(`"${SHOP_URL}/api/webhooks/endpoints/"`)
    expect(python).toContain('method="POST"')
    expect(python).not.toMatch(/\b(true|false|null)\b/)
    expect(call('orders_list').samples.curl).toBe(
      `curl \\\n  -H "Authorization: Bearer $API_KEY" \\\n  "${SHOP_URL}/api/orders/order_list/?limit=10"`
    )
  })
})

describe('on the server', () => {
  let shop: TestShop
  beforeAll(async () => {
    shop = await startTestShop({})
  })
  afterAll(() => shop?.close())

  test('anybody reads both', async () => {
    const reply = await shop.visitor().fetch('/api/docs/customer.json')
    expect(reply.status).toBe(200)
    expect(await reply.json()).toEqual(document)
    const { data } = await shop.visitor().get<Reference>('/api/docs/reference/')
    expect(data).toEqual(JSON.parse(JSON.stringify(reference)))
  })

  test('the sample for Node works as it is, and says what is refused', async () => {
    const customer = await shop.customer()
    const key = await customer.post<{ key: string }>('/api/users/api_keys/', {
      name: 'sample',
      scopes: ['read'],
      password: TEST_PASSWORD
    })
    const { samples } = customerReference(shop.url).calls.find(({ id }) => id === 'accounts_currentUser') ?? call('')
    const run = (secret: string) =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', samples.node], {
        env: { ...process.env, API_KEY: secret }
      })
    expect((await run(key.data.key)).stdout).toContain(customer.user.email)
    await expect(run('nlk_wrong')).rejects.toThrow(/Please log in|API key/)
  })
})
