import { refuse, type User, type UserForm } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { z } from 'zod'
import type { UserActor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { ok, type Result } from '../../infra/result.ts'
import { staleEdit, type Edit } from '../../infra/version.ts'
import type { AppContext } from '../../infra/context.ts'
import { moveChoices } from '../mail/index.ts'
import { lockUser } from './balance.ts'
import { USER_CONFLICTS } from './create-user.ts'
import { isOnlyOne, lockActiveAdmins } from './last-admin.ts'
import { hashPassword } from './passwords.ts'
import type { AccountPorts } from './ports.ts'
import { presentUser, userColumns, userFields } from './present-user.ts'
import { endSessionsOf } from './sessions.ts'
import { users } from './tables.ts'

type Change = Partial<typeof users.$inferInsert>

/** Saves the fields of the Edit dialog that are given. Coins change by a points record of the difference. */
export async function editUser(
  ctx: AppContext,
  by: UserActor,
  { setCoins, levelThresholds }: Pick<AccountPorts, 'setCoins' | 'levelThresholds'>,
  userId: number,
  { version, ...form }: Edit<z.output<typeof UserForm>>
): Promise<Result<User>> {
  const passwordHash = form.password === undefined ? undefined : await hashPassword(form.password)
  return command(ctx, by, { unique: USER_CONFLICTS }, async unit => {
    const { tx } = unit
    const admins = await lockActiveAdmins(tx)
    const before = await lockUser(tx, userId)
    if (!before) return refuse('not_found')
    const shown = presentUser(before, await levelThresholds(tx))
    const stale = staleEdit(version, shown, { now: userFields(shown), sent: userFields(form) })
    if (stale) return stale
    const banned = form.is_active === false && before.isActive
    if (banned && userId === by.id) return refuse('own_account')
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
    if (form.email !== undefined) await moveChoices(unit, before.email, form.email)
    if (form.reward_points !== undefined) await setCoins(unit, userId, form.reward_points)
    if (banned || passwordHash !== undefined)
      await endSessionsOf(unit, userId, userId === by.id ? (by.sessionHash ?? undefined) : undefined)

    const [after] = await tx.select(userColumns).from(users).where(eq(users.id, userId))
    if (!after) throw new Error(`user ${userId} went away under a lock`)
    const changed = differences(before, after)
    if (passwordHash !== undefined) changed.after['password'] = true
    if (Object.keys(changed.after).length > 0) unit.audit('user.edit', userId, changed)
    unit.publish('user', userId, userId)
    return ok(presentUser(after, await levelThresholds(tx)))
  })
}

type Fields = Record<string, unknown>

/** The columns that differ. */
function differences(before: Fields, after: Fields): { before: Fields; after: Fields } {
  const changed = Object.keys(after).filter(key => String(before[key]) !== String(after[key]))
  const pick = (row: Fields): Fields => Object.fromEntries(changed.map(key => [key, row[key]]))
  return { before: pick(before), after: pick(after) }
}
