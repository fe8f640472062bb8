import { refuse, type Faq } from '@netlet/contract'
import { eq, sql } from 'drizzle-orm'
import type { Database } from '../../infra/db/client.ts'
import type { Actor } from '../../infra/actor.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { record } from '../audit/index.ts'
import { faqs } from './tables.ts'

type FaqInput = { question: string; answer: string }

/** Questions and answers, oldest first: those asked for most are written first. */
export const faqList = defineList<ListInput<'id'>, Faq>({
  name: 'questions',
  table: faqs,
  id: faqs.id,
  sort: { id: faqs.id },
  match: (_db, { search }) => ({
    text: search ? { in: sql`(${faqs.question} || ' ' || ${faqs.answer})`, term: search } : undefined
  }),
  load: async (db, ids) => (await db.select().from(faqs).where(among(faqs.id, ids))).map(present)
})

export async function createFaq(db: Database, by: Actor, form: FaqInput): Promise<Result<Faq>> {
  return db.transaction(async tx => {
    const [made] = await tx.insert(faqs).values(form).returning()
    if (!made) throw new Error('the question was not added')
    await record(tx, by, { action: 'create question', targetType: 'faq', targetId: made.id, after: form })
    return ok(present(made))
  })
}

export async function updateFaq(db: Database, by: Actor, id: number, form: FaqInput): Promise<Result<Faq>> {
  return db.transaction(async tx => {
    const [row] = await tx.select().from(faqs).where(eq(faqs.id, id)).for('update')
    if (!row) return refuse('not_found')
    await tx.update(faqs).set(form).where(eq(faqs.id, id))
    const before = { question: row.question, answer: row.answer }
    await record(tx, by, { action: 'edit question', targetType: 'faq', targetId: id, before, after: form })
    return ok({ id, ...form })
  })
}

export async function deleteFaq(db: Database, by: Actor, id: number): Promise<Result<null>> {
  return db.transaction(async tx => {
    const [row] = await tx.delete(faqs).where(eq(faqs.id, id)).returning()
    if (!row) return refuse('not_found')
    await record(tx, by, { action: 'delete question', targetType: 'faq', targetId: id, before: present(row) })
    return done
  })
}

const present = ({ id, question, answer }: typeof faqs.$inferSelect): Faq => ({ id, question, answer })
