import { refuse } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { command } from '../../infra/command.ts'
import type { UserActor } from '../../infra/actor.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { lockUser } from './balance.ts'
import { unbind } from './discord-binding.ts'
import { endAccess, tellPasswordChanged } from './end-access.ts'
import { lockUserAndOwners, refuseOperator } from './operators.ts'
import { hashPassword } from './passwords.ts'
import { users } from './tables.ts'

/** Bans a user. Sessions and API keys end at once, leases run until they expire. A repeat changes nothing. */
export async function banUser(ctx: AppContext, by: UserActor, userId: number): Promise<Result<null>> {
  if (userId === by.id) return refuse('own_account')
  return command(ctx, by, async unit => {
    const { user, isOnlyOwner } = await lockUserAndOwners(unit.tx, userId)
    if (!user) return refuse('not_found')
    const refused = refuseOperator(by, user)
    if (refused) return refused
    if (isOnlyOwner) return refuse('last_owner')
    if (!user.isActive) return done
    await unit.tx.update(users).set({ isActive: false }).where(eq(users.id, userId))
    await endAccess(unit, user, { cause: 'ban' })
    unit.audit('user.ban', userId, { before: { isActive: true }, after: { isActive: false } })
    return done
  })
}

/**
 * Lifts a ban. The chat account is unbound, because a thief may have bound it. It stays bound during the ban, so that a
 * banned user's chat account cannot sign up again.
 */
export async function unbanUser(ctx: AppContext, by: UserActor, userId: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    const user = await lockUser(unit.tx, userId)
    if (!user) return refuse('not_found')
    const refused = refuseOperator(by, user)
    if (refused) return refused
    if (user.isActive) return done
    await unit.tx.update(users).set({ isActive: true }).where(eq(users.id, userId))
    await unbind(unit, user)
    unit.audit('user.unban', userId, { before: { isActive: false }, after: { isActive: true } })
    return done
  })
}

/**
 * Sets a user's password. Sessions and API keys end, the chat account is unbound. Administrators' own current session
 * stays, with the returned token.
 */
export async function setUserPassword(
  ctx: AppContext,
  by: UserActor,
  userId: number,
  password: string
): Promise<Result<{ token: string | undefined }>> {
  const passwordHash = await hashPassword(password)
  return command(ctx, by, async unit => {
    const user = await lockUser(unit.tx, userId)
    if (!user) return refuse('not_found')
    const refused = refuseOperator(by, user)
    if (refused) return refused
    await unit.tx.update(users).set({ passwordHash }).where(eq(users.id, userId))
    const token = await endAccess(unit, user, { cause: 'password', keep: userId === by.id ? by.sessionHash : null })
    await unbind(unit, user)
    tellPasswordChanged(unit, user)
    unit.audit('user.set_password', userId, { after: { password: true } })
    return ok({ token })
  })
}
