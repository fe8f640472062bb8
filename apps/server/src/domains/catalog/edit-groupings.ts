import { type Collection, type CollectionForm, type Tag, type TagForm, refuse } from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { type SQL, and, count, eq, isNull, ne, not, sql } from '../../infra/db/drizzle.ts'
import { type ListInput, among, defineList } from '../../infra/list/index.ts'
import { type Result, done, ok } from '../../infra/result.ts'
import { nameContains, translated } from '../../infra/translations.ts'
import { type Edit, staleEdit, versionOf } from '../../infra/version.ts'
import { isListed } from './list-products.ts'
import { type Viewer, isInternalTag } from './load-products.ts'
import { collections, productCollections, products, tags } from './tables.ts'

/** Edits a collection. Later syncs leave its name and text alone. */
export async function updateCollection(
  ctx: AppContext,
  by: Actor,
  id: number,
  { version, ...form }: Edit<CollectionForm>
): Promise<Result<Collection>> {
  return command(ctx, by, async unit => {
    const [row] = await unit.tx
      .select()
      .from(collections)
      .where(and(eq(collections.id, id), isNull(collections.deletedAt)))
      .for('update')
    const shown = row && (await readCollection(unit.tx, id))
    if (!shown) return refuse('not_found')
    const before = collectionFields(shown)
    const stale = staleEdit(version, shown, { now: before, sent: form })
    if (stale) return stale
    const isRenamed = form.collection_name !== before.collection_name || form.collection_desc !== before.collection_desc
    await unit.tx
      .update(collections)
      .set({
        name: form.collection_name,
        description: form.collection_desc,
        translations: form.translations,
        // A sync brings texts in the shop's first language only, so an edited translation does not lock out the sync.
        ...(isRenamed ? { editedAt: unit.now } : {})
      })
      .where(eq(collections.id, id))
    const after = await readCollection(unit.tx, id)
    if (!after) return refuse('not_found')
    unit.audit('collection.edit', id, { before, after: collectionFields(after) })
    return ok(after)
  })
}

export async function deleteCollection(ctx: AppContext, by: Actor, id: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    const [row] = await unit.tx
      .update(collections)
      .set({ deletedAt: unit.now })
      .where(and(eq(collections.id, id), isNull(collections.deletedAt)))
      .returning()
    if (!row) return refuse('not_found')
    const before = { collection_name: row.name, collection_desc: row.description }
    unit.audit('collection.delete', id, { before })
    return done
  })
}

/** Edits a tag. Syncs still match it by the platform's name. */
export async function updateTag(
  ctx: AppContext,
  by: Actor,
  id: number,
  { version, ...form }: Edit<TagForm>
): Promise<Result<Tag>> {
  return command(ctx, by, { unique: { tags_name_key: 'name_taken' } }, async unit => {
    const [row] = await unit.tx
      .select()
      .from(tags)
      .where(and(eq(tags.id, id), isNull(tags.deletedAt)))
      .for('update')
    if (!row) return refuse('not_found')
    const before = presentTag(row, await isInternal(unit.tx, id))
    const stale = staleEdit(version, before, { now: tagFields(before), sent: form })
    if (stale) return stale
    const change = {
      name: form.tag_name,
      description: form.tag_desc,
      translations: form.translations ?? row.translations
    }
    await unit.tx.update(tags).set(change).where(eq(tags.id, id))
    const after = presentTag({ ...row, ...change }, before.is_internal)
    unit.audit('tag.edit', id, { before: { id, ...tagFields(before) }, after: { id, ...tagFields(after) } })
    return ok(after)
  })
}

export async function deleteTag(ctx: AppContext, by: Actor, id: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    const [row] = await unit.tx
      .update(tags)
      .set({ deletedAt: unit.now })
      .where(and(eq(tags.id, id), isNull(tags.deletedAt)))
      .returning()
    if (!row) return refuse('not_found')
    unit.audit('tag.delete', id, { before: { id, tag_name: row.name, tag_desc: row.description } })
    return done
  })
}

async function isInternal(tx: Executor, id: number): Promise<boolean> {
  const [tag] = await tx.select({ is: isInternalTag() }).from(tags).where(eq(tags.id, id))
  return tag?.is ?? false
}

/** Collections, each with the number of its products that the viewer can see. */
export const collectionList = (viewer: Viewer) =>
  defineList<ListInput<'id'>, Collection>({
    name: 'collections',
    table: collections,
    id: collections.id,
    sort: { id: collections.id },
    match: (_db, { search }) => ({
      where: [isNull(collections.deletedAt), search === undefined ? undefined : nameContains(collections, search)]
    }),
    load: (db, ids) => selectCollections(db, among(collections.id, ids), viewer)
  })

async function readCollection(db: Executor, id: number): Promise<Collection | undefined> {
  const [found] = await selectCollections(db, eq(collections.id, id), 'admin')
  return found
}

async function selectCollections(db: Executor, where: SQL, viewer: Viewer): Promise<Collection[]> {
  const inIt = db
    .select({ collectionId: productCollections.collectionId, found: count().as('found') })
    .from(productCollections)
    .innerJoin(products, eq(products.id, productCollections.productId))
    .where(and(isNull(products.deletedAt), viewer === 'shop' ? isListed() : undefined))
    .groupBy(productCollections.collectionId)
    .as('in_it')
  const rows = await db
    .select({
      id: collections.id,
      collection_name: collections.name,
      collection_desc: collections.description,
      shopify_collection_id: collections.platformId,
      image_url: collections.imageUrl,
      translations: collections.translations,
      product_count: sql<number>`coalesce(${inIt.found}, 0)`.mapWith(Number)
    })
    .from(collections)
    .leftJoin(inIt, eq(inIt.collectionId, collections.id))
    .where(where)
  return rows.map(({ translations, ...row }) => ({
    ...row,
    ...translated({ translations }),
    version: versionOf(collectionFields({ ...row, translations }))
  }))
}

const collectionFields = ({
  collection_name,
  collection_desc,
  translations = {}
}: Pick<Collection, 'collection_name' | 'collection_desc' | 'translations'>) => ({
  collection_name,
  collection_desc,
  translations
})

/** Tags by name. A tag without a name cannot be chosen, so it is left out. Visitors do not see internal tags. */
export const tagList = (viewer: Viewer) =>
  defineList<ListInput<'name'>, Tag>({
    name: 'tags',
    table: tags,
    id: tags.id,
    sort: { name: sql`lower(${tags.name})` },
    match: (_db, { search }) => ({
      where: [
        isNull(tags.deletedAt),
        ne(tags.name, ''),
        viewer === 'shop' ? not(isInternalTag()) : undefined,
        search === undefined ? undefined : nameContains(tags, search)
      ]
    }),
    async load(db, ids) {
      const rows = await db.select({ tag: tags, isInternal: isInternalTag() }).from(tags).where(among(tags.id, ids))
      return rows.map(({ tag, isInternal }) => presentTag(tag, isInternal))
    }
  })

const tagFields = ({ tag_name, tag_desc, translations = {} }: Pick<Tag, 'tag_name' | 'tag_desc' | 'translations'>) => ({
  tag_name,
  tag_desc,
  translations
})

function presentTag(
  row: Pick<typeof tags.$inferSelect, 'id' | 'name' | 'description' | 'translations'>,
  is_internal: boolean
): Tag {
  const fields = { tag_name: row.name, tag_desc: row.description, ...translated(row) }
  return { id: row.id, ...fields, is_internal, version: versionOf(tagFields(fields)) }
}
