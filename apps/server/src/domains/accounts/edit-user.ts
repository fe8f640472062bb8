import {
  FIRST_ROLE,
  MAX_COINS,
  type OperatorRole,
  type Refusal,
  type User,
  type UserForm,
  refuse
} from '@netlet/contract'
import type { PasswordOwner } from '@netlet/contract/password-strength'
import { eq } from '../../infra/db/drizzle.ts'
import type { z } from 'zod'
import { type UserActor, mayDo } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { type Result, done, ok } from '../../infra/result.ts'
import { staleEdit, type Edit } from '../../infra/version.ts'
import { secondFactors } from './second-factor/tables.ts'
import type { AppContext } from '../../infra/context.ts'
import { moveChoices } from '../mail/index.ts'
import { USER_CONFLICTS } from './create-user.ts'
import { endOldAddress } from './change-email.ts'
import { unbind } from './discord-binding.ts'
import { endAccess, notifyPasswordChanged } from './end-access.ts'
import { lockUserAndOwners, refuseOperator } from './operators.ts'
import { hashChosen } from './passwords.ts'
import type { AccountPorts } from './ports.ts'
import { presentUser, userColumns, userFields, type UserRow } from './present-user.ts'
import { users } from './tables.ts'
import { lockUser } from './balance.ts'

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
  const chosen = await hashNewPassword(ctx, userId, password)
  if (!chosen.ok) return chosen
  const passwordHash = chosen.data
  return command(ctx, by, async unit => {
    const user = await lockUser(unit.tx, userId)
    if (!user) return refuse('not_found')
    const refused = refuseOperator(by, user)
    if (refused) return refused
    await unit.tx.update(users).set({ passwordHash }).where(eq(users.id, userId))
    const token = await endAccess(unit, user, { cause: 'password', keep: userId === by.id ? by.sessionHash : null })
    await unbind(unit, user)
    notifyPasswordChanged(unit, user)
    unit.audit('user.set_password', userId, { after: { password: true } })
    return ok({ token })
  })
}

/** @param names those that the form gives the user */
async function hashNewPassword(ctx: AppContext, userId: number, password: string, names: Partial<PasswordOwner> = {}) {
  const [user] = await ctx.db
    .select({ username: users.username, email: users.email })
    .from(users)
    .where(eq(users.id, userId))
  return hashChosen(password, { username: names.username ?? user?.username, email: names.email ?? user?.email })
}

type Change = Partial<typeof users.$inferInsert>

/**
 * Saves the given fields of the Edit dialog. Coins and level points change by an amount, so that coins spent in the
 * meantime do not return. A ban is lifted by `unbanUser`, or by a form that was opened after it.
 * @returns the user, and the current session's new token if it changed
 */
export async function editUser(
  ctx: AppContext,
  by: UserActor,
  {
    changePoints,
    levelThresholds,
    syncCodesToAddress
  }: Pick<AccountPorts, 'changePoints' | 'levelThresholds' | 'syncCodesToAddress'>,
  userId: number,
  { version, ...form }: Edit<z.output<typeof UserForm>>
): Promise<Result<{ user: User; token: string | undefined }>> {
  const chosen = form.password === undefined ? ok(undefined) : await hashNewPassword(ctx, userId, form.password, form)
  if (!chosen.ok) return chosen
  const passwordHash = chosen.data
  return command(ctx, by, { unique: USER_CONFLICTS }, async unit => {
    const { tx } = unit
    const { user: before, isOnlyOwner } = await lockUserAndOwners(tx, userId)
    if (!before) return refuse('not_found')
    const shown = presentUser(before, await levelThresholds(tx))
    const listed = { ...shown, second_factors: await tx.$count(secondFactors, eq(secondFactors.userId, userId)) }
    const stale = staleEdit(version, listed, { now: userFields(shown), sent: sentFields(form) })
    if (stale) return stale
    const refused = refuseForm(shown, form, version)
    if (refused) return refused
    const rights = rightsOf(before, form)
    const notAllowed = refuseOperator(by, before) ?? (rights.changed ? refuseRights(by) : null)
    if (notAllowed) return notAllowed
    const banned = form.is_active === false && before.isActive
    if (banned && userId === by.id) return refuse('own_account')
    const lost = before.isSuperuser && before.operatorRole === 'owner' && !rights.isOwner
    if ((banned || lost) && isOnlyOwner) return refuse('last_owner')

    const change: Change = {
      username: form.username,
      email: form.email,
      isSuperuser: form.is_superuser,
      operatorRole: rights.role,
      isActive: form.is_active,
      passwordHash
    }
    if (Object.values(change).some(value => value !== undefined))
      await tx.update(users).set(change).where(eq(users.id, userId))
    if (form.email !== undefined) await moveChoices(unit, before.email, form.email)
    await changePoints(unit, userId, { kind: 'coins', by: form.reward_points_change ?? 0 })
    await changePoints(unit, userId, { kind: 'level', by: form.level_points_change ?? 0 })
    const cause = banned ? 'ban' : passwordHash === undefined ? 'rights' : 'password'
    const ends = banned || rights.changed || passwordHash !== undefined
    const keep = userId === by.id ? by.sessionHash : null
    const token = ends ? await endAccess(unit, before, { cause, keep }) : undefined
    // A thief may have bound a chat account. It must not work after the repair, nor in the console.
    const unbanned = form.is_active === true && !before.isActive
    if (unbanned || rights.promoted || passwordHash !== undefined) await unbind(unit, before)
    if (passwordHash !== undefined) notifyPasswordChanged(unit, before)

    const [after] = await tx.select(userColumns).from(users).where(eq(users.id, userId))
    if (!after) throw new Error(`user ${userId} went away under a lock`)
    if (after.email !== before.email) await endOldAddress(unit, { syncCodesToAddress }, before, after.email)
    const changed = differences(auditedUser(before), auditedUser(after))
    if (passwordHash !== undefined) changed.after['password'] = true
    if (Object.keys(changed.after).length > 0) unit.audit('user.edit', userId, changed)
    if (rights.changed)
      unit.audit('user.change_role', userId, { before: { role: roleOf(before) }, after: { role: roleOf(after) } })
    unit.publish('user', userId, userId)
    return ok({ user: presentUser(after, await levelThresholds(tx)), token })
  })
}

type Sent = z.output<typeof UserForm>

type Rights = { changed: boolean; promoted: boolean; isOwner: boolean; role: OperatorRole }

/** A new administrator without a role gets the first one. A role sent for other users is ignored. */
function rightsOf(before: UserRow, form: Sent): Rights {
  const isSuperuser = form.is_superuser ?? before.isSuperuser
  const previous = before.isSuperuser ? before.operatorRole : FIRST_ROLE
  const role = isSuperuser ? (form.operator_role ?? previous) : FIRST_ROLE
  const promoted = isSuperuser && !before.isSuperuser
  const changed = isSuperuser !== before.isSuperuser || (isSuperuser && role !== previous)
  return { changed, promoted, isOwner: isSuperuser && role === 'owner', role }
}

const refuseRights = (by: UserActor): Refusal | null =>
  mayDo(by, 'operators.change') ? null : refuse('role_not_allowed')

/** For a stale form, a change of points counts as a change of its balance. */
const sentFields = (form: Sent) =>
  userFields({
    ...form,
    reward_points: form.reward_points_change ? Number.NaN : form.reward_points,
    level_points: form.level_points_change ? Number.NaN : undefined
  })

/** Refuses changes that a form of any version must not make. */
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

const roleOf = (row: UserRow): OperatorRole | null => (row.isSuperuser ? row.operatorRole : null)

/** A user for the audit log. Only administrators have a role. */
const auditedUser = (row: UserRow): Fields => ({ ...row, operatorRole: roleOf(row) })

function differences(before: Fields, after: Fields): { before: Fields; after: Fields } {
  const changed = Object.keys(after).filter(key => String(before[key]) !== String(after[key]))
  const pick = (row: Fields): Fields => Object.fromEntries(changed.map(key => [key, row[key]]))
  return { before: pick(before), after: pick(after) }
}
