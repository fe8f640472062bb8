import { routes } from '@netlet/contract'
import { and, desc, eq, isNull, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { auditLog } from '../../infra/tables.ts'
import { openCatalogue, type Catalogue } from './calls.fixture.ts'
import { startPlatform, type Platform } from './platform.fixture.ts'
import { addProduct } from './products.fixture.ts'
import { syncsOf } from './sync-runs.fixture.ts'
import { collections, productCollections, productTags, tags } from './tables.ts'
import { addRow } from '../../testing/rows.ts'

const { catalog } = routes
const admin = 'admin' as const

let app: Catalogue
let platform: Platform
let syncs: ReturnType<typeof syncsOf>

beforeAll(async () => {
  app = await openCatalogue()
  syncs = syncsOf(app)
  platform = await startPlatform(app.ctx)
})

beforeEach(() => platform.connect())

afterAll(async () => {
  await app.close()
  await platform.close()
})

const lastAudit = async () => {
  const [entry] = await app.ctx.db.select().from(auditLog).orderBy(desc(auditLog.id)).limit(1)
  return entry
}

test('a sync takes collections and tags over; again, it finds nothing to do', async () => {
  const { db } = app.ctx
  expect((await app.call(catalog.syncCollections, { as: admin })).data).toMatchObject({ updated: 0, removed: 0 })
  expect((await app.call(catalog.syncTags, { as: admin })).data).toMatchObject({ updated: 0, removed: 0 })
  expect(await lastAudit()).toMatchObject({ actorName: 'admin', action: 'tag.sync' })
  const state = async () => ({
    collections: await db.select().from(collections).orderBy(collections.id),
    tags: await db.select().from(tags).orderBy(tags.id),
    members: await db.select().from(productCollections).orderBy(productCollections.productId),
    tagged: await db.select().from(productTags).orderBy(productTags.productId, productTags.tagId)
  })
  const before = await state()
  expect(before.collections.length).toBeGreaterThan(0)
  expect(before.tags.length).toBeGreaterThan(0)
  const nothing = { created: 0, updated: 0, removed: 0 }
  expect((await app.call(catalog.syncCollections, { as: admin })).data).toEqual(nothing)
  expect((await app.call(catalog.syncTags, { as: admin })).data).toEqual(nothing)
  expect(await state()).toEqual(before)
})

test('what an administrator wrote survives a sync; what the platform dropped goes, what was deleted here returns', async () => {
  const { db } = app.ctx
  await app.call(catalog.syncCollections, { as: admin })
  await app.call(catalog.syncTags, { as: admin })
  const [first, second] = await db.select().from(collections).where(isNull(collections.deletedAt))
  const [tag, other] = await db.select().from(tags).where(isNull(tags.deletedAt))
  if (!first || !second || !tag || !other) throw new Error('nothing was taken over')
  const renamed = { collection_name: 'Our own name', collection_desc: 'Our own words' }
  const edited = await app.call(catalog.updateCollection, { as: admin, params: { id: first.id }, body: renamed })
  expect(edited.data).toMatchObject(renamed)
  const body = { tag_name: 'Our own tag', tag_desc: 'Our own words' }
  expect((await app.call(catalog.updateTag, { as: admin, params: { id: tag.id }, body })).data).toMatchObject(body)
  await app.call(catalog.deleteCollection, { as: admin, params: { id: second.id } })
  await addRow(app.ctx, collections, { platformId: '424242', name: 'Not on the platform' })
  await addRow(app.ctx, tags, { platformName: 'not on the platform', name: 'not on the platform' })

  const synced = await app.call(catalog.syncCollections, { as: admin })
  expect(synced.data).toEqual({ created: 1, updated: 0, removed: 1 })
  expect((await app.call(catalog.syncTags, { as: admin })).data).toEqual({ created: 0, updated: 0, removed: 1 })
  const listed = (await app.call(catalog.collections, { as: admin, query: { limit: '100' } })).data.data
  expect(listed.find(one => one.id === first.id)).toMatchObject(renamed)
  expect(listed.some(one => one.id === second.id)).toBe(true)
  expect(listed.some(one => one.collection_name === 'Not on the platform')).toBe(false)
  const tagsNow = (await app.call(catalog.tags, { query: { limit: '100' } })).data.data
  expect(tagsNow).toContainEqual({ id: tag.id, ...body, is_internal: false, version: expect.any(String) as unknown })

  const taken = { tag_name: other.name.toUpperCase(), tag_desc: '' }
  const refused = await app.call(catalog.updateTag, { as: admin, params: { id: tag.id }, body: taken })
  expect(refused).toMatchObject({ status: 409, msg: 'This name is already in use' })
})

test('a preview says what a sync would do and does nothing; the sync does that, or is refused', async () => {
  const { db } = app.ctx
  await app.call(catalog.syncCollections, { as: admin })
  await app.call(catalog.syncTags, { as: admin })
  const none = { created: 0, updated: 0, removed: 0, products: 0, changes: [] }
  expect(await syncs.plan('collections')).toMatchObject(none)
  expect(await syncs.plan('tags')).toMatchObject(none)
  const [collection] = await db
    .select()
    .from(collections)
    .where(and(isNull(collections.deletedAt), isNull(collections.editedAt)))
  const [tag] = await db.select().from(tags).where(isNull(tags.deletedAt))
  if (!collection || !tag) throw new Error('nothing was taken over')
  await db.update(collections).set({ name: 'Behind' }).where(eq(collections.id, collection.id))
  const dropped = await addRow(app.ctx, collections, { platformId: '626262', name: 'Dropped there' })
  // One product loses its collection, another gets its tag back, although the platform knows neither.
  const inDropped = await addProduct(db, {}, [{}], { collectionIds: [dropped.id] })
  const tagged = await addProduct(db, {}, [{}], { tagIds: [tag.id] })
  await app.call(catalog.deleteTag, { as: admin, params: { id: tag.id } })
  const state = async () => ({
    collections: await db.select().from(collections).orderBy(collections.id),
    tags: await db.select().from(tags).orderBy(tags.id)
  })
  const before = await state()

  const plan = await syncs.plan('collections')
  expect(plan).toMatchObject({ created: 0, updated: 1, removed: 1, products: 1 })
  expect(plan.changes).toEqual([
    { kind: 'updated', name: collection.name, fields: [{ field: 'name', was: 'Behind', is: collection.name }] },
    { kind: 'removed', name: 'Dropped there', fields: [] }
  ])
  const ofTags = await syncs.plan('tags')
  expect(ofTags.products).toBe(1)
  expect(ofTags.changes).toEqual([{ kind: 'created', name: tag.platformName, fields: [] }])
  expect(await state()).toEqual(before)

  // A concurrent edit makes the sync differ from the plan.
  await db.update(collections).set({ name: 'Further behind' }).where(eq(collections.id, collection.id))
  expect(await syncs.apply(plan.id)).toMatchObject({ state: 'failed', reason: 'stale' })
  const again = await syncs.plan('collections')
  const counts = { created: 0, updated: 1, removed: 1 }
  expect(await syncs.apply(again.id)).toMatchObject({ state: 'applied', username: 'admin', counts })
  expect(await lastAudit()).toMatchObject({ actorName: 'admin', action: 'collection.sync', after: counts })
  expect(await syncs.apply(ofTags.id)).toMatchObject({
    state: 'applied',
    counts: { created: 1, updated: 0, removed: 0 }
  })
  expect(await syncs.plan('collections')).toMatchObject(none)
  expect(await syncs.plan('tags')).toMatchObject(none)
  for (const { id } of [inDropped, tagged]) await app.call(catalog.deleteProduct, { as: admin, params: { id } })
})

test('a preview of a platform that fails says so', async () => {
  await platform.connect('http://127.0.0.1:9')
  for (const what of ['collections', 'tags'] as const)
    expect(await syncs.start(what)).toMatchObject({ state: 'failed', reason: 'platform_unavailable' })
  expect((await app.call(catalog.syncCollections, { as: admin })).status).toBe(503)
  expect((await app.call(catalog.syncTags, { as: admin })).status).toBe(503)
})

test('an edit that is refused after it has written leaves nothing', async () => {
  const { db } = app.ctx
  const made = await addRow(app.ctx, collections, { platformId: '515151', name: 'Before' })
  const entries = await db.$count(auditLog)
  // The row disappears before the command reads its own write.
  await db.execute(sql`create function vanish() returns trigger language plpgsql as $$ begin
    delete from collections where id = new.id; return null; end $$`)
  await db.execute(sql`create trigger vanish after update on collections for each row execute function vanish()`)
  try {
    const body = { collection_name: 'After', collection_desc: 'Text' }
    const refused = await app.call(catalog.updateCollection, { as: admin, params: { id: made.id }, body })
    expect(refused.status).toBe(404)
  } finally {
    await db.execute(sql`drop function vanish cascade`)
  }
  const [row] = await db.select().from(collections).where(eq(collections.id, made.id))
  expect(row).toEqual(made)
  expect(await db.$count(auditLog)).toBe(entries)
  await db.delete(collections).where(eq(collections.id, made.id))
})

test('names of collections and tags are required; what is gone is not found', async () => {
  const params = { id: 424_242 }
  const empty = { collection_name: ' ', collection_desc: '' }
  expect(await app.call(catalog.updateCollection, { as: admin, params, body: empty })).toMatchObject({
    status: 400,
    msg: 'Please enter the collection name'
  })
  expect(await app.call(catalog.updateTag, { as: admin, params, body: { tag_name: '' } })).toMatchObject({
    status: 400,
    msg: 'Please enter the tag name'
  })
  const gone = [
    await app.call(catalog.updateCollection, { as: admin, params, body: { collection_name: 'x' } }),
    await app.call(catalog.deleteCollection, { as: admin, params }),
    await app.call(catalog.updateTag, { as: admin, params, body: { tag_name: 'x' } }),
    await app.call(catalog.deleteTag, { as: admin, params }),
    await app.call(catalog.deleteProduct, { as: admin, params })
  ]
  expect(gone.map(reply => reply.status)).toEqual([404, 404, 404, 404, 404])
})
