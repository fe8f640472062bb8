import { mayOperate, refuse, type Refusal } from '@netlet/contract'
import { and, eq, or } from 'drizzle-orm'
import type { UserActor } from '../../infra/actor.ts'
import type { Executor } from '../../infra/db/client.ts'
import { userColumns, type UserRow } from './present-user.ts'
import { users } from './tables.ts'

export const isActiveOwner = and(eq(users.isSuperuser, true), eq(users.operatorRole, 'owner'), eq(users.isActive, true))

/**
 * Locks a user and all active owners, the lowest id first, as everywhere. Every command that may remove an owner does
 * this, so the second of two concurrent removals sees that it would remove the last owner.
 * @returns the user unless it was deleted, and whether it is the only active owner
 */
export async function lockUserAndOwners(
  tx: Executor,
  userId: number
): Promise<{ user: UserRow | undefined; isOnlyOwner: boolean }> {
  const locked = await tx
    .select(userColumns)
    .from(users)
    .where(or(eq(users.id, userId), isActiveOwner))
    .orderBy(users.id)
    .for('update')
  const user = locked.find(({ id, deletedAt }) => id === userId && deletedAt === null)
  const owners = locked.filter(
    ({ isSuperuser, operatorRole, isActive }) => isSuperuser && operatorRole === 'owner' && isActive
  )
  return { user, isOnlyOwner: owners.length === 1 && owners[0]?.id === userId }
}

/** Only owners change other administrators, because setting an owner's password gives an owner's rights. */
export const refuseOperator = (by: UserActor, user: { id: number; isSuperuser: boolean }): Refusal | null =>
  user.isSuperuser && user.id !== by.id && !mayOperate(by.role, 'operators.change') ? refuse('role_not_allowed') : null
