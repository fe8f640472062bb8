import { and, eq } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { users } from './tables.ts'

/**
 * Locks the active administrators and gives their ids. Every command that removes an administrator takes
 * these locks first: of two that remove each other concurrently, the second one waits and sees that it would be the last.
 */
export async function lockActiveAdmins(tx: Executor): Promise<number[]> {
  const admins = await tx
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.isSuperuser, true), eq(users.isActive, true)))
    .orderBy(users.id)
    .for('update')
  return admins.map(admin => admin.id)
}

export const isOnlyOne = (admins: number[], userId: number): boolean => admins.length === 1 && admins[0] === userId
