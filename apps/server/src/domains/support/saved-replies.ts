import { type SavedReply, type SavedReplyForm, refuse } from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { type ListInput, among, defineList } from '../../infra/list/index.ts'
import { type Result, done, ok } from '../../infra/result.ts'
import { type Edit, staleEdit, versionOf } from '../../infra/version.ts'
import { savedReplies } from './tables.ts'

/** Saved replies by title or text. */
export const savedReplyList = defineList<ListInput<'title' | 'id'>, SavedReply>({
  name: 'saved_replies',
  table: savedReplies,
  id: savedReplies.id,
  sort: { title: savedReplies.title, id: savedReplies.id },
  match: (_db, { search }) => ({
    text: search ? { in: sql`(${savedReplies.title} || ' ' || ${savedReplies.text})`, term: search } : undefined
  }),
  load: async (db, ids) =>
    (await db.select().from(savedReplies).where(among(savedReplies.id, ids))).map(row => present(row))
})

export const createSavedReply = (ctx: AppContext, by: Actor, form: SavedReplyForm): Promise<Result<SavedReply>> =>
  command(ctx, by, async unit => {
    const [made] = await unit.tx
      .insert(savedReplies)
      .values({ ...form, createdAt: unit.now })
      .returning()
    if (!made) throw new Error('the saved reply was not added')
    unit.audit('saved_reply.create', made.id, { after: form })
    return ok(present(made))
  })

export const updateSavedReply = (
  ctx: AppContext,
  by: Actor,
  id: number,
  { version, ...form }: Edit<SavedReplyForm>
): Promise<Result<SavedReply>> =>
  command(ctx, by, async unit => {
    const { tx } = unit
    const [row] = await tx.select().from(savedReplies).where(eq(savedReplies.id, id)).for('update')
    if (!row) return refuse('not_found')
    const before = fieldsOf(row)
    const stale = staleEdit(version, present(row), { now: before, sent: form })
    if (stale) return stale
    await tx.update(savedReplies).set(form).where(eq(savedReplies.id, id))
    unit.audit('saved_reply.edit', id, { before, after: form })
    return ok(present({ id, ...form }))
  })

export const deleteSavedReply = (ctx: AppContext, by: Actor, id: number): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const [row] = await unit.tx.delete(savedReplies).where(eq(savedReplies.id, id)).returning()
    if (!row) return refuse('not_found')
    unit.audit('saved_reply.delete', id, { before: fieldsOf(row) })
    return done
  })

type Row = Pick<typeof savedReplies.$inferSelect, 'id' | 'title' | 'text'>

const fieldsOf = ({ title, text }: Row) => ({ title, text })

const present = (row: Row): SavedReply => ({ id: row.id, ...fieldsOf(row), version: versionOf(fieldsOf(row)) })
