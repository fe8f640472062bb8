import { randomUUID } from 'node:crypto'
import { refuse, type User, type UserForm } from '@netlet/contract'
import { and, eq, isNull } from 'drizzle-orm'
import type { z } from 'zod'
import { sqlState, violatedConstraint, type Transaction } from '../../infra/db/client.ts'
import { transact } from '../../infra/db/transact.ts'
import type { UserActor } from '../../infra/actor.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { record } from '../audit/index.ts'
import { grantPoints, levelThresholds } from '../rewards/index.ts'
import { isOnlyOne, lockActiveAdmins } from './last-admin.ts'
import { hashPassword } from './passwords.ts'
import { presentUser, userColumns } from './present-user.ts'
import { endSessionsOf } from './sessions.ts'
import { users } from './tables.ts'

type Change = Partial<typeof users.$inferInsert>

/** Saves the fields of the Edit dialog that are given. Coins change by a points record of the difference. */
export async function editUser(
  ctx: Pick<AppContext, 'db' | 'now'>,
  actor: UserActor,
  userId: number,
  form: z.output<typeof UserForm>
): Promise<Result<User>> {
  const passwordHash = form.password === undefined ? undefined : await hashPassword(form.password)
  try {
    return await transact(ctx.db, async tx => {
      const admins = await lockActiveAdmins(tx)
      const before = await lockUser(tx, userId)
      if (!before) return refuse('not_found')
      const banned = form.is_active === false && before.isActive
      if (banned && userId === actor.id) return refuse('own_account')
      const demoted = form.is_superuser === false && before.isSuperuser
      if ((banned || demoted) && isOnlyOne(admins, userId)) return refuse('last_admin')

      const change: Change = {
        username: form.username,
        email: form.email,
        isSuperuser: form.is_superuser,
        isActive: form.is_active,
        passwordHash
      }
      if (Object.values(change).some(value => value !== undefined))
        await tx.update(users).set(change).where(eq(users.id, userId))
      if (form.reward_points !== undefined) {
        await grantPoints(tx, {
          userId,
          kind: 'coins',
          point: form.reward_points - before.coins,
          reason: 'Set by an administrator',
          cause: `admin:${randomUUID()}`,
          now: ctx.now()
        })
      }
      if (banned || passwordHash !== undefined)
        await endSessionsOf(tx, userId, userId === actor.id ? (actor.sessionHash ?? undefined) : undefined)

      const [after] = await tx.select(userColumns).from(users).where(eq(users.id, userId))
      if (!after) throw new Error(`user ${userId} went away under a lock`)
      const changed = differences(before, after)
      if (passwordHash !== undefined) changed.after['password'] = true
      if (Object.keys(changed.after).length > 0)
        await record(tx, actor, { action: 'edit user', targetType: 'user', targetId: userId, ...changed })
      return ok(presentUser(after, await levelThresholds(tx)))
    })
  } catch (error) {
    const taken = takenBy(error)
    if (taken) return refuse(taken)
    throw error
  }
}

/** Locks a user that was not deleted. */
export async function lockUser(tx: Transaction, userId: number) {
  const [user] = await tx
    .select(userColumns)
    .from(users)
    .where(and(eq(users.id, userId), isNull(users.deletedAt)))
    .for('update')
  return user
}

type Fields = Record<string, unknown>

/** What differs, under the names that administrators know. */
function differences(before: Fields, after: Fields): { before: Fields; after: Fields } {
  const changed = Object.keys(after).filter(key => String(before[key]) !== String(after[key]))
  const pick = (row: Fields): Fields => Object.fromEntries(changed.map(key => [key, row[key]]))
  return { before: pick(before), after: pick(after) }
}

function takenBy(error: unknown): 'username_taken' | 'email_taken' | undefined {
  if (sqlState(error) !== '23505') return undefined
  const constraint = violatedConstraint(error)
  if (constraint === 'users_username_key') return 'username_taken'
  return constraint === 'users_email_key' ? 'email_taken' : undefined
}
