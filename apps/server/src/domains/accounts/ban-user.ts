import { refuse } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { command } from '../../infra/command.ts'
import type { UserActor } from '../../infra/actor.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { lockUser } from './balance.ts'
import { endAccess, tellPasswordChanged } from './end-access.ts'
import { isOnlyOne, lockActiveAdmins } from './last-admin.ts'
import { hashPassword } from './passwords.ts'
import { users } from './tables.ts'

/** Bans a user: its sessions and API keys end at once, its leases run until they expire. Banning a banned one changes nothing. */
export async function banUser(ctx: AppContext, by: UserActor, userId: number): Promise<Result<null>> {
  if (userId === by.id) return refuse('own_account')
  return command(ctx, by, async unit => {
    const admins = await lockActiveAdmins(unit.tx)
    const user = await lockUser(unit.tx, userId)
    if (!user) return refuse('not_found')
    if (isOnlyOne(admins, userId)) return refuse('last_admin')
    if (!user.isActive) return done
    await unit.tx.update(users).set({ isActive: false }).where(eq(users.id, userId))
    await endAccess(unit, user, { cause: 'ban' })
    unit.audit('user.ban', userId, { before: { isActive: true }, after: { isActive: false } })
    return done
  })
}

/** Lets a banned user log in again. */
export async function unbanUser(ctx: AppContext, by: UserActor, userId: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    const user = await lockUser(unit.tx, userId)
    if (!user) return refuse('not_found')
    if (user.isActive) return done
    await unit.tx.update(users).set({ isActive: true }).where(eq(users.id, userId))
    unit.audit('user.unban', userId, { before: { isActive: false }, after: { isActive: true } })
    return done
  })
}

/** Sets a user's password. Its sessions and API keys end; an administrator who sets their own keeps the present session. */
export async function setUserPassword(
  ctx: AppContext,
  by: UserActor,
  userId: number,
  password: string
): Promise<Result<null>> {
  const passwordHash = await hashPassword(password)
  return command(ctx, by, async unit => {
    const user = await lockUser(unit.tx, userId)
    if (!user) return refuse('not_found')
    await unit.tx.update(users).set({ passwordHash }).where(eq(users.id, userId))
    await endAccess(unit, user, { cause: 'password', keep: userId === by.id ? by.sessionHash : null })
    tellPasswordChanged(unit, user)
    unit.audit('user.set_password', userId, { after: { password: true } })
    return done
  })
}
