import { refuse, type Faq, type FaqForm, type Translations } from '@netlet/contract'
import { and, desc, eq, sql } from '../../infra/db/drizzle.ts'
import { z } from 'zod'
import type { Actor } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { translated } from '../../infra/translations.ts'
import { staleEdit, versionOf, type Edit } from '../../infra/version.ts'
import { auditLog } from '../../infra/tables.ts'
import { faqs } from './tables.ts'

/** The help page searches both languages. */
const searched = sql`(${faqs.question} || ' ' || ${faqs.answer} || ' ' || coalesce(${faqs.translations} #>> '{zh-CN,question}', '') || ' ' || coalesce(${faqs.translations} #>> '{zh-CN,answer}', ''))`

/** Questions and answers, oldest first, because the most frequent ones were written first. */
export const faqList = defineList<ListInput<'id'>, Faq>({
  name: 'questions',
  table: faqs,
  id: faqs.id,
  sort: { id: faqs.id },
  match: (_db, { search }) => ({
    text: search ? { in: searched, term: search } : undefined
  }),
  load: async (db, ids) => (await db.select().from(faqs).where(among(faqs.id, ids))).map(present)
})

export async function createFaq(ctx: AppContext, by: Actor, form: FaqForm): Promise<Result<Faq>> {
  return command(ctx, by, async unit => {
    const { tx } = unit
    const [made] = await tx
      .insert(faqs)
      .values({ ...form, createdAt: unit.now })
      .returning()
    if (!made) throw new Error('the question was not added')
    unit.audit('faq.create', made.id, { after: form })
    return ok(present(made))
  })
}

export async function updateFaq(
  ctx: AppContext,
  by: Actor,
  id: number,
  { version, ...form }: Edit<FaqForm>
): Promise<Result<Faq>> {
  return command(ctx, by, async unit => {
    const { tx } = unit
    const [row] = await tx.select().from(faqs).where(eq(faqs.id, id)).for('update')
    if (!row) return refuse('not_found')
    const before = fieldsOf(row)
    const stale = staleEdit(version, present(row), { now: before, sent: form })
    if (stale) return stale
    const after = { ...row, ...form, translations: form.translations ?? row.translations }
    await tx.update(faqs).set(form).where(eq(faqs.id, id))
    unit.audit('faq.edit', id, { before, after: fieldsOf(after) })
    return ok(present(after))
  })
}

export async function deleteFaq(ctx: AppContext, by: Actor, id: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    const { tx } = unit
    const [row] = await tx.delete(faqs).where(eq(faqs.id, id)).returning()
    if (!row) return refuse('not_found')
    unit.audit('faq.delete', id, { before: { ...present(row), created_at: iso(row.createdAt) } })
    return done
  })
}

/**
 * Restores a deleted question from the audit log with its former id, which also is its position in the list. An existing
 * question stays as it is. 'not_found' if the log has no deletion of it.
 */
export const restoreFaq = (ctx: AppContext, by: Actor, id: number): Promise<Result<Faq>> =>
  command(ctx, by, async unit => {
    const { tx } = unit
    const [entry] = await tx
      .select({ action: auditLog.action, before: auditLog.before })
      .from(auditLog)
      .where(and(eq(auditLog.targetType, 'faq'), eq(auditLog.targetId, String(id))))
      .orderBy(desc(auditLog.id))
      .limit(1)
    const kept = entry?.action === 'faq.delete' ? Deleted.safeParse(entry.before) : undefined
    if (kept?.success) {
      const { created_at, ...texts } = kept.data
      const restored = await tx
        .insert(faqs)
        .overridingSystemValue()
        .values({ id, ...texts, createdAt: new Date(created_at) })
        .onConflictDoNothing()
        .returning({ id: faqs.id })
      if (restored.length > 0) unit.audit('faq.restore', id, { after: texts })
    }
    const [row] = await tx.select().from(faqs).where(eq(faqs.id, id))
    return row ? ok(present(row)) : refuse('not_found')
  })

/** The audit log's data of a deletion; entries of older versions lack the time. */
const Deleted = z.object({
  question: z.string(),
  answer: z.string(),
  translations: z.custom<Translations>(value => typeof value === 'object').optional(),
  created_at: z.string()
})

type FaqRow = Pick<typeof faqs.$inferSelect, 'id' | 'question' | 'answer' | 'translations'>

const fieldsOf = ({ question, answer, translations }: FaqRow) => ({ question, answer, translations })

const present = (row: FaqRow): Faq => ({
  id: row.id,
  question: row.question,
  answer: row.answer,
  ...translated(row),
  version: versionOf(fieldsOf(row))
})
