import { refuse, type Collection, type Tag } from '@netlet/contract'
import { and, eq, isNull } from 'drizzle-orm'
import { refuseTaken } from '../../infra/db/taken.ts'
import type { Actor } from '../../infra/actor.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { record } from '../audit/index.ts'
import { presentTag, readCollection } from './list-groupings.ts'
import { collections, tags } from './tables.ts'

type Part = Pick<AppContext, 'db' | 'now'>

/** Names a collection; from then on a sync leaves its name and text alone. */
export async function updateCollection(
  { db, now }: Part,
  by: Actor,
  id: number,
  form: { collection_name: string; collection_desc: string }
): Promise<Result<Collection>> {
  return db.transaction(async tx => {
    const [row] = await tx
      .select()
      .from(collections)
      .where(and(eq(collections.id, id), isNull(collections.deletedAt)))
      .for('update')
    if (!row) return refuse('not_found')
    await tx
      .update(collections)
      .set({ name: form.collection_name, description: form.collection_desc, editedAt: now() })
      .where(eq(collections.id, id))
    const before = { collection_name: row.name, collection_desc: row.description }
    const entry = { action: 'edit collection', targetType: 'collection', targetId: id, before, after: form }
    await record(tx, by, entry)
    const after = await readCollection(tx, id)
    return after ? ok(after) : refuse('not_found')
  })
}

export async function deleteCollection({ db, now }: Part, by: Actor, id: number): Promise<Result<null>> {
  return db.transaction(async tx => {
    const [row] = await tx
      .update(collections)
      .set({ deletedAt: now() })
      .where(and(eq(collections.id, id), isNull(collections.deletedAt)))
      .returning()
    if (!row) return refuse('not_found')
    const before = { collection_name: row.name, collection_desc: row.description }
    await record(tx, by, { action: 'delete collection', targetType: 'collection', targetId: id, before })
    return done
  })
}

/** Names a tag; the platform's name for it stays what a sync goes by. */
export async function updateTag(
  { db }: Part,
  by: Actor,
  id: number,
  form: { tag_name: string; tag_desc: string }
): Promise<Result<Tag>> {
  return refuseTaken({ tags_name_key: 'name_taken' }, () =>
    db.transaction(async tx => {
      const [row] = await tx
        .select()
        .from(tags)
        .where(and(eq(tags.id, id), isNull(tags.deletedAt)))
        .for('update')
      if (!row) return refuse('not_found')
      const change = { name: form.tag_name, description: form.tag_desc }
      await tx.update(tags).set(change).where(eq(tags.id, id))
      const [before, after] = [presentTag(row), presentTag({ ...row, ...change })]
      await record(tx, by, { action: 'edit tag', targetType: 'tag', targetId: id, before, after })
      return ok(after)
    })
  )
}

export async function deleteTag({ db, now }: Part, by: Actor, id: number): Promise<Result<null>> {
  return db.transaction(async tx => {
    const [row] = await tx
      .update(tags)
      .set({ deletedAt: now() })
      .where(and(eq(tags.id, id), isNull(tags.deletedAt)))
      .returning()
    if (!row) return refuse('not_found')
    const before = presentTag(row)
    await record(tx, by, { action: 'delete tag', targetType: 'tag', targetId: id, before })
    return done
  })
}
