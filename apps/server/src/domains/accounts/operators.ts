import { type NoticeCause, type NoticeWords, type Params, type Refusal, refuse, rolesThatMay } from '@netlet/contract'
import { and, asc, eq, inArray, or } from '../../infra/db/drizzle.ts'
import { type UserActor, mayDo } from '../../infra/actor.ts'
import type { Executor } from '../../infra/db/client.ts'
import { userColumns, type UserRow } from './present-user.ts'
import { users } from './tables.ts'
import type { Unit } from '../../infra/command.ts'
import { type Operator, raiseNotice } from '../notices/index.ts'

type AdminNotice = {
  /** Its sentences, in the reader's language, and their parameters. */
  words: NoticeWords
  params: Params
  /** Unique for the occurrence, which is reported once. */
  key: string
  /** By default 'other'. */
  cause?: NoticeCause
  /** The subject within its cause, as the cause's finder names it. By default the occurrence itself. */
  about?: string | number
}

/** Notifies the operators as Notices in the console is set: at once, after the quiet hours, or with the digest. */
export async function notifyAdmins(
  unit: Unit,
  { words, params, key, cause = 'other', about = key }: AdminNotice
): Promise<void> {
  raiseNotice(unit, { cause, subject: String(about), key, words, params })
}

/** Active operators: these, or without ids all who act on notices. */
export const readOperators = (db: Executor, ids: readonly number[]): Promise<Operator[]> =>
  db
    .select({ id: users.id, username: users.username, email: users.email, language: users.language })
    .from(users)
    .where(
      and(
        eq(users.isSuperuser, true),
        eq(users.isActive, true),
        ids.length > 0 ? inArray(users.id, [...ids]) : inArray(users.operatorRole, rolesThatMay('notices.change'))
      )
    )
    .orderBy(asc(users.id))

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

/**
 * Only owners change other administrators, because setting an owner's password gives an owner's rights. A token changes
 * not even its maker.
 */
export const refuseOperator = (by: UserActor, user: { id: number; isSuperuser: boolean }): Refusal | null =>
  user.isSuperuser && (user.id !== by.id || by.apiKey) && !mayDo(by, 'operators.change')
    ? refuse('role_not_allowed')
    : null
