import { refuse, type Faq } from '@netlet/contract'
import { asc, count, eq, sql } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { containing, pageOf } from '../../infra/http/paging.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { faqs } from './tables.ts'

type FaqInput = { question: string; answer: string }

/** A page of questions and answers, oldest first. */
export async function listFaqs(
  db: Executor,
  { limit, offset, search }: { limit: number; offset: number; search?: string | undefined }
) {
  const where =
    search === undefined ? undefined : sql`(${faqs.question} || ' ' || ${faqs.answer}) ilike ${containing(search)}`
  const [[counted], rows] = await Promise.all([
    db.select({ total: count() }).from(faqs).where(where),
    db.select().from(faqs).where(where).orderBy(asc(faqs.id)).limit(limit).offset(offset)
  ])
  return pageOf(rows.map(present), counted?.total ?? 0, { limit, offset })
}

export async function createFaq(ctx: AppContext, by: Actor, form: FaqInput): Promise<Result<Faq>> {
  return command(ctx, by, async unit => {
    const { tx } = unit
    const [made] = await tx.insert(faqs).values(form).returning()
    if (!made) throw new Error('the question was not added')
    unit.audit('faq.create', made.id, { after: form })
    return ok(present(made))
  })
}

export async function updateFaq(ctx: AppContext, by: Actor, id: number, form: FaqInput): Promise<Result<Faq>> {
  return command(ctx, by, async unit => {
    const { tx } = unit
    const [row] = await tx.select().from(faqs).where(eq(faqs.id, id)).for('update')
    if (!row) return refuse('not_found')
    await tx.update(faqs).set(form).where(eq(faqs.id, id))
    const before = { question: row.question, answer: row.answer }
    unit.audit('faq.edit', id, { before, after: form })
    return ok({ id, ...form })
  })
}

export async function deleteFaq(ctx: AppContext, by: Actor, id: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    const { tx } = unit
    const [row] = await tx.delete(faqs).where(eq(faqs.id, id)).returning()
    if (!row) return refuse('not_found')
    unit.audit('faq.delete', id, { before: present(row) })
    return done
  })
}

const present = ({ id, question, answer }: typeof faqs.$inferSelect): Faq => ({ id, question, answer })
