import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { routes } from '@netlet/contract'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { demoRulesProduct } from '../../../../sandbox/src/shopify/catalogue.ts'
import { writeSettings } from '../settings/index.ts'
import { fail, first, rule, startPriceShop, type PriceShop } from './prices.fixture.ts'
import { comparePrices } from './price-drift.ts'

const { catalog } = routes
const RULES = '/api/servers/acls/'

let on: PriceShop
let relay: ReturnType<typeof createServer>
let productId = 0
let ruleId = 0
/** Runs once between the platform's write of a price and its reply. */
let between: (() => Promise<unknown>) | undefined
/** The status of the reply to the next write of a price, which is made in spite of it. */
let failure: number | undefined
/** Writes of prices to the platform. */
let writes = 0

/** Forwards everything to the platform and back. */
async function forward(request: IncomingMessage, reply: ServerResponse): Promise<void> {
  const body = await text(request)
  const headers = Object.entries(request.headers).filter(([name]) => /^(content-type|x-shopify)/.test(name))
  const init = { method: 'POST', headers: headers as [string, string][], body }
  const given = await fetch(`${on.sandbox.url}${request.url}`, init)
  const answer = await given.text()
  let status = given.status
  if (body.includes('productVariantsBulkUpdate')) {
    writes++
    status = failure ?? status
    failure = undefined
    const work = between
    between = undefined
    await work?.()
  }
  reply.writeHead(status, { 'content-type': 'application/json' }).end(answer)
}

beforeAll(async () => {
  on = await startPriceShop()
  relay = createServer((request, reply) => void forward(request, reply).catch(() => reply.destroy()))
  relay.listen(0, '127.0.0.1')
  await once(relay, 'listening')
})
beforeEach(async () => {
  ;({ productId, ruleId } = await on.reset())
  await on.platformPrices({ [rule.variantId]: '0.50' }, demoRulesProduct.id)
  const { port } = relay.address() as AddressInfo
  await writeSettings(on.shop.ctx, { shopify_shop_url: `http://127.0.0.1:${port}` })
  writes = 0
})
afterEach(() => {
  between = undefined
  failure = undefined
})
afterAll(async () => {
  relay?.closeAllConnections()
  relay?.close()
  await on?.close()
})

type Variant = Record<string, unknown> & { server_group: { id: number } | null }
type Product = { version: string; shopify_product_id: string; product_name: string; variants: Variant[] }
type Rule = { id: number; name: string; version: string }

/** An edit of a product or a rule by its form. */
type Edited = {
  form: () => Promise<Record<string, unknown>>
  priced: (form: Record<string, unknown>, price: string) => Record<string, unknown>
  path: () => string
  variant: string
  here: () => Promise<string | undefined>
}

const edited: Record<'product' | 'rule', Edited> = {
  product: {
    async form() {
      const { data } = await on.admin.get<{ data: Product[] }>(`${catalog.products.path}?id=${productId}`)
      const { version, shopify_product_id, product_name, variants } = data.data[0] ?? fail()
      const sent = variants.map(({ server_group, ...variant }) => ({
        ...variant,
        server_group: server_group?.id ?? null
      }))
      return { version, shopify_product_id, product_name, product_desc: 'the same', variants: sent }
    },
    priced: (form, price) => ({
      ...form,
      variants: (form['variants'] as Variant[]).map((one, at) => (at === 0 ? { ...one, variant_price: price } : one))
    }),
    path: () => `${catalog.products.path}${productId}/`,
    variant: first.id,
    here: async () => (await on.pricesHere())[0]
  },
  rule: {
    async form() {
      const { data } = await on.admin.get<{ data: Rule[] }>(`${RULES}?id=${ruleId}`)
      const { id: _id, ...form } = data.data.find(one => one.id === ruleId) ?? fail()
      return form
    },
    priced: (form, price) => ({ ...form, price }),
    path: () => `${RULES}${ruleId}/`,
    variant: rule.variantId,
    here: async () => (await on.ruleHere())?.price
  }
}

describe.each(['product', 'rule'] as const)('a price of a %s', kind => {
  const { form, priced, path, variant, here } = edited[kind]
  const field = kind === 'product' ? 'product_desc' : 'description'

  test('that two save at once is the winner’s, there and here: the other writes none', async () => {
    for (const [one, two] of [
      ['3.10', '3.90'],
      ['4.10', '4.90'],
      ['5.10', '5.90']
    ] as const) {
      const shown = await form()
      writes = 0
      const replies = await Promise.all([one, two].map(price => on.admin.put(path(), priced(shown, price))))
      expect(replies.map(reply => reply.status).toSorted((a, b) => a - b)).toEqual([200, 409])
      const won = replies[0]?.status === 200 ? one : two
      expect([await on.priceThere(variant), await here()]).toEqual([won, won])
      expect(writes).toBe(1)
    }
  })

  test('stays as it was if the row is deleted while the platform is asked', async () => {
    const [shown, before] = [await form(), await on.priceThere(variant)]
    between = async () => expect(await on.admin.delete(path())).toMatchObject({ code: 2000 })
    expect(await on.admin.put(path(), priced(shown, '6.60'))).toMatchObject({ status: 404 })
    expect(await on.priceThere(variant)).toBe(before)
  })

  test('stays as it was if the row is edited while the platform is asked', async () => {
    const [shown, before] = [await form(), await on.priceThere(variant)]
    between = async () =>
      expect(await on.admin.put(path(), { ...shown, [field]: 'another' })).toMatchObject({ code: 2000 })
    expect(await on.admin.put(path(), priced(shown, '6.60'))).toMatchObject({ status: 409 })
    expect([await on.priceThere(variant), await here()]).toEqual([before, before])
  })

  test('stays as it was if the platform fails after it took the price', async () => {
    const [shown, before] = [await form(), await on.priceThere(variant)]
    failure = 500
    expect(await on.admin.put(path(), priced(shown, '6.60'))).toMatchObject({ status: 503 })
    expect([await on.priceThere(variant), await here()]).toEqual([before, before])
  })

  test('that differs is not decided while another one is saved', async () => {
    const prices = { [variant]: '7.00' }
    await (kind === 'product' ? on.platformPrices(prices) : on.platformPrices(prices, demoRulesProduct.id))
    await comparePrices(on.shop.ctx)
    const { id, price } = (await on.drifts())[0] ?? fail()
    const shown = await form()
    let decided: Promise<unknown> | undefined
    between = async () => {
      decided = on.admin.post(`${catalog.priceDrift.path}${id}/write/`, { price, platform_price: '7.00' })
    }
    expect(await on.admin.put(path(), priced(shown, '6.60'))).toMatchObject({ code: 2000 })
    expect(await decided).toMatchObject({ status: 404 })
    expect([await on.priceThere(variant), await here()]).toEqual(['6.60', '6.60'])
  })
})
