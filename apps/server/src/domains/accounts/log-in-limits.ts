import { refuse, type Refusal } from '@netlet/contract'
import { and, eq, isNull, lt, or } from '../../infra/db/drizzle.ts'
import type { Actor, UserActor, VisitorActor } from '../../infra/actor.ts'
import { DAY } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { enqueueMail } from '../mail/index.ts'
import { beginAttempt, countAround, countFailures, takeTurn, deviceKey, nameKey } from './attempts.ts'
import { consumeCaptcha } from './captcha.ts'
import { clientNetwork, widerNetworks } from '../../infra/http/client-address.ts'
import { users } from './tables.ts'

/** From this many failures within the window on, a login needs a captcha. */
const CAPTCHA_FROM = 3
/**
 * From this many failures on, attempts are refused: of one client for one name, of one client, of one known browser.
 * Of the networks around a client a few times as many.
 */
const MAX_PER_PAIR = 20
const MAX_PER_CLIENT = 50
const MAX_PER_DEVICE = 20
/** Of all unknown browsers for one name or address. Reaching it takes several networks of 65,536 clients, and known browsers are exempt. */
const MAX_PER_NAME = 100

export type LoginAttempt = {
  /** Will the next attempt need a captcha if this one fails? */
  nextNeedsCaptcha: boolean
  /** It did not fail and does not count. */
  discard: () => Promise<void>
  /** It failed, so waiting attempts go on. */
  fail: () => Promise<void>
  /** The keys that the owner's login clears. */
  keys: string[]
}

type Trying = {
  /** Undefined if there is no such account. */
  userId: number | undefined
  /** The typed name, lowercase. */
  name: string
  ip: string
  /** The browser's id if it has logged in to this account before. */
  device: string | undefined
  captcha: { id: string | undefined; answer: number | undefined }
}

/**
 * Counts a login before it is tried. A known browser counts on its own, so that strangers' failures do not block it.
 * Others count for their client, for client and name, and for the typed name; not for the account, because failures by
 * its address would show at its username.
 * @returns a refusal if nothing may be tried: 'login_throttled', 'captcha_required' or 'wrong_captcha'
 */
export async function beginLogin(ctx: AppContext, by: Actor, trying: Trying): Promise<Result<LoginAttempt>> {
  const { userId, device } = trying
  return userId === undefined || device === undefined
    ? beginStrangers(ctx, by, trying)
    : beginKnown(ctx, by, deviceKey(userId, device), trying)
}

async function beginKnown(ctx: AppContext, by: Actor, own: string, { captcha }: Trying): Promise<Result<LoginAttempt>> {
  const attempt = await takeTurn(ctx, by, [own], turnsOf(captcha))
  const { discard, fail } = attempt
  const failures = attempt.counts.get(own) ?? 0
  if (failures > MAX_PER_DEVICE) return refused(discard, 'login_throttled')
  if (failures > CAPTCHA_FROM) {
    if (isMissing(captcha)) return refused(discard, 'captcha_required')
    if (!(await consumeCaptcha(ctx, by, captcha.id, captcha.answer))) return refused(fail, 'wrong_captcha')
  }
  return ok({ nextNeedsCaptcha: failures >= CAPTCHA_FROM, discard, fail, keys: [own] })
}

/**
 * The name counts last, after all other checks: thousands of attempts that are refused anyway must not make the account
 * look attacked from everywhere.
 */
async function beginStrangers(
  ctx: AppContext,
  by: Actor,
  { userId, name: typed, ip, captcha }: Trying
): Promise<Result<LoginAttempt>> {
  const name = nameKey(typed)
  const pair = nameKey(typed, clientNetwork(ip))
  const client = clientKey(ip)
  const own = await takeTurn(ctx, by, [pair, client], turnsOf(captcha))
  const ofClient = own.counts.get(client) ?? 0
  if ((own.counts.get(pair) ?? 0) > MAX_PER_PAIR || ofClient > MAX_PER_CLIENT)
    return refused(own.discard, 'login_throttled')
  for (const { prefix, timesOne, timesAll } of widerNetworks(clientNetwork(ip)))
    if (
      (await countAround(ctx, nameKey(typed, prefix))) > MAX_PER_PAIR * timesOne ||
      (await countAround(ctx, `ip:${prefix}`)) > MAX_PER_CLIENT * timesAll
    )
      return refused(own.discard, 'login_throttled')
  const before = await countFailures(ctx, name)
  const throttle = async (discard: () => Promise<void>) => {
    if (userId !== undefined) await warnOwner(ctx, by, userId)
    return refused(discard, 'login_throttled')
  }
  if (before >= MAX_PER_NAME) return throttle(own.discard)
  const asked = ofClient > CAPTCHA_FROM || before >= CAPTCHA_FROM
  if (asked && isMissing(captcha)) return refused(own.discard, 'captcha_required')
  // A wrong captcha counts for its client, not for the name.
  if (asked && !(await consumeCaptcha(ctx, by, captcha.id, captcha.answer))) return refused(own.fail, 'wrong_captcha')
  const shared = await takeTurn(ctx, by, [name], turnsOf(captcha))
  const discard = async () => {
    await own.discard()
    await shared.discard()
  }
  const ofName = shared.counts.get(name) ?? 0
  if (ofName > MAX_PER_NAME) return throttle(discard)
  // Concurrent attempts have raised the count.
  if (!asked && ofName > CAPTCHA_FROM) {
    if (isMissing(captcha)) return refused(discard, 'captcha_required')
    if (!(await consumeCaptcha(ctx, by, captcha.id, captcha.answer))) {
      await shared.discard()
      return refused(own.fail, 'wrong_captcha')
    }
  }
  return ok({
    nextNeedsCaptcha: ofClient >= CAPTCHA_FROM || ofName >= CAPTCHA_FROM,
    discard,
    async fail() {
      await own.fail()
      await shared.fail()
    },
    keys: [pair, name]
  })
}

/** How many possibly wrong attempts may run at once: more would pass the limit that requires a captcha. */
const turnsOf = (captcha: Trying['captcha']): number => (isMissing(captcha) ? CAPTCHA_FROM : MAX_PER_CLIENT)

const isMissing = ({ id, answer }: Trying['captcha']): boolean => id === undefined || answer === undefined

type LoginRefusal = 'login_throttled' | 'captcha_required' | 'wrong_captcha'

const refuseLogin = (reason: LoginRefusal): Refusal =>
  reason === 'login_throttled' ? refuse(reason) : fieldRefusal('captcha', reason, {}, { require_captcha: true })

/** @param end reverts the count if nothing was tried, or confirms it */
async function refused(end: () => Promise<void>, reason: LoginRefusal): Promise<Refusal> {
  await end()
  return refuseLogin(reason)
}

/**
 * Checks a captcha outside of logins. A wrong one counts for its client like a failed login. Refuses 'wrong_captcha',
 * and 'too_many' after too many failures of the client.
 */
export async function tryCaptcha(
  ctx: AppContext,
  by: UserActor | VisitorActor,
  captcha: { id: string; answer: number }
): Promise<Refusal | null> {
  const client = clientKey(by.forwardedFor ?? by.ip)
  const attempt = await beginAttempt(ctx, by, [client])
  const isThrottled = (attempt.counts.get(client) ?? 0) > MAX_PER_CLIENT
  const isRight = !isThrottled && (await consumeCaptcha(ctx, by, captcha.id, captcha.answer))
  if (isThrottled || isRight) await attempt.discard()
  if (isThrottled) return refuse('too_many')
  return isRight ? null : fieldRefusal('captcha', 'wrong_captcha')
}

const clientKey = (ip: string): string => `ip:${clientNetwork(ip)}`

/** Warns the owner of password guesses, at most once a day. */
async function warnOwner(ctx: AppContext, by: Actor, userId: number): Promise<void> {
  await command(ctx, by, async unit => {
    const { tx, now } = unit
    const yesterday = new Date(now.getTime() - DAY)
    const [owner] = await tx
      .update(users)
      .set({ guessesToldAt: now })
      .where(
        and(
          eq(users.id, userId),
          eq(users.isActive, true),
          or(isNull(users.guessesToldAt), lt(users.guessesToldAt, yesterday))
        )
      )
      .returning({ username: users.username, email: users.email, language: users.language })
    if (!owner) return
    enqueueMail(unit, {
      to: owner.email,
      language: owner.language,
      template: 'login-guesses',
      data: { username: owner.username, at: now.toISOString() },
      key: `login-guesses:${userId}:${now.toISOString()}`
    })
  })
}
