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

/** Bans a user: its sessions and API keys end at once, its leases run until they expire. Banning a banned one changes nothing. */
export async function banUser(ctx: AppContext, by: UserActor, userId: number): Promise<Result<null>> {
  if (userId === by.id) return refuse('own_account')
  return command(ctx, by, async unit => {
    const { user, isOnlyOwner } = await lockUserAndOwners(unit.tx, userId)
    if (!user) return refuse('not_found')
    const refused = refuseOperator(by, user)
    if (refused) return refused
    if (isOnlyOwner) return refuse('last_admin')
    if (!user.isActive) return done
    await unit.tx.update(users).set({ isActive: false }).where(eq(users.id, userId))
    await endAccess(unit, user, { cause: 'ban' })
    unit.audit('user.ban', userId, { before: { isActive: true }, after: { isActive: false } })
    return done
  })
}

/**
 * Lets a banned user log in again, by the password: the chat account is taken off, since whoever had the account may have
 * bound it. Not at the ban: a chat account of somebody who is banned signs nobody up anew.
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

/** Sets a user's password. Its sessions and API keys end, its chat account is taken off; an administrator who sets their own keeps the present session, with the token that is returned. */
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
