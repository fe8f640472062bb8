import { message, refuse, type Refusal, type Route, type SessionConfirmation } from '@netlet/contract'
import type { UserActor } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { eq } from '../../infra/db/drizzle.ts'
import { formRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { readSome } from '../settings/index.ts'
import { confirmCaller, lockConfirmed } from './confirm-caller.ts'
import { methodsOf } from './second-factor/check.ts'
import { renewSession } from './sessions.ts'
import { sessions } from './tables.ts'

/**
 * Refuses an operator's call that the contract marks `needsConfirmation` if the session was neither opened nor
 * confirmed within the time of the setting. Customers' sessions, and those that view the shop as a customer, are never
 * asked.
 */
export async function requireConfirmation(
  ctx: Pick<AppContext, 'db' | 'now'>,
  by: UserActor,
  { needsConfirmation }: Pick<Route, 'needsConfirmation'>,
  { body, query }: { body: unknown; query: unknown }
): Promise<Refusal | null> {
  if (!needsConfirmation || !by.isSuperuser || !by.sessionHash) return null
  const { operator_confirm_minutes: minutes, confirm_refunds_from: refundsFrom } = await readSome(ctx.db, [
    'operator_confirm_minutes',
    'confirm_refunds_from'
  ])
  if (needsConfirmation !== true && !needsConfirmation.asks(body, { refundsFrom }, query)) return null
  const [session] = await ctx.db
    .select({ confirmedAt: sessions.confirmedAt })
    .from(sessions)
    .where(eq(sessions.tokenHash, by.sessionHash))
  const since = ctx.now().getTime() - minutes * MINUTE
  return session?.confirmedAt && session.confirmedAt.getTime() > since
    ? null
    : refuse('confirmation_needed', { data: { minutes } })
}

/**
 * Confirms the operator's session by the password and, if the account has one, a second factor.
 * @returns the session's new token, as after a log-in
 */
export async function confirmSession(
  ctx: AppContext,
  by: UserActor,
  confirmation: SessionConfirmation
): Promise<Result<{ token: string }>> {
  const { sessionHash } = by
  if (!sessionHash) return refuse('key_not_allowed')
  if (!confirmation.second_factor && (await methodsOf(ctx.db, by.id)).length > 0)
    return formRefusal({ code: message('enter_second_factor') })
  const confirmed = await confirmCaller(ctx, by, confirmation)
  if (!confirmed.ok) return confirmed
  return command(ctx, by, async unit => {
    if (!(await lockConfirmed(unit, confirmed.data))) return refuse('unauthorized')
    const token = await renewSession(unit, sessionHash, { confirmedAt: unit.now })
    return token === undefined ? refuse('unauthorized') : ok({ token })
  })
}
