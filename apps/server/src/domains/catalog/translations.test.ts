import { routes, type BodyOf } from '@netlet/contract'
import { desc, eq, isNull } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditLog } from '../../infra/tables.ts'
import { aclRules } from '../inventory/tables.ts'
import { openCatalogue, type Catalogue } from './calls.fixture.ts'
import { startPlatform, type Platform } from './platform.fixture.ts'
import { addCollection, addGroup, addProduct, addRule, addTag } from './products.fixture.ts'
import { collections, products, tags, variants } from './tables.ts'

const { catalog } = routes
const admin = 'admin' as const
const HOSTILE = `</script><img src=x onerror=alert(1)>"' {{7*7}} ‮ \\u0000 %s`

let app: Catalogue
let platform: Platform
let groupId: number

beforeAll(async () => {
  app = await openCatalogue()
  platform = await startPlatform(app.ctx)
  ;({ groupId } = await addGroup(app.ctx.db, [{ cidr: '10.9.0.0/28' }]))
})

afterAll(async () => {
  await app.close()
  await platform.close()
})

const lastAudit = async () => {
  const [entry] = await app.ctx.db.select().from(auditLog).orderBy(desc(auditLog.id)).limit(1)
  return entry
}

type TagBody = BodyOf<typeof catalog.updateTag>
const saveTag = (id: number, body: TagBody) => app.call(catalog.updateTag, { as: admin, params: { id }, body })

test('texts in Chinese are kept beside the others, shown to visitors, and written down', async () => {
  const id = await addTag(app.ctx.db, 'Games')
  const translations = { 'zh-CN': { name: ' 游戏 ', desc: HOSTILE } }
  const saved = await saveTag(id, { tag_name: 'Games', tag_desc: 'For games', translations })
  const kept = { 'zh-CN': { name: '游戏', desc: HOSTILE } }
  expect(saved.data).toMatchObject({ tag_name: 'Games', translations: kept })
  expect(await lastAudit()).toMatchObject({
    action: 'tag.edit',
    before: { translations: {} },
    after: { translations: kept }
  })
  app.forget()
  const { data: seen } = await app.call(catalog.tags, { query: { search: '游戏' } })
  expect(seen.data).toEqual([saved.data])

  // Missing fields stay; empty ones are removed, and the language with its last field.
  const renamed = { tag_name: 'Gaming', tag_desc: 'For games' }
  expect((await saveTag(id, renamed)).data).toMatchObject({ ...renamed, translations: kept })
  const less = await saveTag(id, { ...renamed, translations: { 'zh-CN': { name: '游戏', desc: ' ' } } })
  expect(less.data.translations).toEqual({ 'zh-CN': { name: '游戏' } })
  const none = await saveTag(id, { ...renamed, translations: { 'zh-CN': { name: '' } } })
  expect(none.data).not.toHaveProperty('translations')
  const [row] = await app.ctx.db.select().from(tags).where(eq(tags.id, id))
  expect(row?.translations).toEqual({})
})

test('an edit of another version is refused, and undone by the former texts', async () => {
  const id = await addTag(app.ctx.db, 'Fast')
  const form = { tag_name: 'Fast', tag_desc: '' }
  const first = (await saveTag(id, { ...form, translations: { 'zh-CN': { name: '快' } } })).data
  const second = (await saveTag(id, { ...form, translations: { 'zh-CN': { name: '极快' } }, version: first.version }))
    .data
  const late = await saveTag(id, { ...form, translations: { 'zh-CN': { name: '慢' } }, version: first.version })
  expect(late).toMatchObject({ status: 409, data: { reason: 'stale', current: { translations: second.translations } } })
  const back = await saveTag(id, { ...form, translations: first.translations, version: second.version })
  expect(back.data).toEqual(first)
})

test.each([
  ['a language that there is none of', { fr: { name: 'Jeux' } }, 'translations'],
  ['a text that the row does not have', { 'zh-CN': { answer: 'x' } }, 'translations.zh-CN'],
  ['a text that is too long', { 'zh-CN': { name: '长'.repeat(256) } }, 'translations.zh-CN.name'],
  ['a character that cannot be kept', { 'zh-CN': { name: 'a\u0000b' } }, 'translations.zh-CN.name'],
  ['no texts at all', 'zh-CN', 'translations'],
  ['a list', ['zh-CN'], 'translations']
])('%s is refused at its field', async (_, translations, field) => {
  const id = await addTag(app.ctx.db, `Refused ${field} ${_}`)
  const body = { tag_name: 'Refused', tag_desc: '', translations } as unknown as TagBody
  const refused = await saveTag(id, body)
  expect(refused).toMatchObject({ status: 400, data: { errors: { [field]: expect.any(String) as string } } })
  const [row] = await app.ctx.db.select().from(tags).where(eq(tags.id, id))
  expect(row).toMatchObject({ translations: {} })
})

test('a collection with texts in Chinese still takes its name from the platform, and keeps them through sync and undo', async () => {
  const { db } = app.ctx
  await app.call(catalog.syncCollections, { as: admin })
  await app.call(catalog.syncTags, { as: admin })
  const [first] = await db.select().from(collections).where(isNull(collections.deletedAt)).limit(1)
  const [tag] = await db.select().from(tags).where(isNull(tags.deletedAt)).orderBy(desc(tags.id)).limit(1)
  if (!first || !tag) throw new Error('nothing was taken over')
  const translations = { 'zh-CN': { name: '家宽代理', desc: '固定地址' } }
  const body = { collection_name: first.name, collection_desc: first.description, translations }
  const saved = await app.call(catalog.updateCollection, { as: admin, params: { id: first.id }, body })
  expect(saved.data).toMatchObject({ translations })
  await saveTag(tag.id, { tag_name: tag.name, tag_desc: '', translations: { 'zh-CN': { name: '标签' } } })
  // The platform's former text; the tag is deleted before the sync begins.
  await db.update(collections).set({ name: 'Behind' }).where(eq(collections.id, first.id))
  await db.update(tags).set({ deletedAt: app.ctx.now() }).where(eq(tags.id, tag.id))
  const now = async () => ({
    collection: (await db.select().from(collections).where(eq(collections.id, first.id)))[0],
    tag: (await db.select().from(tags).where(eq(tags.id, tag.id)))[0]
  })
  await app.call(catalog.syncCollections, { as: admin })
  await app.call(catalog.syncTags, { as: admin })
  const kept = { collection: { translations }, tag: { deletedAt: null, translations: { 'zh-CN': { name: '标签' } } } }
  expect(await now()).toMatchObject(kept)
  expect((await now()).collection?.name).toBe(first.name)
  const { data: last } = await app.call(catalog.lastSync, { as: admin })
  expect((await app.call(catalog.undoSync, { as: admin, params: { id: last?.id ?? 0 } })).code).toBe(2000)
  expect((await now()).tag).toMatchObject({ translations: { 'zh-CN': { name: '标签' } } })
  expect((await now()).tag?.deletedAt).not.toBeNull()
})

test('a product carries its own texts, those of its collections and tags, and the words of its options', async () => {
  const { db } = app.ctx
  const collectionId = await addCollection(db, 'Residential')
  const tagId = await addTag(db, 'Neighbourly')
  await db
    .update(collections)
    .set({ translations: { 'zh-CN': { name: '住宅' } } })
    .where(eq(collections.id, collectionId))
  await db
    .update(tags)
    .set({ translations: { 'zh-CN': { name: '社交' } } })
    .where(eq(tags.id, tagId))
  const made = await addProduct(db, { name: 'Hearth' }, [{ description: 'London', serverGroupId: groupId }], {
    collectionIds: [collectionId],
    tagIds: [tagId]
  })
  const read = async () =>
    (await app.call(catalog.products, { as: admin, query: { id: String(made.id) } })).data.data[0]
  const before = await read()
  if (!before) throw new Error('no product')
  const { version, shopify_product_id, product_name, product_desc } = before
  const words = { Location: '地点', London: '伦敦', constructor: '构造' }
  const form = {
    shopify_product_id,
    product_name,
    product_desc,
    active: true,
    product_tags: [tagId],
    variants: before.variants.map(({ server_group, variant_stock: _s, price_drift: _d, ...variant }) => ({
      ...variant,
      variant_option1: variant.variant_option1 ?? '',
      variant_option2: '',
      variant_option3: '',
      server_group: server_group?.id ?? null
    }))
  } as unknown as BodyOf<typeof catalog.updateProduct>
  const translations = { 'zh-CN': { name: '炉边住宅', desc: '一户一线', words } }
  const save = (body: object) =>
    app.call(catalog.updateProduct, { as: admin, params: { id: made.id }, body: { ...form, ...body } })
  expect(await save({ translations, version })).toMatchObject({ code: 2000 })
  app.forget()
  const { data: seen } = await app.call(catalog.products, { query: { search: '炉边' } })
  expect(seen.data).toMatchObject([
    {
      id: made.id,
      product_name: 'Hearth',
      translations: { 'zh-CN': { name: '炉边住宅', desc: '一户一线', words } },
      product_collections: [{ collection_name: 'Residential', translations: { 'zh-CN': { name: '住宅' } } }],
      product_tags: [{ tag_name: 'Neighbourly', translations: { 'zh-CN': { name: '社交' } } }]
    }
  ])
  expect(await lastAudit()).toMatchObject({
    action: 'product.edit',
    after: { translations: { 'zh-CN': { name: '炉边住宅' } } }
  })
  // Saved without them, they stay; with another version nothing is saved.
  expect((await save({})).code).toBe(2000)
  expect((await read())?.translations).toMatchObject({ 'zh-CN': { name: '炉边住宅' } })
  expect(await save({ translations: {}, version })).toMatchObject({ status: 409, data: { reason: 'stale' } })
  const many = Object.fromEntries(Array.from({ length: 2501 }, (__, at) => [`word ${at}`, '词']))
  expect(await save({ translations: { 'zh-CN': { words: many } } })).toMatchObject({
    status: 400,
    data: { errors: { 'translations.zh-CN.words': 'Must be at most 2500' } }
  })
  const [row] = await db.select().from(products).where(eq(products.id, made.id))
  expect(row?.translations).toMatchObject({ 'zh-CN': { name: '炉边住宅' } })
})

test('a rule is offered by its names alone', async () => {
  const { db } = app.ctx
  const id = await addRule(db, '0.50', 'video.example')
  const [rule] = await db
    .update(aclRules)
    .set({ translations: { 'zh-CN': { name: '视频' } } })
    .where(eq(aclRules.id, id))
    .returning()
  const made = await addProduct(db, { name: 'With rules' }, [{ option1: 'London', serverGroupId: groupId }])
  const [variant] = await db.select().from(variants).where(eq(variants.productId, made.id))
  const body = { product_id: made.id, option_selected: { option1: variant?.option1 ?? '', option2: '', option3: '' } }
  const { data: stock } = await app.call(catalog.ruleStock, { body })
  const named = { acl_name: rule?.name, translations: { 'zh-CN': { name: '视频' } } }
  expect(stock.find(one => one.acl_id === id)).toMatchObject(named)
  const { data: offered } = await app.call(catalog.rules)
  expect(offered.find(one => one.acl_id === id)).toMatchObject(named)
  expect(JSON.stringify([stock, offered])).not.toContain(rule?.description ?? 'for tests')
})
