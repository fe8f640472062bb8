import { routes, type Route } from '@netlet/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestShop, type TestShop } from '../testing/shop.ts'
import { describeCalls } from './calls.ts'
import { exampleOf } from './schemas.ts'
import { openApiDocument } from './openapi.ts'

type Operation = {
  operationId: string
  parameters: { name: string; in: string; required: boolean; schema: unknown }[]
  responses: Record<string, unknown>
  security: Record<string, string[]>[]
  tags: string[]
  requestBody?: { content: Record<string, { schema: unknown }> }
}
type Document = {
  openapi: string
  info: { title: string; version: string }
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  components: Record<'schemas' | 'responses' | 'securitySchemes', Record<string, unknown>>
}

const document = JSON.parse(JSON.stringify(openApiDocument('http://shop.example.com'))) as Document
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation }))
)
const { calls, components } = describeCalls()

describe('the OpenAPI document', () => {
  test('has every call of the contract once', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Netlet' } })
    const wanted = calls.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
    expect(operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`).toSorted()).toEqual(
      wanted.toSorted()
    )
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(/^[A-Za-z]\w+$/)
  })

  test('refers only to what is there', () => {
    const text = JSON.stringify(document)
    const refs = [...text.matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)]
    expect(refs.length).toBe(text.split('"$ref":').length - 1)
    for (const [, kind, name] of refs)
      expect(document.components[kind as 'schemas']?.[name ?? ''], `${kind}/${name}`).toBeDefined()
    const schemes = operations.flatMap(({ operation }) => operation.security.flatMap(Object.keys))
    for (const scheme of schemes) expect(document.components.securitySchemes).toHaveProperty(scheme)
    const tags = new Set(document.tags.map(tag => tag.name))
    for (const { operation } of operations) for (const tag of operation.tags) expect(tags).toContain(tag)
  })

  test('names each part of a path as a parameter, and each parameter once', () => {
    for (const { path, operation } of operations) {
      const inPath = operation.parameters.filter(parameter => parameter.in === 'path').map(({ name }) => name)
      expect(inPath, path).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
      const names = operation.parameters.map(({ name, in: where }) => `${where} ${name}`)
      expect(new Set(names).size, path).toBe(names.length)
      for (const { name, in: where, required } of operation.parameters)
        if (where === 'path') expect(required, `${path} ${name}`).toBe(true)
    }
  })

  test('says who may call, and how each kind of call fails', () => {
    const of = (id: string) => operations.find(({ operation }) => operation.operationId === id)?.operation
    expect(of('orders_list')?.security).toEqual([{ session: [] }, { apiKey: [] }])
    expect(of('orders_statistics')?.security).toEqual([{ session: [] }, { apiKey: [] }])
    expect(of('secondFactor_resetSecondFactor')).toMatchObject({
      description: expect.stringContaining('may ask an administrator to confirm the session') as string,
      security: [{ session: [] }]
    })
    expect(of('catalog_products')?.security).toContainEqual({})
    expect(Object.keys(of('accounts_changePassword')?.responses ?? {}).toSorted()).toEqual(
      ['200', '400', '401', '403', '413', '415', 'default'].toSorted()
    )
    expect(of('accounts_discordRedirect')?.responses).toHaveProperty('302')
    for (const { path, operation } of operations) expect(operation.responses, path).toHaveProperty('default')
  })
})

describe('the examples', () => {
  const all = Object.entries(routes).flatMap(([domain, own]) =>
    Object.entries(own as Record<string, Route>).map(([name, route]) => ({ id: `${domain}.${name}`, route }))
  )

  test.each(all)('of $id are valid', ({ id, route }) => {
    const call = calls.find(one => one.id === id)
    for (const part of ['params', 'query', 'body', 'reply'] as const) {
      const schema = call?.[part]
      if (!schema || route[part] === undefined) continue
      const parsed = route[part].safeParse(exampleOf(schema, components))
      expect(parsed.success, `${part}: ${parsed.error?.message}`).toBe(true)
    }
  })
})

describe('on the server', () => {
  let shop: TestShop

  beforeAll(async () => {
    shop = await startTestShop({})
  })
  afterAll(() => shop?.close())

  test('administrators get the page and the document; nobody else does', async () => {
    const [admin, customer] = [await shop.admin(), await shop.customer()]
    for (const path of ['/api/docs', '/api/docs/openapi.json']) {
      expect(await shop.visitor().get(path)).toMatchObject({ status: 401, code: 401 })
      expect(await customer.get(path)).toMatchObject({ status: 403, code: 403 })
      expect((await admin.fetch(path)).headers.get('cache-control')).toBe('no-store')
    }
    expect(await (await admin.fetch('/api/docs/openapi.json')).json()).toEqual(document)
  })

  test('the page shows every call, and needs no script and nothing from elsewhere', async () => {
    const reply = await (await shop.admin()).fetch('/api/docs')
    expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(reply.headers.get('content-security-policy')).toContain("script-src 'self'")
    const html = await reply.text()
    expect(html).not.toMatch(/<script|\son\w+=|<link|<img|url\(|@import/i)
    expect(html).toContain('name="viewport"')
    for (const { id } of calls) expect(html).toContain(`<details id="${id}">`)
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const [, target] of html.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target)
  })
})
