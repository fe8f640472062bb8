import { refuse } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { sqlState, type Transaction } from '../../infra/db/client.ts'
import { lower } from '../../infra/db/columns.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { UserActor } from '../../infra/actor.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { forgetAddress } from '../mail/index.ts'
import { lockUser } from './balance.ts'
import { isOnlyOne, lockActiveAdmins } from './last-admin.ts'
import type { AccountPorts } from './ports.ts'
import { endSessionsOf } from './sessions.ts'
import { apiKeys, emailCodes, userPreferences, users } from './tables.ts'

/**
 * Deletes a user without live leases. Where orders, points or codes refer to the user, the row stays and is anonymised:
 * it still tells which account held an address at an instant, and name and email are free again.
 */
export async function deleteUser(
  ctx: AppContext,
  by: UserActor,
  { holdsLeases }: Pick<AccountPorts, 'holdsLeases'>,
  userId: number
): Promise<Result<null>> {
  if (userId === by.id) return refuse('own_account')
  return command(ctx, by, async unit => {
    const { tx } = unit
    const admins = await lockActiveAdmins(tx)
    const user = await lockUser(tx, userId)
    if (!user) return refuse('not_found')
    if (isOnlyOne(admins, userId)) return refuse('last_admin')
    if (await holdsLeases(tx, userId)) return refuse('user_has_leases')
    await tx.delete(emailCodes).where(eq(lower(emailCodes.email), user.email.toLowerCase()))
    await forgetAddress(unit, user.email)
    const removed = await removeRow(tx, userId)
    if (!removed) await anonymise(unit, userId)
    const { username, email, isSuperuser } = user
    unit.audit('user.delete', userId, { before: { username, email, isSuperuser }, after: { historyKept: !removed } })
    return done
  })
}

/** False where other tables still refer to the user: the database knows them all. */
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
  await tx.delete(apiKeys).where(eq(apiKeys.userId, userId))
  await tx.delete(userPreferences).where(eq(userPreferences.userId, userId))
  await tx
    .update(users)
    .set({
      // The hyphen keeps it apart from every name that can be signed up with.
      username: `deleted-${userId}`,
      email: `deleted-${userId}@deleted.invalid`,
      passwordHash: '',
      isActive: false,
      isSuperuser: false,
      discordId: null,
      discordName: null,
      lastLoginIp: null,
      lastLocation: null,
      deletedAt: now
    })
    .where(eq(users.id, userId))
}
