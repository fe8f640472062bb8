import type { Found } from '@netlet/contract'
import { and, eq, isNull, or } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { lower } from '../../infra/db/columns.ts'
import { hasTrigram } from '../../infra/db/like.ts'
import { among, idsByText } from '../../infra/list/index.ts'
import { usernameAndEmail, users } from './tables.ts'

/**
 * Users by exact name or e-mail, then those that contain the text, newest first. The index needs three letters or
 * digits in a row; shorter texts match exactly only.
 */
export async function searchUsers(db: Executor, text: string, limit: number): Promise<Found['users']> {
  const named = text.toLowerCase()
  const [exact, similar] = await Promise.all([
    db
      .select({ id: users.id })
      .from(users)
      .where(and(or(eq(lower(users.username), named), eq(lower(users.email), named)), isNull(users.deletedAt))),
    hasTrigram(text)
      ? idsByText(
          db,
          { table: users, id: users.id, text: usernameAndEmail, where: isNull(users.deletedAt) },
          text,
          limit + 1
        )
      : []
  ])
  const exactIds = exact.map(({ id }) => id)
  const ids = [...new Set([...exactIds, ...similar])].slice(0, limit)
  if (ids.length === 0) return []
  const rows = await db
    .select({ id: users.id, username: users.username, email: users.email })
    .from(users)
    .where(among(users.id, ids))
  return rows
    .map(row => ({ ...row, exact: exactIds.includes(row.id) }))
    .toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
}
