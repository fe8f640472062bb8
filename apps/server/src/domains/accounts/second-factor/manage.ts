import { refuse, type Confirmation, type PasskeyRequest, type SecondFactors } from '@netlet/contract'
import { and, eq } from '../../../infra/db/drizzle.ts'
import { SYSTEM, type Actor, type UserActor } from '../../../infra/actor.ts'
import { command, type Unit } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import { lower } from '../../../infra/db/columns.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { done, ok, type Result } from '../../../infra/result.ts'
import { lockUser } from '../balance.ts'
import { confirmCaller, lockConfirmed } from '../confirm-caller.ts'
import { endSessionsOf } from '../sessions.ts'
import { factorsOf, presentFactor, notifyOwner } from './factors.ts'
import { newChallenge, passkeyPage, requestOptions } from './passkeys.ts'
import { makeRecoveryCodes, unusedCodes } from './check.ts'
import { operatorsNeedOne } from './required.ts'
import { users } from '../tables.ts'
import { recoveryCodes, secondFactors } from './tables.ts'
import { endTickets, openSessionTicket } from './tickets.ts'

/** @param host the one that the browser addressed */
export async function listSecondFactors(ctx: AppContext, by: UserActor, host: string): Promise<SecondFactors> {
  const [factors, left, required] = await Promise.all([
    factorsOf(ctx.db, by.id),
    unusedCodes(ctx.db, by.id),
    by.isSuperuser ? operatorsNeedOne(ctx.db) : false
  ])
  return {
    factors: factors.map(presentFactor),
    recovery_codes_left: left,
    required,
    passkeys: passkeyPage(ctx.config, host) !== null
  }
}

/** A challenge by which a passkey confirms one call of this session. */
export function challengeCaller(ctx: AppContext, by: UserActor, host: string): Promise<Result<PasskeyRequest>> {
  return command(ctx, by, async unit => {
    const page = passkeyPage(ctx.config, host)
    if (!page) return refuse('passkey_needs_name')
    const passkeys = await factorsOf(unit.tx, by.id, 'passkey')
    if (passkeys.length === 0) return refuse('no_second_factor')
    const challenge = newChallenge()
    await openSessionTicket(unit, by, 'confirm', { challenge, origin: page.origin })
    return ok(requestOptions(page, challenge, passkeys))
  })
}

const own = (userId: number, id: number) => and(eq(secondFactors.userId, userId), eq(secondFactors.id, id))

export async function renameSecondFactor(
  ctx: AppContext,
  by: UserActor,
  { id, name, ...confirmation }: Confirmation & { id: number; name: string }
): Promise<Result<null>> {
  const confirmed = await confirmCaller(ctx, by, confirmation)
  if (!confirmed.ok) return confirmed
  return command(ctx, by, async unit => {
    const user = await lockConfirmed(unit, confirmed.data)
    if (!user) return refuse('unauthorized')
    const [before] = await unit.tx.select().from(secondFactors).where(own(user.id, id))
    if (!before) return refuse('not_found')
    await unit.tx.update(secondFactors).set({ name }).where(own(user.id, id))
    unit.audit('user.rename_second_factor', user.id, { before: { name: before.name }, after: { name } })
    return done
  })
}

/** Removes a factor. With the last one the recovery codes end. Operators keep the last one while one is required. */
export async function removeSecondFactor(
  ctx: AppContext,
  by: UserActor,
  { id, ...confirmation }: Confirmation & { id: number }
): Promise<Result<null>> {
  const confirmed = await confirmCaller(ctx, by, confirmation)
  if (!confirmed.ok) return confirmed
  return command(ctx, by, async unit => {
    const { tx } = unit
    // Of two concurrent removals, the second one sees that it would remove the last factor.
    const user = await lockConfirmed(unit, confirmed.data)
    if (!user) return refuse('unauthorized')
    const factors = await factorsOf(tx, user.id)
    const factor = factors.find(one => one.id === id)
    if (!factor) return refuse('not_found')
    const isLast = factors.length === 1
    if (isLast && user.isSuperuser && (await operatorsNeedOne(tx))) return refuse('last_second_factor')
    if (isLast) await removeSecondFactors(unit, user.id)
    else await tx.delete(secondFactors).where(eq(secondFactors.id, id))
    notifyOwner(unit, user, 'removed', factor.name)
    unit.audit('user.remove_second_factor', user.id, { before: { method: factor.kind, name: factor.name } })
    unit.publish('user', user.id, user.id)
    return done
  })
}

export async function renewRecoveryCodes(
  ctx: AppContext,
  by: UserActor,
  confirmation: Confirmation
): Promise<Result<{ recovery_codes: string[] }>> {
  const confirmed = await confirmCaller(ctx, by, confirmation)
  if (!confirmed.ok) return confirmed
  return command(ctx, by, async unit => {
    const user = await lockConfirmed(unit, confirmed.data)
    if (!user) return refuse('unauthorized')
    if ((await factorsOf(unit.tx, user.id)).length === 0) return refuse('no_second_factor')
    const codes = await makeRecoveryCodes(unit, ctx.secrets, user.id)
    notifyOwner(unit, user, 'codes_made')
    unit.audit('user.make_recovery_codes', user.id, { after: { left: codes.length } })
    return ok({ recovery_codes: codes })
  })
}

/** Resets another user's second factors, for an owner. */
export async function resetUserSecondFactor(ctx: AppContext, by: UserActor, userId: number): Promise<Result<null>> {
  return userId === by.id ? refuse('own_account') : resetSecondFactors(ctx, by, userId)
}

/**
 * Removes all second factors of a user who lost a device. Its sessions end, because the device may have one. An
 * operator who must have a second factor adds one at the next log-in.
 */
function resetSecondFactors(ctx: AppContext, by: Actor, userId: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    const user = await lockUser(unit.tx, userId)
    if (!user) return refuse('not_found')
    const factors = await factorsOf(unit.tx, userId)
    if (factors.length === 0) return refuse('no_second_factor')
    await removeSecondFactors(unit, userId)
    await endSessionsOf(unit, userId)
    notifyOwner(unit, user, 'reset')
    unit.audit('user.reset_second_factor', userId, { before: { methods: factors.map(({ kind }) => kind) } })
    unit.publish('user', userId, userId)
    return done
  })
}

/** The same for the person at the server's command line. @param name the username or e-mail address */
export async function resetSecondFactorsOf(ctx: AppContext, name: string): Promise<Result<null>> {
  const [user] = await ctx.db
    .select({ id: users.id })
    .from(users)
    .where(eq(lower(name.includes('@') ? users.email : users.username), name.toLowerCase()))
  return user ? resetSecondFactors(ctx, SYSTEM, user.id) : refuse('unknown_user')
}

/** Removes the second factors of a user with all that belongs to them. */
export async function removeSecondFactors({ tx }: Unit, userId: number): Promise<void> {
  await tx.delete(secondFactors).where(eq(secondFactors.userId, userId))
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId))
  await endTickets({ tx }, userId)
}

/** For the export of personal data: what there is, without secrets. */
export const exportSecondFactors = async (db: Executor, userId: number) => ({
  factors: (await factorsOf(db, userId)).map(presentFactor),
  recovery_codes_left: await unusedCodes(db, userId)
})
