import { refuse, type Faq } from '@netlet/contract'
import { eq, sql } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { staleEdit, versionOf, type Edit } from '../../infra/version.ts'
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

export async function createFaq(ctx: AppContext, by: Actor, form: FaqInput): Promise<Result<Faq>> {
  return command(ctx, by, async unit => {
    const { tx } = unit
    const [made] = await tx.insert(faqs).values(form).returning()
    if (!made) throw new Error('the question was not added')
    unit.audit('faq.create', made.id, { after: form })
    return ok(present(made))
  })
}

export async function updateFaq(
  ctx: AppContext,
  by: Actor,
  id: number,
  { version, ...form }: Edit<FaqInput>
): Promise<Result<Faq>> {
  return command(ctx, by, async unit => {
    const { tx } = unit
    const [row] = await tx.select().from(faqs).where(eq(faqs.id, id)).for('update')
    if (!row) return refuse('not_found')
    const before = fieldsOf(row)
    const stale = staleEdit(version, present(row), { now: before, sent: form })
    if (stale) return stale
    await tx.update(faqs).set(form).where(eq(faqs.id, id))
    unit.audit('faq.edit', id, { before, after: form })
    return ok(present({ id, ...form }))
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

/** What the form of a question shows. */
const fieldsOf = ({ question, answer }: FaqInput) => ({ question, answer })

const present = ({ id, question, answer }: FaqInput & { id: number }): Faq => ({
  id,
  question,
  answer,
  version: versionOf({ question, answer })
})
