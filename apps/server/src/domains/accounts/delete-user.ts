import { refuse } from '@netlet/contract'
import { and, eq, inArray } from 'drizzle-orm'
import { sqlState, type Transaction } from '../../infra/db/client.ts'
import { lower } from '../../infra/db/columns.ts'
import { transact } from '../../infra/db/transact.ts'
import type { UserActor } from '../../infra/actor.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { record } from '../audit/index.ts'
import { leases } from '../inventory/tables.ts'
import { orders } from '../orders/tables.ts'
import { lockUser } from './edit-user.ts'
import { isOnlyOne, lockActiveAdmins } from './last-admin.ts'
import { endSessionsOf } from './sessions.ts'
import { apiKeys, emailCodes, userPreferences, users } from './tables.ts'

/**
 * Deletes a user without live leases. Who left a history behind (orders, points, codes) keeps a row that says nothing
 * about the person: whoever held an address at an instant can still be told apart, and name and email are free again.
 */
export async function deleteUser(
  ctx: Pick<AppContext, 'db' | 'now'>,
  actor: UserActor,
  userId: number
): Promise<Result<null>> {
  if (userId === actor.id) return refuse('own_account')
  return transact(ctx.db, async tx => {
    const admins = await lockActiveAdmins(tx)
    const user = await lockUser(tx, userId)
    if (!user) return refuse('not_found')
    if (isOnlyOne(admins, userId)) return refuse('last_admin')
    if (await holdsLeases(tx, userId)) return refuse('user_has_leases')
    await tx.delete(emailCodes).where(eq(lower(emailCodes.email), user.email.toLowerCase()))
    const removed = await removeRow(tx, userId)
    if (!removed) await anonymise(tx, userId, ctx.now())
    const { username, email, isSuperuser } = user
    await record(tx, actor, {
      action: 'delete user',
      targetType: 'user',
      targetId: userId,
      before: { username, email, isSuperuser },
      after: { historyKept: !removed }
    })
    return done
  })
}

// The tables themselves, not what the two domains offer: they use this one, and the circle would close here.
async function holdsLeases(tx: Transaction, userId: number): Promise<boolean> {
  const live = await tx
    .select({ id: leases.id })
    .from(leases)
    .innerJoin(orders, eq(orders.id, leases.orderId))
    .where(and(eq(orders.userId, userId), inArray(leases.state, ['reserved', 'active'])))
    .limit(1)
  return live.length > 0
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

async function anonymise(tx: Transaction, userId: number, now: Date): Promise<void> {
  await endSessionsOf(tx, userId)
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
