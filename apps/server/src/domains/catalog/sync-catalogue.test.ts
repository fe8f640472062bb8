import { routes, type CatalogPreview, type SyncPart } from '@netlet/contract'
import { and, desc, eq, isNull, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { demoPlans, demoRules, demoRulesProduct } from '../../../../sandbox/src/shopify/catalogue.ts'
import { control, launch, newDataDir, removeDataDir, secrets } from '../../../../sandbox/src/testing/harness.ts'
import type { Sandbox } from '../../../../sandbox/src/sandbox.ts'
import { createRule, deleteRule } from '../inventory/index.ts'
import { aclRules } from '../inventory/tables.ts'
import { writeSettings } from '../settings/index.ts'
import { auditLog } from '../../infra/tables.ts'
import { openCatalogue, type Catalogue } from './calls.fixture.ts'
import { addProduct, addRule } from './products.fixture.ts'
import { readProducts } from './read-platform.ts'
import { takeSnapshot } from './snapshot.ts'
import { syncsOf } from './sync-runs.fixture.ts'
import { products, variants } from './tables.ts'
import { addRow } from '../../testing/rows.ts'

const { catalog } = routes
const admin = 'admin' as const

let app: Catalogue
let syncs: ReturnType<typeof syncsOf>
let sandbox: Sandbox
let dataDir: string
let ruleId: number

const plan = demoPlans[0]
const there = plan?.variants[0]
const rule = demoRules[0]
if (!plan || !there || !rule) throw new Error('the demo catalogue is empty')

beforeAll(async () => {
  app = await openCatalogue()
  syncs = syncsOf(app)
  dataDir = await newDataDir()
  sandbox = await launch(dataDir, 'http://127.0.0.1:9')
  // Tests need not wait for timeouts and limits.
  app.ctx.platformLimits = { timeoutMs: 2000, sleep: async () => {} }
  await writeSettings(app.ctx, {
    shopify_shop_url: sandbox.url,
    shopify_app_key: secrets.accessToken,
    shopify_api_secret: secrets.appSecret
  })
  const made = await app.ctx.db.transaction(tx =>
    createRule(
      { tx, now: app.ctx.now() },
      { name: 'Nike', description: '', price: '0.10', platformVariantId: rule.variantId, aclValue: 'nike.com' }
    )
  )
  if (!made.ok) throw new Error(made.reason)
  ruleId = made.rule.id
}, 60_000)
beforeEach(async () => {
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'none' })
  const { db } = app.ctx
  await db.execute(sql`truncate catalog_syncs, collections, tags, product_collections, product_tags`)
  await db.execute(sql`delete from variants`)
  await db.execute(sql`delete from products`)
  await db.update(aclRules).set({ price: '0.10', valid: true, platformProductId: null, platformUpdatedAt: null })
})
afterAll(async () => {
  await app.close()
  await sandbox.close()
  await removeDataDir(dataDir)
})

/** A plan that the platform sells under another name and price, and one that it does not have. */
async function stock() {
  const ours = await addProduct(app.ctx.db, { platformId: plan?.id ?? '', name: 'Old name' }, [
    { platformId: there?.id ?? '', price: '9.99', name: 'Old / Option', option1: 'Old', option2: 'Option' }
  ])
  const gone = await addProduct(app.ctx.db, { platformId: '99001', name: 'Gone there' }, [{}])
  return { ours, gone }
}
const preview = () => syncs.plan('catalogue')
const sync = ({ id }: { id: number }) => syncs.apply(id)
const last = async () => (await app.call(catalog.lastSync, { as: admin })).data
const undo = (id: number) => app.call(catalog.undoSync, { as: admin, params: { id } })
const part = (shown: CatalogPreview, name: SyncPart) => shown.parts.find(one => one.part === name)
const everything = async () => [...(await takeSnapshot(app.ctx.db))].toSorted(([a], [b]) => a.localeCompare(b))

test('the preview names what would be added, changed and hidden, and does nothing', async () => {
  await stock()
  const before = await everything()
  const shown = await preview()
  expect(part(shown, 'products')?.changes).toEqual(
    expect.arrayContaining([
      { kind: 'updated', name: plan.title, fields: [{ field: 'name', was: 'Old name', is: plan.title }] },
      { kind: 'removed', name: 'Gone there', fields: [] }
    ])
  )
  expect(part(shown, 'prices')).toMatchObject({ created: 0, updated: 2, removed: 0 })
  expect(part(shown, 'prices')?.changes).toContainEqual({
    kind: 'updated',
    name: 'Nike',
    fields: [{ field: 'price', was: '0.10', is: rule.price }]
  })
  expect(part(shown, 'collections')).toMatchObject({ created: 3, updated: 0, removed: 0 })
  expect(part(shown, 'tags')?.changes).toContainEqual({
    kind: 'created',
    name: demoRulesProduct.tag,
    fields: [{ field: 'visibility', was: '', is: 'internal' }]
  })
  expect(shown.internal).toEqual([
    { kind: 'product', name: demoRulesProduct.title, because: [] },
    { kind: 'tag', name: demoRulesProduct.tag, because: [demoRulesProduct.title] }
  ])
  expect(shown.offered).toHaveLength(demoPlans.length - 1)
  expect(shown.products).toBe(1)
  expect(await everything()).toEqual(before)
  expect(await last()).toBeNull()
})

test('what was seen is done as one command, and again there is nothing to do', async () => {
  const { ours, gone } = await stock()
  const shown = await preview()
  const done = await sync(shown)
  const sum = (kind: 'created' | 'updated' | 'removed') => shown.parts.reduce((all, one) => all + one[kind], 0)
  expect(done.counts).toEqual({ created: sum('created'), updated: sum('updated'), removed: sum('removed') })
  const { db } = app.ctx
  expect((await db.select().from(products).where(eq(products.id, ours.id)))[0]).toMatchObject({ name: plan.title })
  expect((await db.select().from(products).where(eq(products.id, gone.id)))[0]).toMatchObject({ valid: false })
  expect((await db.select().from(variants).where(eq(variants.productId, ours.id)))[0]?.price).toBe(there.price)
  expect((await db.select().from(aclRules).where(eq(aclRules.id, ruleId)))[0]?.price).toBe(rule.price)
  const [entry] = await db.select().from(auditLog).orderBy(desc(auditLog.id)).limit(1)
  expect(entry).toMatchObject({ action: 'product.sync', actorName: 'admin' })
  const again = await preview()
  expect(again.parts.map(one => one.changes)).toEqual([[], [], [], []])
  expect(again.products).toBe(0)
})

test('visitors never see the tag of the rules, nor a product that holds rules, while its rule is there', async () => {
  await stock()
  await sync(await preview())
  const named = async (as?: 'admin') =>
    (await app.call(catalog.tags, { ...(as ? { as } : {}), query: { limit: '1000' } })).data.data
  expect((await named('admin')).find(tag => tag.tag_name === demoRulesProduct.tag)).toMatchObject({ is_internal: true })
  expect((await named()).map(tag => tag.tag_name)).not.toContain(demoRulesProduct.tag)
  expect((await named()).map(tag => tag.tag_name)).toContain('Social')
  // Even if only tags are taken over, and if an administrator put the tag on a plan.
  const acl = (await named('admin')).find(tag => tag.tag_name === demoRulesProduct.tag)
  const [ours] = await app.ctx.db
    .select()
    .from(products)
    .where(and(eq(products.platformId, plan.id)))
  await app.ctx.db.execute(sql`insert into product_tags values (${ours?.id}, ${acl?.id})`)
  await app.call(catalog.syncTags, { as: admin })
  const shelf = async () => (await app.call(catalog.products)).data.data
  expect(await shelf()).toHaveLength(1)
  expect((await shelf())[0]?.product_tags.map(tag => tag.tag_name)).not.toContain(demoRulesProduct.tag)
  const holder = await addProduct(app.ctx.db, { platformId: demoRulesProduct.id, name: 'Rules on a shelf' }, [{}])
  await app.call(catalog.updateTag, { as: admin, params: { id: acl?.id ?? 0 }, body: { tag_name: 'acl' } })
  expect((await shelf()).map(product => product.id)).not.toContain(holder.id)
  // Without the rule, tag and product are normal.
  await app.ctx.db.transaction(tx => deleteRule({ tx, now: app.ctx.now() } as never, ruleId))
  await app.call(catalog.updateTag, { as: admin, params: { id: acl?.id ?? 0 }, body: { tag_name: 'acl' } })
  expect((await named()).map(tag => tag.tag_name)).toContain('acl')
  await app.ctx.db.update(aclRules).set({ deletedAt: null }).where(eq(aclRules.id, ruleId))
})

test('a plan that has changed since is refused, and nothing is done', async () => {
  const { ours } = await stock()
  const shown = await preview()
  await app.ctx.db.update(variants).set({ price: '8.88' }).where(eq(variants.productId, ours.id))
  const before = await everything()
  expect(await sync(shown)).toMatchObject({ state: 'failed', reason: 'stale', counts: null })
  expect(await everything()).toEqual(before)
})

test('a later change by the platform, with its event, is not overwritten by older data', async () => {
  const { ours } = await stock()
  const shown = await preview()
  await control(sandbox, 'PATCH', `/products/${plan.id}`, { title: 'Renamed there', silent: true })
  await readProducts(app.ctx)
  expect(await sync(shown)).toMatchObject({ state: 'failed', reason: 'stale' })
  expect((await app.ctx.db.select().from(products).where(eq(products.id, ours.id)))[0]?.name).toBe('Renamed there')
  await control(sandbox, 'PATCH', `/products/${plan.id}`, { title: plan.title, silent: true })
})

test('the last sync is undone but for prices and what is for sale, once', async () => {
  await stock()
  // As after an earlier sync.
  await app.call(catalog.syncCollections, { as: admin })
  const before = await everything()
  await sync(await preview())
  const synced = new Map((await everything()).map(([key, { fields }]) => [key, fields]))
  const done = await last()
  expect(done).toMatchObject({ what: 'catalogue', username: 'admin', undone_at: null, changed: [] })
  expect((await undo(done?.id ?? 0)).code).toBe(2000)
  // Rows that the sync added stay, as deleted; the next one restores them.
  const restored = (await everything()).filter(([key, { fields }]) => !(key.startsWith('tag:') && fields['deleted']))
  const ofPlatform = new Set(['price', 'valid', 'oldFlag'])
  const expected = before.map(([key, one]) => {
    const stays = Object.entries(synced.get(key) ?? {}).filter(([field]) => ofPlatform.has(field))
    return [key, { ...one, fields: { ...one.fields, ...Object.fromEntries(stays) } }]
  })
  expect(expected).not.toEqual(before)
  expect(restored).toEqual(expected)
  expect(await undo(done?.id ?? 0)).toMatchObject({ status: 409, data: { reason: 'stale' } })
  expect(await last()).toMatchObject({ undone_at: expect.any(String) })
  expect(part(await preview(), 'tags')?.created).toBeGreaterThan(0)
})

test('what the platform does not sell stays withdrawn after an undo: a product, its rules, a variant', async () => {
  const { db } = app.ctx
  const { ours, gone } = await stock()
  const lost = await addRow(app.ctx, variants, {
    productId: ours.id,
    platformId: '9900102',
    name: 'Lost',
    option1: 'Lost',
    price: '1.00'
  })
  const lostRule = await addRule(db, '0.10', 'lost.example')
  await db.update(aclRules).set({ platformProductId: gone.platformId }).where(eq(aclRules.id, lostRule))
  await sync(await preview())
  const sold = async () => ({
    product: (await db.select().from(products).where(eq(products.id, gone.id)))[0]?.valid,
    rule: (await db.select().from(aclRules).where(eq(aclRules.id, lostRule)))[0]?.valid,
    variant: (await db.select().from(variants).where(eq(variants.id, lost.id)))[0]?.isActive,
    variantGone: (await db.select().from(variants).where(eq(variants.id, lost.id)))[0]?.deletedAt !== null
  })
  const withdrawn = { product: false, rule: false, variant: false, variantGone: true }
  expect(await sold()).toEqual(withdrawn)
  // A later withdrawal by the platform does not prevent the undo, and stays.
  await db.update(products).set({ valid: false }).where(eq(products.id, ours.id))
  expect((await undo((await last())?.id ?? 0)).code).toBe(2000)
  expect(await sold()).toEqual(withdrawn)
  const [product] = await db.select().from(products).where(eq(products.id, ours.id))
  expect(product).toMatchObject({ name: 'Old name', valid: false, oldFlag: true })
})

test('a variant that was added while a sync ran keeps its options when that is undone', async () => {
  const { db } = app.ctx
  const { ours } = await stock()
  await sync(await preview())
  const done = await last()
  const options = { name: 'Tokyo / New', option1: 'Tokyo', option2: 'New' }
  const added = { productId: ours.id, platformId: '9900103', price: '1.00', ...options }
  const variant = await addRow(app.ctx, variants, added)
  const key = `variant:${variant.id}`
  // In the sync's record it exists after the sync, but not before.
  const one = (await takeSnapshot(db)).get(key)
  const touched = JSON.stringify([{ key, name: one?.name, before: null, after: one?.fields }])
  await db.execute(sql`update catalog_syncs set touched = touched || ${touched}::jsonb where id = ${done?.id}`)
  expect((await undo(done?.id ?? 0)).code).toBe(2000)
  const now = await db.select().from(variants).where(eq(variants.productId, ours.id)).orderBy(variants.id)
  expect(now).toMatchObject([{ option1: 'Old', option2: 'Option' }, options])
})

test('what changed since a sync keeps it from being undone, and is named', async () => {
  const { ours } = await stock()
  await sync(await preview())
  const done = await last()
  await app.ctx.db.update(variants).set({ isActive: false }).where(eq(variants.productId, ours.id))
  const before = await everything()
  const refused = await undo(done?.id ?? 0)
  expect(refused).toMatchObject({ status: 409, data: { reason: 'sync_changed' } })
  expect(refused.msg).toContain(plan.title)
  expect((await last())?.changed[0]).toContain(plan.title)
  expect(await everything()).toEqual(before)
  // A later price of the platform stays and does not prevent the undo.
  await app.ctx.db.update(variants).set({ price: '7.77', isActive: true }).where(eq(variants.productId, ours.id))
  expect((await undo(done?.id ?? 0)).code).toBe(2000)
  const [variant] = await app.ctx.db.select().from(variants).where(eq(variants.productId, ours.id))
  expect(variant?.price).toBe('7.77')
})

test('taking the tags alone can be undone too, and an earlier sync then not', async () => {
  await stock()
  await sync(await preview())
  const first = await last()
  await control(sandbox, 'PATCH', `/products/${plan.id}`, { tags: ['Brand new'], silent: true })
  await app.call(catalog.syncTags, { as: admin })
  const second = await last()
  expect(second).toMatchObject({ what: 'tags', created: 1 })
  expect((await undo(first?.id ?? 0)).status).toBe(409)
  expect((await undo(second?.id ?? 0)).code).toBe(2000)
  await control(sandbox, 'PATCH', `/products/${plan.id}`, { tags: [...plan.tags], silent: true })
})

test.each(['error500', 'half', 'throttled'])(
  '%s: a sync that reads says what the platform did, and leaves nothing; one that was read needs it no more',
  async kind => {
    await stock()
    const before = await everything()
    // A limited call is retried, so all of its tries must meet the fault.
    const next = kind === 'throttled' ? 100 : 1
    for (const after of [0, 3]) {
      await control(sandbox, 'POST', '/graphql/faults', { kind, after, next })
      const failed = await syncs.start('catalogue')
      expect(failed).toMatchObject({ state: 'failed', reason: 'platform_unavailable' })
      expect(failed.msg).toMatch(/^The e-commerce platform could not do this: .+/)
      await control(sandbox, 'POST', '/graphql/faults', { kind: 'none' })
    }
    expect(await everything()).toEqual(before)
    expect(await app.ctx.db.$count(products, isNull(products.deletedAt))).toBe(2)
    const shown = await preview()
    await control(sandbox, 'POST', '/graphql/faults', { kind, next: 100 })
    expect(await sync(shown)).toMatchObject({ state: 'applied' })
  }
)
