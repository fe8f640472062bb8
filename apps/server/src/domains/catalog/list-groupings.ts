import type { Collection, Tag } from '@netlet/contract'
import { and, count, eq, isNull, ne, not, sql, type SQL } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { calledLike, translated } from '../../infra/translations.ts'
import { versionOf } from '../../infra/version.ts'
import { isInternalTag } from './internal.ts'
import { isListed } from './list-products.ts'
import type { Viewer } from './load-products.ts'
import { collections, productCollections, products, tags } from './tables.ts'

/** Collections, each with the number of its products that the viewer can see. */
export const collectionList = (viewer: Viewer) =>
  defineList<ListInput<'id'>, Collection>({
    name: 'collections',
    table: collections,
    id: collections.id,
    sort: { id: collections.id },
    match: (_db, { search }) => ({
      where: [isNull(collections.deletedAt), search === undefined ? undefined : calledLike(collections, search)]
    }),
    load: (db, ids) => selectCollections(db, among(collections.id, ids), viewer)
  })

export async function readCollection(db: Executor, id: number): Promise<Collection | undefined> {
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

export const collectionFields = ({
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
        search === undefined ? undefined : calledLike(tags, search)
      ]
    }),
    async load(db, ids) {
      const rows = await db.select({ tag: tags, isInternal: isInternalTag() }).from(tags).where(among(tags.id, ids))
      return rows.map(({ tag, isInternal }) => presentTag(tag, isInternal))
    }
  })

export const tagFields = ({
  tag_name,
  tag_desc,
  translations = {}
}: Pick<Tag, 'tag_name' | 'tag_desc' | 'translations'>) => ({ tag_name, tag_desc, translations })

export function presentTag(
  row: Pick<typeof tags.$inferSelect, 'id' | 'name' | 'description' | 'translations'>,
  is_internal: boolean
): Tag {
  const fields = { tag_name: row.name, tag_desc: row.description, ...translated(row) }
  return { id: row.id, ...fields, is_internal, version: versionOf(tagFields(fields)) }
}
