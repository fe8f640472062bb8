import { createHmac } from 'node:crypto'
import { routes } from '@netlet/contract'
import { eq, inArray, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { auditLog } from '../../infra/tables.ts'
import { platformEvents } from '../commerce/tables.ts'
import { syncRules } from '../inventory/index.ts'
import { aclRules } from '../inventory/tables.ts'
import { writeSettings } from '../settings/index.ts'
import { openCatalogue, type Catalogue } from './calls.fixture.ts'
import { addProduct, addRule } from './products.fixture.ts'
import { products, variants } from './tables.ts'

const SECRET = 'secret of the tests'
let app: Catalogue
let serial = 0

beforeAll(async () => {
  app = await openCatalogue()
  await writeSettings(app.ctx, { shopify_api_secret: SECRET })
})

afterAll(() => app.close())

type Delivery = { topic: string; webhookId?: string; secret?: string; signature?: string }

async function deliver(payload: unknown, { topic, webhookId, secret = SECRET, signature }: Delivery) {
  const body = JSON.stringify(payload)
  serial++
  const id = webhookId ?? `delivery-${serial}`
  const reply = await app.call(routes.orders.productWebhook, {
    body,
    headers: {
      'x-shopify-topic': topic,
      'x-shopify-webhook-id': id,
      // That of one action, of which all are reported.
      'x-shopify-event-id': 'one action',
      'x-shopify-hmac-sha256': signature ?? createHmac('sha256', secret).update(body).digest('base64')
    }
  })
  return { reply, id: `${topic} ${id}` }
}

const eventOf = async (id: string) => {
  const [event] = await app.ctx.db.select().from(platformEvents).where(eq(platformEvents.eventId, id))
  return event
}

/** Delivers an event and waits until its job has handled it. */
async function settle(payload: unknown, delivery: Delivery): Promise<string | null> {
  const { reply, id } = await deliver(payload, delivery)
  expect(reply.status).toBe(200)
  await app.drain()
  const event = await eventOf(id)
  expect(event?.processedAt).toBeInstanceOf(Date)
  return event?.outcome ?? null
}

async function soldProduct() {
  serial++
  const known = new Date('2026-05-01T10:00:00Z')
  const product = await addProduct(
    app.ctx.db,
    { platformId: String(8_100_000 + serial), name: 'Before', platformUpdatedAt: known },
    [
      { platformId: `${8_200_000 + serial}1`, option1: 'London' },
      { platformId: `${8_200_000 + serial}2`, option1: 'Tokyo' }
    ]
  )
  const [a, b] = product.variants
  if (!a || !b) throw new Error('no variants')
  const payload = (change: Record<string, unknown> = {}) => ({
    id: Number(product.platformId),
    admin_graphql_api_id: `gid://shopify/Product/${product.platformId}`,
    title: 'After',
    status: 'active',
    tags: 'Social, SEO',
    updated_at: '2026-05-01T12:00:00+02:00',
    variants: [
      { id: Number(a.platformId), title: 'Tokyo', price: '3.5', position: 1, option1: 'Tokyo' },
      { id: Number(b.platformId), title: 'London', price: '4.00', position: 2, option1: 'London' }
    ],
    ...change
  })
  const read = async () => {
    const [row] = await app.ctx.db.select().from(products).where(eq(products.id, product.id))
    const rows = await app.ctx.db.select().from(variants).where(eq(variants.productId, product.id)).orderBy(variants.id)
    return { product: row, variants: rows }
  }
  return { product, payload, read }
}

test('an update refreshes names and prices, also where variants swapped their options', async () => {
  const { payload, read } = await soldProduct()
  expect(await settle(payload(), { topic: 'products/update' })).toBe('applied')
  const now = await read()
  expect(now.product).toMatchObject({ name: 'After', valid: true, oldFlag: false })
  expect(now.variants.map(row => [row.option1, row.name, row.price])).toEqual([
    ['Tokyo', 'Tokyo', '3.50'],
    ['London', 'London', '4.00']
  ])
})

test('a late update that is older than what is known changes nothing', async () => {
  const { payload, read } = await soldProduct()
  const before = await read()
  const old = payload({ updated_at: '2026-04-30T10:00:00Z' })
  expect(await settle(old, { topic: 'products/update' })).toBe('ignored')
  expect(await read()).toEqual(before)
})

test('variants that came or went are flagged for an administrator; what went is not sold', async () => {
  const { payload, read } = await soldProduct()
  const [first] = payload().variants
  await settle(payload({ variants: [first] }), { topic: 'products/update' })
  const now = await read()
  expect(now.product?.oldFlag).toBe(true)
  expect(now.variants.map(row => [row.isActive, row.option1, row.deletedAt !== null])).toEqual([
    [true, 'Tokyo', false],
    [false, 'Tokyo', true]
  ])
  // A later event does not clear the flag, and one without a change is not audited.
  const entries = () => app.ctx.db.$count(auditLog, eq(auditLog.action, 'product.follow'))
  const before = await entries()
  await settle(payload({ variants: [first] }), { topic: 'products/update' })
  expect((await read()).product?.oldFlag).toBe(true)
  expect(await entries()).toBe(before)
})

test.each([
  ['tells the ids of all', (ids: string[]) => ids, []],
  ['tells no ids', () => null, []],
  ['tells the ids of some', (ids: string[]) => ids.slice(0, 110), Array.from({ length: 10 }, (_, at) => 110 + at)]
])('an event that describes 100 of 120 variants and %s', async (_, tell, expected) => {
  serial++
  const { db } = app.ctx
  const plans = Array.from({ length: 120 }, (_, at) => ({
    platformId: `${8_200_000 + serial}${at}`,
    option1: `Plan ${at}`
  }))
  const { id, platformId } = await addProduct(db, { platformId: String(8_100_000 + serial) }, plans)
  const gids = tell(plans.map(plan => `gid://shopify/ProductVariant/${plan.platformId}`))
  const told = {
    id: Number(platformId),
    title: 'Many',
    status: 'active',
    tags: '',
    updated_at: app.ctx.now().toISOString(),
    variants: plans.slice(0, 100).map((plan, at) => ({
      id: Number(plan.platformId),
      title: plan.option1,
      option1: plan.option1,
      price: '1.00',
      position: at + 1
    })),
    ...(gids
      ? { variant_gids: gids.map(gid => ({ admin_graphql_api_id: gid, updated_at: '2026-05-01T10:00:00Z' })) }
      : {})
  }
  expect(await settle(told, { topic: 'products/update' })).toBe('applied')
  const rows = await db.select().from(variants).where(eq(variants.productId, id)).orderBy(variants.id)
  expect(rows.flatMap(({ deletedAt }, at) => (deletedAt ? [at] : []))).toEqual(expected)
  // The platform is not asked again about products that the shop does not sell, nor after an outdated event.
  const again = sql`select 1 from pgboss.job where name = 'read-platform-product'`
  const { length } = (await db.execute(again)).rows
  expect(await settle({ ...told, id: 2 }, { topic: 'products/update' })).toBe('not_sold')
  expect(await settle({ ...told, updated_at: '2026-01-01T10:00:00Z' }, { topic: 'products/update' })).toBe('ignored')
  expect((await db.execute(again)).rows).toHaveLength(length)
})

test('a product withdrawn on the platform is not valid here; published again, it is', async () => {
  const { payload, product, read } = await soldProduct()
  await settle(payload({ status: 'draft' }), { topic: 'products/update' })
  expect((await read()).product?.valid).toBe(false)
  await settle(payload(), { topic: 'products/update' })
  expect((await read()).product?.valid).toBe(true)
  expect(await settle({ id: Number(product.platformId) }, { topic: 'products/delete' })).toBe('withdrawn')
  expect((await read()).product?.valid).toBe(false)
})

test('later events and earlier readings of a deleted product restore neither it nor its rules', async () => {
  const { payload, product, read } = await soldProduct()
  const { db } = app.ctx
  const ruleIds = [await addRule(db, '0.10', 'named.example'), await addRule(db, '0.10', 'unnamed.example')]
  const rules = () => db.select().from(aclRules).where(inArray(aclRules.id, ruleIds)).orderBy(aclRules.id)
  const ofRule = ({ platformVariantId }: { platformVariantId: string }) => ({
    id: Number(platformVariantId),
    title: 'Rule',
    price: '0.10',
    position: 3
  })
  const late = (at: string, ...told: Awaited<ReturnType<typeof rules>>) =>
    payload({ updated_at: at, variants: [...payload().variants, ...told.map(ofRule)] })
  const [named, unnamed] = await rules()
  if (!named || !unnamed) throw new Error('no rules')
  await settle(late('2026-05-01T11:00:00Z', named), { topic: 'products/update' })
  expect(await settle({ id: Number(product.platformId) }, { topic: 'products/delete' })).toBe('withdrawn')
  expect(await settle({ id: Number(product.platformId) }, { topic: 'products/delete' })).toBe('withdrawn')
  // Later than all data here, and the first event about the second rule.
  expect(await settle(late('2026-05-01T12:00:00Z', named, unnamed), { topic: 'products/update' })).toBe('ignored')
  expect((await read()).product).toMatchObject({ name: 'After', valid: false })
  expect((await rules()).map(rule => rule.valid)).toEqual([false, false])
  // Prices that were read just before the deletion and followed after it.
  const price = {
    price: '0.20',
    productId: product.platformId,
    forSale: true,
    unpublished: false,
    subscriptionOnly: null,
    stock: null,
    shipped: null,
    updatedAt: app.ctx.now()
  }
  await command(app.ctx, SYSTEM, unit => syncRules(unit, new Map([[named.platformVariantId, price]])))
  expect((await rules())[0]).toMatchObject({ price: '0.10', valid: false })
})

test('an event delivered ten times is noted and applied once', async () => {
  const { payload, product, read } = await soldProduct()
  const webhookId = `the same ${product.platformId}`
  const replies = await Promise.all(
    Array.from({ length: 10 }, () => deliver(payload(), { topic: 'products/update', webhookId }))
  )
  expect(replies.map(({ reply }) => reply.status)).toEqual(replies.map(() => 200))
  await settle(payload(), { topic: 'products/update', webhookId })
  const applied = await read()
  const second = await deliver(payload({ title: 'Too late' }), { topic: 'products/update', webhookId })
  expect(second.reply.status).toBe(200)
  expect(await read()).toEqual(applied)
})

test('two plans that a merchant archives at once are both off sale', async () => {
  const archived = [await soldProduct(), await soldProduct()]
  for (const { payload } of archived) await deliver(payload({ status: 'archived' }), { topic: 'products/update' })
  await app.drain()
  expect((await Promise.all(archived.map(({ read }) => read()))).map(({ product }) => product?.valid)).toEqual([
    false,
    false
  ])
})

test('an action that the platform reports under way and at its end leaves its end', async () => {
  const { payload, read } = await soldProduct()
  await deliver(payload({ title: 'Under way' }), { topic: 'products/update' })
  await deliver(payload({ title: 'Ended', updated_at: '2026-05-01T12:00:02+02:00' }), { topic: 'products/update' })
  await app.drain()
  expect((await read()).product?.name).toBe('Ended')
})

test('one event told under two topics is two things to do', async () => {
  const { payload, product, read } = await soldProduct()
  const webhookId = `both ${product.platformId}`
  expect(await settle(payload(), { topic: 'products/create', webhookId })).toBe('ignored')
  expect(await settle(payload({ title: 'Renamed' }), { topic: 'products/update', webhookId })).toBe('applied')
  expect((await read()).product?.name).toBe('Renamed')
})

test('products that the shop does not sell, new ones and bodies out of shape do no harm', async () => {
  const { payload } = await soldProduct()
  const strange = { ...payload(), id: 1, admin_graphql_api_id: 'gid://shopify/Product/1' }
  expect(await settle(strange, { topic: 'products/update' })).toBe('not_sold')
  expect(await settle({ id: 1 }, { topic: 'products/delete' })).toBe('not_sold')
  expect(await settle(strange, { topic: 'products/create' })).toBe('ignored')
  expect(await settle({ id: [] }, { topic: 'products/update' })).toBe('unreadable')
})

test('a wrong signature or a missing id is refused and leaves no trace', async () => {
  const { payload } = await soldProduct()
  for (const wrong of [{ secret: 'another' }, { signature: '' }, { signature: 'AAAA' }]) {
    const { reply, id } = await deliver(payload(), { topic: 'products/update', ...wrong })
    expect(reply).toMatchObject({ status: 401, msg: 'The signature does not match' })
    expect(await eventOf(id)).toBeUndefined()
  }
  const { reply } = await deliver(payload(), { topic: 'orders/paid' })
  expect(reply.status).toBe(400)
})
