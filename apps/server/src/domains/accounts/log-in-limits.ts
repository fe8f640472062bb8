import { refuse, type Refusal } from '@netlet/contract'
import { and, eq, isNull, lt, or } from 'drizzle-orm'
import type { Actor, UserActor, VisitorActor } from '../../infra/actor.ts'
import { DAY } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { enqueueMail } from '../mail/index.ts'
import { accountKey, beginAttempt } from './attempts.ts'
import { consumeCaptcha } from './captcha.ts'
import { clientNetwork } from './client-network.ts'
import { users } from './tables.ts'

/** Failures within the window from which on a captcha is asked for. */
const CAPTCHA_FROM = 3
/** From which on nothing is tried any more: of one client for one account, of one client, of one known browser. */
const MAX_PER_PAIR = 20
const MAX_PER_CLIENT = 50
const MAX_PER_DEVICE = 20
/**
 * Of all unknown browsers together for one account. It takes many networks to get there, and keeps nobody out who has
 * logged in before.
 */
const MAX_PER_ACCOUNT = 100

export type LoginAttempt = {
  throttled: boolean
  needsCaptcha: boolean
  /** Does this attempt, where it fails, make the next one need a captcha? */
  nextNeedsCaptcha: boolean
  /** Nothing was tried: it does not count. */
  discard(): Promise<void>
  /** The captcha was wrong: it counts for the client that sent it, not against the account. */
  blameClient(): Promise<void>
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
}

/**
 * Counts a login before it is tried. A browser that has logged in to the account before is counted by itself: no
 * stranger's failures keep it out. Every other one counts for its client, for its client at this account, and for the
 * account.
 */
export async function beginLogin(ctx: AppContext, by: Actor, trying: Trying): Promise<LoginAttempt> {
  const { userId, name, ip, device } = trying
  const account = userId === undefined ? `name:${name}` : accountKey(userId)
  if (device !== undefined) {
    const own = `${account}#${device}`
    const attempt = await beginAttempt(ctx, by, [own])
    const failures = attempt.counts.get(own) ?? 0
    return {
      throttled: failures > MAX_PER_DEVICE,
      needsCaptcha: failures > CAPTCHA_FROM,
      nextNeedsCaptcha: failures >= CAPTCHA_FROM,
      discard: () => attempt.discard(),
      blameClient: async () => {},
      keys: [own]
    }
  }
  const network = clientNetwork(ip)
  const pair = `${account}@${network}`
  const client = clientKey(ip)
  const attempt = await beginAttempt(ctx, by, [pair, client, account])
  const [ofPair, ofClient, ofAccount] = [pair, client, account].map(key => attempt.counts.get(key) ?? 0) as [
    number,
    number,
    number
  ]
  if (ofAccount > MAX_PER_ACCOUNT && userId !== undefined) await warnOwner(ctx, by, userId)
  return {
    throttled: ofPair > MAX_PER_PAIR || ofClient > MAX_PER_CLIENT || ofAccount > MAX_PER_ACCOUNT,
    needsCaptcha: ofClient > CAPTCHA_FROM || ofAccount > CAPTCHA_FROM,
    nextNeedsCaptcha: ofClient >= CAPTCHA_FROM || ofAccount >= CAPTCHA_FROM,
    discard: () => attempt.discard(),
    blameClient: () => attempt.discard([account]),
    keys: [pair, account]
  }
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
  const client = clientKey(by.ip)
  const attempt = await beginAttempt(ctx, by, [client])
  const isThrottled = (attempt.counts.get(client) ?? 0) > MAX_PER_CLIENT
  const isRight = !isThrottled && (await consumeCaptcha(ctx, by, captcha.id, captcha.answer))
  if (isThrottled || isRight) await attempt.discard()
  if (isThrottled) return refuse('too_many')
  return isRight ? null : refuse('wrong_captcha')
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
