import { MAX_COINS, refuse, type Refusal, type User, type UserForm } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { z } from 'zod'
import type { UserActor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { staleEdit, type Edit } from '../../infra/version.ts'
import type { AppContext } from '../../infra/context.ts'
import { moveChoices } from '../mail/index.ts'
import { lockUser } from './balance.ts'
import { USER_CONFLICTS } from './create-user.ts'
import { tellEmailChanged } from './change-email.ts'
import { endAccess, tellPasswordChanged } from './end-access.ts'
import { isOnlyOne, lockActiveAdmins } from './last-admin.ts'
import { hashPassword } from './passwords.ts'
import type { AccountPorts } from './ports.ts'
import { presentUser, userColumns, userFields } from './present-user.ts'
import { users } from './tables.ts'

type Change = Partial<typeof users.$inferInsert>

/**
 * Saves the fields of the Edit dialog that are given. Coins and level points change by an amount, with their record, so
 * that what was spent meanwhile does not come back; a ban is lifted by `unbanUser`, or by a form that was opened after it.
 */
export async function editUser(
  ctx: AppContext,
  by: UserActor,
  { changePoints, levelThresholds }: Pick<AccountPorts, 'changePoints' | 'levelThresholds'>,
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
    const stale = staleEdit(version, shown, { now: userFields(shown), sent: sentFields(form) })
    if (stale) return stale
    const refused = refuseForm(shown, form, version)
    if (refused) return refused
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
    await changePoints(unit, userId, { kind: 'coins', by: form.reward_points_change ?? 0 })
    await changePoints(unit, userId, { kind: 'level', by: form.level_points_change ?? 0 })
    const promoted = form.is_superuser === true && !before.isSuperuser
    const cause = banned ? 'ban' : passwordHash === undefined ? 'rights' : 'password'
    if (banned || demoted || promoted || passwordHash !== undefined)
      await endAccess(unit, before, { cause, keep: userId === by.id ? by.sessionHash : null })
    if (passwordHash !== undefined) tellPasswordChanged(unit, before)

    const [after] = await tx.select(userColumns).from(users).where(eq(users.id, userId))
    if (!after) throw new Error(`user ${userId} went away under a lock`)
    if (after.email !== before.email) tellEmailChanged(unit, before, after.email)
    const changed = differences(before, after)
    if (passwordHash !== undefined) changed.after['password'] = true
    if (Object.keys(changed.after).length > 0) unit.audit('user.edit', userId, changed)
    unit.publish('user', userId, userId)
    return ok(presentUser(after, await levelThresholds(tx)))
  })
}

type Sent = z.output<typeof UserForm>

/** A change of points names the balance that it changes, where the form is stale. */
const sentFields = (form: Sent) =>
  userFields({
    ...form,
    reward_points: form.reward_points_change ? Number.NaN : form.reward_points,
    level_points: form.level_points_change ? Number.NaN : undefined
  })

/** Refuses what a form may not set, whatever its version. */
function refuseForm(current: User, form: Sent, version: string | undefined): Refusal | null {
  if (form.reward_points !== undefined && form.reward_points !== current.reward_points)
    return refuse('points_by_change', { data: { current, changed: ['reward_points'] } })
  if (form.is_active === true && !current.is_active && version === undefined)
    return refuse('stale', { data: { current, changed: ['is_active'] } })
  for (const [field, balance, change] of [
    ['reward_points_change', current.reward_points, form.reward_points_change],
    ['level_points_change', current.level_points, form.level_points_change]
  ] as const) {
    const after = balance + (change ?? 0)
    if (change && (after < 0 || after > MAX_COINS))
      return fieldRefusal(field, 'points_out_of_range', { balance, min: 0, max: MAX_COINS })
  }
  return null
}

type Fields = Record<string, unknown>

/** The columns that differ. */
function differences(before: Fields, after: Fields): { before: Fields; after: Fields } {
  const changed = Object.keys(after).filter(key => String(before[key]) !== String(after[key]))
  const pick = (row: Fields): Fields => Object.fromEntries(changed.map(key => [key, row[key]]))
  return { before: pick(before), after: pick(after) }
}
