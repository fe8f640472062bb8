import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { routes } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { demoRulesProduct } from '../../../../sandbox/src/shopify/catalogue.ts'
import { auditLog } from '../../infra/tables.ts'
import { writeSettings } from '../settings/index.ts'
import { comparePrices } from './price-drift.ts'
import { variants } from './tables.ts'
import { fail, first, rule, second, startPriceShop, type Drift, type PriceShop } from './prices.fixture.ts'

const { catalog } = routes

let shop: PriceShop['shop']
let admin: PriceShop['admin']
let sandbox: PriceShop['sandbox']
let platformPrices: PriceShop['platformPrices']
let priceThere: PriceShop['priceThere']
let pricesHere: PriceShop['pricesHere']
let ruleHere: PriceShop['ruleHere']
let drifts: PriceShop['drifts']
let reset: PriceShop['reset']
let close: PriceShop['close']

beforeAll(async () => {
  ;({ shop, admin, sandbox, platformPrices, priceThere, pricesHere, ruleHere, drifts, reset, close } =
    await startPriceShop())
})
beforeEach(async () => {
  await reset()
})
afterAll(() => close?.())

test('prices that differ are listed with their two ways out', async () => {
  await platformPrices({ [first.id]: '2.75', [second.id]: '9.00' })
  await platformPrices({ [rule.variantId]: '0.60' }, demoRulesProduct.id)
  await comparePrices(shop.ctx)
  const found = await drifts()
  expect(found.toReversed()).toMatchObject([
    { kind: 'variant', price: '2.20', platform_price: '2.75' },
    { kind: 'variant', price: '2.02', platform_price: '9.00' },
    { kind: 'rule', name: rule.name, price: '0.50', platform_price: '0.60' }
  ])
  // Seen again, it keeps its age.
  await comparePrices(shop.ctx)
  expect((await drifts()).map(drift => drift.since)).toEqual(found.map(drift => drift.since))

  const [ofRule, ofSecond, ofFirst] = found as [Drift, Drift, Drift]
  expect(await admin.post(`${catalog.priceDrift.path}${ofFirst.id}/take/`)).toMatchObject({ code: 2000 })
  expect(await pricesHere()).toEqual(['2.75', '2.02'])
  expect(await admin.post(`${catalog.priceDrift.path}${ofSecond.id}/write/`)).toMatchObject({ code: 2000 })
  expect(await priceThere(second.id)).toBe('2.02')
  expect(await admin.post(`${catalog.priceDrift.path}${ofRule.id}/take/`)).toMatchObject({ code: 2000 })
  expect((await ruleHere())?.price).toBe('0.60')
  expect(await drifts()).toEqual([])
  expect(await admin.post(`${catalog.priceDrift.path}${ofRule.id}/take/`)).toMatchObject({ status: 404 })
  const actions = (await shop.ctx.db.select().from(auditLog)).map(entry => entry.action)
  expect(actions).toEqual(expect.arrayContaining(['product.take_price', 'product.write_price', 'acl_rule.take_price']))
  await platformPrices({ [rule.variantId]: '0.50' }, demoRulesProduct.id)
})

test('a price is not decided by what was shown before: another price here or there changes nothing and is shown next', async () => {
  const decide = (id: number, what: 'take' | 'write', shown: object) =>
    admin.post(`${catalog.priceDrift.path}${id}/${what}/`, shown)
  const stale = { code: 409, data: { reason: 'stale' } }
  await platformPrices({ [first.id]: '5.00' })
  await comparePrices(shop.ctx)
  const { id } = (await drifts())[0] ?? fail()
  const shown = { price: '2.20', platform_price: '5.00' }
  await platformPrices({ [first.id]: '0.01' })
  for (const what of ['take', 'write'] as const) expect(await decide(id, what, shown)).toMatchObject(stale)
  expect(await pricesHere()).toEqual(['2.20', '2.02'])
  expect(await priceThere(first.id)).toBe('0.01')
  expect(await drifts()).toMatchObject([{ id, price: '2.20', platform_price: '0.01' }])
  await shop.ctx.db.update(variants).set({ price: '3.00' }).where(eq(variants.platformId, first.id))
  for (const what of ['take', 'write'] as const)
    expect(await decide(id, what, { price: '2.20', platform_price: '0.01' })).toMatchObject(stale)
  expect(await decide(id, 'write', { price: '3.00', platform_price: '0.01' })).toMatchObject({ code: 2000 })
  expect(await priceThere(first.id)).toBe('3.00')
})

test('a price that the platform did not take is there to be decided again', async () => {
  await platformPrices({ [first.id]: '6.00' })
  await comparePrices(shop.ctx)
  const [before] = await drifts()
  // Replies to reads as the platform does, and refuses every write.
  const answer = async (request: IncomingMessage, reply: ServerResponse) => {
    const body = await text(request)
    if (body.includes('mutation')) return reply.writeHead(401).end()
    const headers = Object.entries(request.headers).filter(([name]) => /^(content-type|x-shopify)/.test(name))
    const init = { method: 'POST', headers: headers as [string, string][], body }
    const given = await fetch(`${sandbox.url}${request.url}`, init)
    return reply.writeHead(given.status, { 'content-type': 'application/json' }).end(await given.text())
  }
  const half = createServer((request, reply) => void answer(request, reply))
  half.listen(0, '127.0.0.1')
  await once(half, 'listening')
  await writeSettings(shop.ctx, { shopify_shop_url: `http://127.0.0.1:${(half.address() as AddressInfo).port}` })
  try {
    const reply = await admin.post(`${catalog.priceDrift.path}${before?.id}/write/`)
    expect(reply).toMatchObject({ data: { reason: 'platform_unavailable' } })
  } finally {
    half.closeAllConnections()
    half.close()
  }
  expect(await drifts()).toEqual([before])
})

test.each(['variant', 'rule'] as const)('of two who decide a %s’s price at once, one is refused', async kind => {
  if (kind === 'variant') await platformPrices({ [first.id]: '7.00' })
  else await platformPrices({ [rule.variantId]: '0.70' }, demoRulesProduct.id)
  await comparePrices(shop.ctx)
  const { id, price, platform_price } = (await drifts())[0] ?? fail()
  const replies = await Promise.all(
    ['take', 'write'].map(what => admin.post(`${catalog.priceDrift.path}${id}/${what}/`, { price, platform_price }))
  )
  expect(replies.filter(reply => reply.code === 2000)).toHaveLength(1)
  const [here, there] =
    kind === 'variant'
      ? [(await pricesHere())[0], await priceThere(first.id)]
      : [(await ruleHere())?.price, await priceThere(rule.variantId)]
  expect(here).toBe(there)
  await platformPrices({ [rule.variantId]: '0.50' }, demoRulesProduct.id)
})
