import { refuse } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { transact } from '../../infra/db/transact.ts'
import type { UserActor } from '../../infra/actor.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { record } from '../audit/index.ts'
import { lockUser } from './edit-user.ts'
import { isOnlyOne, lockActiveAdmins } from './last-admin.ts'
import { hashPassword } from './passwords.ts'
import { endSessionsOf } from './sessions.ts'
import { users } from './tables.ts'

/** Bans a user: its sessions end at once, its leases run until they expire. Banning a banned one changes nothing. */
export async function banUser(ctx: Pick<AppContext, 'db'>, actor: UserActor, userId: number): Promise<Result<null>> {
  if (userId === actor.id) return refuse('own_account')
  return transact(ctx.db, async tx => {
    const admins = await lockActiveAdmins(tx)
    const user = await lockUser(tx, userId)
    if (!user) return refuse('not_found')
    if (isOnlyOne(admins, userId)) return refuse('last_admin')
    if (!user.isActive) return done
    await tx.update(users).set({ isActive: false }).where(eq(users.id, userId))
    await endSessionsOf(tx, userId)
    await record(tx, actor, { action: 'ban user', ...change(userId, true, false) })
    return done
  })
}

/** Lets a banned user log in again. */
export async function unbanUser(ctx: Pick<AppContext, 'db'>, actor: UserActor, userId: number): Promise<Result<null>> {
  return transact(ctx.db, async tx => {
    const user = await lockUser(tx, userId)
    if (!user) return refuse('not_found')
    if (user.isActive) return done
    await tx.update(users).set({ isActive: true }).where(eq(users.id, userId))
    await record(tx, actor, { action: 'unban user', ...change(userId, false, true) })
    return done
  })
}

const change = (targetId: number, before: boolean, after: boolean) => ({
  targetType: 'user',
  targetId,
  before: { isActive: before },
  after: { isActive: after }
})

/** Sets a user's password. Its sessions end; an administrator who sets the own one keeps the present session. */
export async function setUserPassword(
  ctx: Pick<AppContext, 'db'>,
  actor: UserActor,
  userId: number,
  password: string
): Promise<Result<null>> {
  const passwordHash = await hashPassword(password)
  return transact(ctx.db, async tx => {
    if (!(await lockUser(tx, userId))) return refuse('not_found')
    await tx.update(users).set({ passwordHash }).where(eq(users.id, userId))
    await endSessionsOf(tx, userId, userId === actor.id ? (actor.sessionHash ?? undefined) : undefined)
    const entry = { action: 'set password', targetType: 'user', targetId: userId, after: { password: true } }
    await record(tx, actor, entry)
    return done
  })
}
