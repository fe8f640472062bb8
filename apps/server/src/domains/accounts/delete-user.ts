import { refuse, type Confirmation } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { allowLongStatements, sqlState, type Executor, type Transaction } from '../../infra/db/client.ts'
import { lower } from '../../infra/db/columns.ts'
import { removePersonFromAuditLog } from '../../infra/forget-in-audit-log.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import { SYSTEM, type UserActor } from '../../infra/actor.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { DELETED_HOST, enqueueMail, forgetAddress } from '../mail/index.ts'
import { clearFailuresOf } from './attempts.ts'
import { confirmCaller, lockConfirmed } from './confirm-caller.ts'
import { lockUserAndOwners, refuseOperator } from './operators.ts'
import type { AccountPorts } from './ports.ts'
import { type UserRow, recipientOf } from './present-user.ts'
import { removeSecondFactors } from './second-factor/manage.ts'
import { endSessionsOf } from './sessions.ts'
import { apiKeys, emailCodes, logins, oauthStates, userPreferences, users } from './tables.ts'

type DeletionPorts = Pick<AccountPorts, 'owed' | 'forget'>

/** The name of a deleted user. Sign-up names cannot contain the hyphen. */
export const nameOfDeleted = (userId: number): string => `deleted-${userId}`

/** Was this user deleted, or did it never exist? Then nothing is delivered to it. */
export async function isDeleted(db: Executor, userId: number): Promise<boolean> {
  const [user] = await db.select({ deletedAt: users.deletedAt }).from(users).where(eq(users.id, userId))
  return !user || user.deletedAt !== null
}

/**
 * Deletes a user to whom nothing is owed, with its personal data everywhere. If orders, points or codes refer to the
 * user, the row stays, anonymized: it tells which account held an address, and frees name and e-mail. See
 * docs/SECURITY.md. Debts are checked before the user's lock, because payments lock orders first, and again under it
 * for new orders.
 */
export async function deleteUser(
  ctx: AppContext,
  by: UserActor,
  ports: DeletionPorts,
  userId: number
): Promise<Result<null>> {
  if (userId === by.id) return refuse('own_account')
  return command(ctx, by, async unit => {
    const owed = await ports.owed(unit, userId)
    const { user, isOnlyOwner } = await lockUserAndOwners(unit.tx, userId)
    if (!user) return refuse('not_found')
    const refused = refuseOperator(by, user)
    if (refused) return refused
    if (isOnlyOwner) return refuse('last_owner')
    const still = owed ?? (await ports.owed(unit, userId))
    if (still) return refuse(still === 'leases' ? 'user_has_leases' : 'user_is_owed')
    return remove(unit, ports, user)
  })
}

/** Deletes the own account of a confirmed caller. Administrators have to be deleted by another one. */
export async function deleteOwnAccount(
  ctx: AppContext,
  by: UserActor,
  ports: DeletionPorts,
  confirmation: Confirmation
): Promise<Result<null>> {
  if (by.isSuperuser) return refuse('own_account')
  const confirmed = await confirmCaller(ctx, by, confirmation)
  if (!confirmed.ok) return confirmed
  // As the system: an audit entry by the caller would contain its name and address again.
  return command(ctx, SYSTEM, async unit => {
    const owed = await ports.owed(unit, by.id)
    const user = await lockConfirmed(unit, confirmed.data)
    if (!user) return refuse('unauthorized')
    if (user.isSuperuser) return refuse('own_account')
    const still = owed ?? (await ports.owed(unit, by.id))
    if (still) return refuse(still === 'leases' ? 'account_has_leases' : 'account_is_owed')
    // Under the user's lock. Otherwise a deletion would clear the debt, and the user could sign up again.
    if (user.coinsOwed > 0) return refuse('account_owes_coins', { params: { coins: user.coinsOwed } })
    return remove(unit, ports, user)
  })
}

async function remove(unit: Unit, { forget }: DeletionPorts, user: UserRow): Promise<Result<null>> {
  const { tx } = unit
  const { id, username, email, language } = user
  // It searches the whole audit log.
  await allowLongStatements(tx, 5 * MINUTE)
  // Before the audit log forgets the former names and addresses.
  const recipient = await recipientOf(tx, user)
  for (const part of forget) await part(unit, { id, username, email })
  await removePersonFromAuditLog(tx, { userId: id, username, email, replacement: nameOfDeleted(id) })
  await tx.delete(emailCodes).where(eq(lower(emailCodes.email), email.toLowerCase()))
  await clearFailuresOf(unit, user)
  const removed = await removeRow(tx, id)
  if (!removed) await anonymise(unit, id)
  await forgetAddress(unit, recipient)
  unit.audit('user.delete', id, { after: { historyKept: !removed, own: unit.by.kind === 'system' } })
  const at = unit.now.toISOString()
  const data = { username, at }
  enqueueMail(unit, { to: email, language, template: 'account-deleted', data, key: `account-deleted:${id}` })
  return done
}

/** False if other tables refer to the user. The database knows all of them. */
async function removeRow(tx: Transaction, userId: number): Promise<boolean> {
  try {
    await tx.transaction(savepoint => savepoint.delete(users).where(eq(users.id, userId)))
    return true
  } catch (error) {
    if (sqlState(error) === '23503') return false
    throw error
  }
}

async function anonymise(unit: Unit, userId: number): Promise<void> {
  const { tx, now } = unit
  await endSessionsOf(unit, userId)
  await removeSecondFactors(unit, userId)
  await tx.delete(logins).where(eq(logins.userId, userId))
  await tx.delete(apiKeys).where(eq(apiKeys.userId, userId))
  await tx.delete(oauthStates).where(eq(oauthStates.userId, userId))
  await tx.delete(userPreferences).where(eq(userPreferences.userId, userId))
  await tx
    .update(users)
    .set({
      username: nameOfDeleted(userId),
      email: `${nameOfDeleted(userId)}@${DELETED_HOST}`,
      passwordHash: '',
      isActive: false,
      isSuperuser: false,
      discordId: null,
      discordName: null,
      lastLogin: null,
      lastLoginIp: null,
      lastLocation: null,
      guessesToldAt: null,
      secondFactorDueAt: null,
      deletedAt: now
    })
    .where(eq(users.id, userId))
}
