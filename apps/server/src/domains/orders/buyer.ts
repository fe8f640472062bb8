import type { Language } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { users } from '../accounts/tables.ts'

/** Whom the mails about an order go to. */
export async function buyerOf(
  db: Executor,
  userId: number
): Promise<{ username: string; to: string; language: Language }> {
  const [buyer] = await db
    .select({ username: users.username, to: users.email, language: users.language })
    .from(users)
    .where(eq(users.id, userId))
  if (!buyer) throw new Error(`There is no user ${userId}`)
  return buyer
}
