import { refuse, type Collection, type CollectionForm, type Tag, type TagForm } from '@netlet/contract'
import { and, eq, isNull } from '../../infra/db/drizzle.ts'
import { command } from '../../infra/command.ts'
import type { Actor } from '../../infra/actor.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { staleEdit, type Edit } from '../../infra/version.ts'
import type { Executor } from '../../infra/db/client.ts'
import { isInternalTag } from './internal.ts'
import { collectionFields, presentTag, readCollection, tagFields } from './list-groupings.ts'
import { collections, tags } from './tables.ts'

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
