import {
  refuse,
  type PasskeyLogin,
  type PasskeyRequest,
  type SecondFactorLogin,
  type SecondFactorMethod
} from '@netlet/contract'
import { eq } from '../../../infra/db/drizzle.ts'
import type { z } from 'zod'
import type { Actor, UserActor, VisitorActor } from '../../../infra/actor.ts'
import { command, type Unit } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import { fieldRefusal } from '../../../infra/refusals.ts'
import { ok, type Result } from '../../../infra/result.ts'
import { hashToken, type Secrets } from '../../../infra/secrets.ts'
import { beginAttempt, FAILURE_WINDOW } from '../attempts.ts'
import { knownDevice } from '../device-cookie.ts'
import { countClientRequest } from '../forwarded-limits.ts'
import { countLogin, lockToLogIn, openSession, type Browser, type FirstStep, type LoggedIn } from '../open-session.ts'
import { recordSecurityEvent } from '../security-events.ts'
import { users } from '../tables.ts'
import { methodsOf, usePasskey, useProof } from './check.ts'
import { allowLoginByPasskey, factorsOf, passkeyOf, warnOfGuesses } from './factors.ts'
import { newChallenge, passkeyPage, requestOptions } from './passkeys.ts'
import { challengeTicket, findTicket, openTicket, takeTry, useTicket } from './tickets.ts'

/**
 * Wrong ones for an account: of all unknown browsers together, and of each browser that has logged in, so that a thief
 * of the password does not keep the owner out.
 */
const MAX_WRONG = 20
/** From this many on the owner is told, because somebody has the password. */
const TELL_FROM = 5
/** Challenges of one client for log-ins by a passkey alone. */
const CHALLENGES = { most: 60, withinMs: FAILURE_WINDOW }

/** A login whose password was right, and whose second step is to come. */
export type SecondStep = { second_factor: SecondFactorMethod[]; ticket: string }

/** Opens the session of a user whose first step was right, or asks for the second factor if the account has one. */
export async function openOrChallenge(
  unit: Unit,
  secrets: Secrets,
  first: FirstStep,
  browser: Browser
): Promise<Result<LoggedIn | SecondStep>> {
  // A factor that is being added counts, or is added after this session.
  const user = await lockToLogIn(unit, first)
  if (!user.ok) return user
  const methods = await methodsOf(unit.tx, first.userId)
  if (methods.length === 0) return openSession(unit, secrets, first, browser)
  const { userId, method } = first
  return ok({ second_factor: methods, ticket: await openTicket(unit, 'log_in', { userId, method }) })
}

/** A challenge for a passkey of the account that logs in. */
export async function challengeLogin(
  ctx: AppContext,
  by: Actor,
  token: string,
  host: string
): Promise<Result<PasskeyRequest>> {
  const page = passkeyPage(ctx.config, host)
  if (!page) return refuse('passkey_needs_name')
  const hash = hashToken(token)
  const found = await findTicket(ctx, hash, 'log_in')
  if (!found?.userId) return refuse('login_ticket_over')
  const passkeys = await factorsOf(ctx.db, found.userId, 'passkey')
  const challenge = newChallenge()
  return command(ctx, by, async unit =>
    (await challengeTicket(unit, hash, challenge, page))
      ? ok(requestOptions(page, challenge, passkeys))
      : refuse('login_ticket_over')
  )
}

/** The second step of a log-in. A wrong one counts for the ticket and for the account before it is tried. */
export async function finishLogIn(
  ctx: AppContext,
  by: Actor,
  { ticket: token, ...proof }: z.output<typeof SecondFactorLogin>,
  browser: Browser
): Promise<Result<LoggedIn>> {
  const hash = hashToken(token)
  const waiting = await findTicket(ctx, hash, 'log_in')
  const [owner] = waiting?.userId
    ? await ctx.db
        .select({ id: users.id, passwordHash: users.passwordHash, isSuperuser: users.isSuperuser })
        .from(users)
        .where(eq(users.id, waiting.userId))
    : []
  if (!owner) return refuse('login_ticket_over')
  const key = `second-factor:${owner.id}#${knownDevice(ctx.secrets, browser.device, owner) ?? ''}`
  const attempt = await beginAttempt(ctx, by, [key])
  const tries = attempt.counts.get(key) ?? 0
  const ticket = tries > MAX_WRONG ? undefined : await takeTry(ctx, by, hash, 'log_in')
  if (!ticket) {
    await attempt.discard()
    return refuse(tries > MAX_WRONG ? 'second_factor_throttled' : 'login_ticket_over')
  }
  const wrong = fieldRefusal('code', proof.method === 'passkey' ? 'wrong_passkey' : 'wrong_second_factor')
  const opened = await command(ctx, by, async unit => {
    const user = await lockToLogIn(unit, { userId: owner.id })
    if (!user.ok) return user
    if (!(await useTicket(unit, hash))) return refuse('login_ticket_over')
    if (!(await useProof(unit, ctx, user.data, proof, ticket))) return wrong
    if (proof.method === 'passkey' && proof.assertion && ticket.method === 'password')
      await allowLoginByPasskey(unit, proof.assertion.id)
    return openSession(unit, ctx.secrets, { userId: owner.id, method: ticket.method ?? 'password' }, browser)
  })
  if (opened !== wrong) await attempt.discard()
  else {
    if (owner.isSuperuser) await recordSecurityEvent(ctx, by, 'fail_second_factor', { userId: owner.id })
    if (tries >= TELL_FROM) await warnOwner(ctx, by, owner.id)
  }
  return opened
}

function warnOwner(ctx: AppContext, by: Actor, userId: number): Promise<void> {
  return command(ctx, by, async unit => {
    const [user] = await unit.tx.select().from(users).where(eq(users.id, userId))
    if (user) warnOfGuesses(unit, user)
  })
}

/** A challenge for a log-in by a passkey alone. It names no account. */
export async function offerPasskeyLogin(
  ctx: AppContext,
  by: UserActor | VisitorActor,
  host: string
): Promise<Result<{ ticket: string; passkey: PasskeyRequest }>> {
  const page = passkeyPage(ctx.config, host)
  if (!page) return refuse('passkey_needs_name')
  return command(ctx, by, async unit => {
    if (!(await countClientRequest(unit, 'passkey', by, CHALLENGES))) return refuse('too_many')
    const challenge = newChallenge()
    const ticket = await openTicket(unit, 'passkey', { challenge, origin: page.origin })
    return ok({ ticket, passkey: requestOptions(page, challenge, null) })
  })
}

/** Logs in by a passkey alone: it is both factors, because it has checked its owner. One try for each challenge. */
export async function logInByPasskey(
  ctx: AppContext,
  by: Actor,
  { ticket: token, assertion }: z.output<typeof PasskeyLogin>,
  browser: Browser
): Promise<Result<LoggedIn>> {
  const ticket = await takeTry(ctx, by, hashToken(token), 'passkey')
  if (!ticket?.challenge) return refuse('login_ticket_over')
  return command(ctx, by, async unit => {
    await useTicket(unit, ticket.tokenHash)
    const found = await passkeyOf(unit.tx, assertion.id)
    if (!found) return refuse('wrong_passkey')
    const user = await lockToLogIn(unit, { userId: found.userId })
    // Removed while this waited for the lock.
    const passkey = await passkeyOf(unit.tx, assertion.id)
    if (!user.ok || !passkey) return user.ok ? refuse('wrong_passkey') : user
    if (!(await usePasskey(unit, passkey, assertion, ticket, { checksOwner: true }))) return refuse('wrong_passkey')
    if (!passkey.alone) return refuse('passkey_needs_password')
    if (!(await countLogin(unit, passkey.userId))) return refuse('too_many')
    return openSession(unit, ctx.secrets, { userId: passkey.userId, method: 'passkey' }, browser)
  })
}
