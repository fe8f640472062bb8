import { refuse, type Refusal } from '@netlet/contract'
import { and, eq, isNull, lt, or } from 'drizzle-orm'
import type { Actor, UserActor, VisitorActor } from '../../infra/actor.ts'
import { DAY } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { enqueueMail } from '../mail/index.ts'
import { beginAttempt, countFailures, takeTurn, deviceKey, nameKey } from './attempts.ts'
import { consumeCaptcha } from './captcha.ts'
import { clientNetwork } from './client-network.ts'
import { users } from './tables.ts'

/** Failures within the window from which on a captcha is asked for. */
const CAPTCHA_FROM = 3
/** From which on nothing is tried any more: of one client for one name, of one client, of one known browser. */
const MAX_PER_PAIR = 20
const MAX_PER_CLIENT = 50
const MAX_PER_DEVICE = 20
/**
 * Of all unknown browsers together for one username or address. It takes many networks to get there, and keeps nobody out who has
 * logged in before.
 */
const MAX_PER_NAME = 100

export type LoginAttempt = {
  /** Does this attempt, where it fails, make the next one need a captcha? */
  nextNeedsCaptcha: boolean
  /** It did not fail: it does not count. */
  discard: () => Promise<void>
  /** It failed: whoever waits for it goes on. */
  fail: () => Promise<void>
  /** What the owner's login clears. */
  keys: string[]
}

type Trying = {
  /** Undefined where there is no such account. */
  userId: number | undefined
  /** What was typed, lowercase. */
  name: string
  ip: string
  /** Names the browser, where it has logged in to this account before. */
  device: string | undefined
  captcha: { id: string | undefined; answer: number | undefined }
}

/**
 * Counts a login before it is tried. A browser that has logged in to the account before is counted by itself: no
 * stranger's failures keep it out. Every other one counts for its client, for its client at this name, and for the name
 * that was typed. Not for the account: failures by the address would otherwise show at the username that belongs to it.
 * @returns a refusal where nothing may be tried: 'login_throttled', 'captcha_required' or 'wrong_captcha'
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
 * It counts against the name last, when everything else has let it pass: thousands of attempts that are refused anyway
 * must not, while they are looked at, make the account look like one that is being guessed from everywhere.
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
  const before = await countFailures(ctx, name)
  const throttle = async (discard: () => Promise<void>) => {
    if (userId !== undefined) await warnOwner(ctx, by, userId)
    return refused(discard, 'login_throttled')
  }
  if (before >= MAX_PER_NAME) return throttle(own.discard)
  const asked = ofClient > CAPTCHA_FROM || before >= CAPTCHA_FROM
  if (asked && isMissing(captcha)) return refused(own.discard, 'captcha_required')
  // A wrong captcha counts for the client that sent it, not against the name.
  if (asked && !(await consumeCaptcha(ctx, by, captcha.id, captcha.answer))) return refused(own.fail, 'wrong_captcha')
  const shared = await takeTurn(ctx, by, [name], turnsOf(captcha))
  const discard = async () => {
    await own.discard()
    await shared.discard()
  }
  const ofName = shared.counts.get(name) ?? 0
  if (ofName > MAX_PER_NAME) return throttle(discard)
  // Others came at the same time.
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

/** How many may be under way at once that may be wrong: more would pass the limit from which on a captcha is asked for. */
const turnsOf = (captcha: Trying['captcha']): number => (isMissing(captcha) ? CAPTCHA_FROM : MAX_PER_CLIENT)

const isMissing = ({ id, answer }: Trying['captcha']): boolean => id === undefined || answer === undefined

type LoginRefusal = 'login_throttled' | 'captcha_required' | 'wrong_captcha'

const refuseLogin = (reason: LoginRefusal): Refusal =>
  reason === 'login_throttled' ? refuse(reason) : fieldRefusal('captcha', reason, {}, { require_captcha: true })

/** @param end takes back what does not count, since nothing was tried, or lets it count */
async function refused(end: () => Promise<void>, reason: LoginRefusal): Promise<Refusal> {
  await end()
  return refuseLogin(reason)
}

/**
 * Checks the captcha of something else than a log-in: a wrong one counts for the client that sent it, like a failed
 * log-in. Refuses 'wrong_captcha', and 'too_many' where this client has failed too often.
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

/** Tells the owner, at most once a day, that somebody guesses the password. */
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
