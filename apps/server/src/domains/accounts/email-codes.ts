import { randomInt, randomUUID } from 'node:crypto'
import type { Language, Refusal } from '@netlet/contract'
import { and, between, eq, gt, inArray, isNull, lt, sql } from '../../infra/db/drizzle.ts'
import type { Actor, UserActor, VisitorActor } from '../../infra/actor.ts'
import { type Unit, command } from '../../infra/command.ts'
import { lower } from '../../infra/db/columns.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { hashToken } from '../../infra/secrets.ts'
import { enqueueMail } from '../mail/index.ts'
import { readSettings } from '../settings/index.ts'
import { limitedClient, networksOf, widestNetwork } from '../../infra/http/client-address.ts'
import { countForwarded } from './forwarded-limits.ts'
import { knownDevice } from './device-cookie.ts'
import { type CODE_PURPOSES, emailCodes, users } from './tables.ts'
import { DAY, MINUTE } from '../../infra/clock.ts'
import { lock } from '../../infra/db/locks.ts'
import { fieldRefusal } from '../../infra/refusals.ts'

const PAUSE = MINUTE
/** A day, from one client to one address; from wider networks a few times as many. */
const MAX_PER_PAIR = 10
/**
 * A day, from all clients to one address for one purpose, against floods of mail. Reaching it takes several networks of
 * 65,536 clients, and a browser that has logged in to the account is exempt. The owner of another browser has the
 * link of the last mail.
 */
const MAX_PER_ADDRESS = 100

/** How long codes are kept, used or not: these limits count them. */
export const CODES_KEPT = DAY

/**
 * May this client have another code mailed to this address? Limits count by client, so that strangers cannot block the
 * owner's code. They apply equally to unregistered addresses. A concurrent request waits here, and then sees the first
 * one's code.
 * @returns the refusal, or whether this is the last one before a limit of the day
 */
async function judgeCode(
  { tx, now }: Unit,
  { client, email, purpose, isKnown }: { client: string; email: string; purpose: Purpose; isKnown: boolean }
): Promise<Refusal | { isLast: boolean }> {
  await lock(tx, 'emailCodeAddress', email)
  await lock(tx, 'emailCodeClient', widestNetwork(client))
  // Each purpose for itself: a flood of sign-up codes does not keep the owner from a reset.
  const ofPurpose = and(eq(lower(emailCodes.email), email), eq(emailCodes.purpose, purpose))
  let isLast = false
  // Codes with a future time, from a clock that ran ahead, do not count.
  const since = (milliseconds: number) =>
    between(emailCodes.createdAt, new Date(now.getTime() - milliseconds), new Date(now.getTime() + MINUTE))
  for (const { cidr, timesOne, timesAll } of networksOf(client)) {
    const within = sql`${emailCodes.clientIp} <<= ${cidr}::inet`
    if ((await tx.$count(emailCodes, and(within, since(PAUSE)))) >= timesAll)
      return fieldRefusal('email_code', 'email_code_too_soon', {}, { retry_after: PAUSE / 1000 })
    const left = MAX_PER_PAIR * timesOne - (await tx.$count(emailCodes, and(within, ofPurpose, since(DAY))))
    if (left <= 0) return fieldRefusal('email_code', 'email_code_limit')
    isLast ||= left === 1
  }
  const left = MAX_PER_ADDRESS - (await tx.$count(emailCodes, and(ofPurpose, since(DAY))))
  if (!isKnown && left <= 0) return fieldRefusal('email_code', 'email_code_limit')
  return { isLast: isLast || left === 1 }
}

const MAX_TRIES = 5

type Purpose = (typeof CODE_PURPOSES)[number]

const TEMPLATES = {
  register: 'sign-up-code',
  forgot: 'forgot-code',
  change_email: 'change-email-code'
} as const satisfies Record<Purpose, string>

type Asked = {
  email: string
  purpose: Purpose
  /** The browser's proof of its last login. */
  device: string | undefined
  /** Of the page with the form; by default the owner's own, or English. */
  language?: Language | undefined
}

/**
 * Mails a 6-digit code. Reply and timing do not reveal whether the address is registered. If there is nothing to
 * confirm (a taken address, or an unknown one for a reset), the code stays secret; the owner of a taken address is
 * notified.
 */
export async function sendEmailCode(
  ctx: AppContext,
  by: UserActor | VisitorActor,
  { purpose, device, language, ...asked }: Asked
): Promise<Result<{ email_code_id: string }>> {
  const settings = await readSettings(ctx.db, ctx.secrets)
  const client = limitedClient(by)
  const email = asked.email.toLowerCase()
  return command(ctx, by, async unit => {
    const { tx, now } = unit
    const [owner] = await tx
      .select()
      .from(users)
      .where(and(eq(lower(users.email), email), isNull(users.deletedAt)))
    const isKnown = owner !== undefined && knownDevice(ctx.secrets, device, owner) !== undefined
    // The cookie identifies a browser that has logged in, even behind a proxy.
    const flooded = () => (isKnown ? null : countForwarded(unit, by, 'code'))
    const judged = await judgeCode(unit, { client, email, purpose, isKnown })
    if ('reason' in judged) return judged
    const refused = await flooded()
    if (refused) return refused
    const id = randomUUID()
    const code = String(randomInt(1_000_000)).padStart(6, '0')
    const link = judged.isLast && purpose === 'forgot' ? randomUUID() : null
    const expiresAt = new Date(now.getTime() + (link ? CODES_KEPT : settings.email_code_expire * 1000))
    await tx.insert(emailCodes).values({
      id,
      email,
      purpose,
      codeHash: ctx.secrets.mac(hashed(id, code)),
      clientIp: client,
      createdAt: now,
      expiresAt,
      // The link counts, and the code does not.
      ...(link ? { verifyId: storedProof(link), usedAt: now } : {})
    })
    const own = owner?.language ?? 'en'
    const mail = { to: owner?.email ?? asked.email, key: `code:${id}` } as const
    if (owner && purpose !== 'forgot') {
      enqueueMail(unit, { ...mail, language: own, template: 'address-registered', data: { at: now.toISOString() } })
    } else if (owner?.isActive && link) {
      const proof = new URLSearchParams({ email: owner.email, verify_id: link })
      const sealed_proof = ctx.secrets.seal(String(proof)).toString('base64')
      enqueueMail(unit, { ...mail, language: language ?? own, template: 'forgot-link', data: { sealed_proof } })
    } else if (purpose !== 'forgot' || owner?.isActive) {
      // Sealed, because the job table must not contain a code that opens an account.
      const data = { sealed_code: ctx.secrets.seal(code).toString('base64'), expires_at: expiresAt.toISOString() }
      enqueueMail(unit, { ...mail, language: language ?? own, template: TEMPLATES[purpose], data })
    }
    return ok({ email_code_id: id })
  })
}

/** How the proof of a reset is stored, as a UUID: a stolen database must not suffice to reset a password. */
export const storedProof = (verifyId: string): string => hashToken(verifyId.toLowerCase()).toString('hex').slice(0, 32)

/** Six digits are easy to find from a plain hash, so this one needs the shop's secret. */
const hashed = (id: string, code: string): string => `email code ${id} ${code}`

export type CodeTry = { id: string; email: string; purpose: Purpose; code: string }

/**
 * Checks a code. Wrong tries count; after five every code is wrong. A right code stays valid until `consumeEmailCode`
 * takes it. A command of its own before the one that may be refused, so that the count stays.
 */
export async function tryEmailCode(
  ctx: AppContext,
  by: Actor,
  { id, email, purpose, code }: CodeTry
): Promise<boolean> {
  const right = inArray(emailCodes.codeHash, ctx.secrets.macs(hashed(id, code)))
  const [tried] = await command(ctx, by, ({ tx, now }) =>
    tx
      .update(emailCodes)
      .set({ attempts: sql`${emailCodes.attempts} + case when ${right} then 0 else 1 end` })
      .where(and(usable(id, email, purpose, now), lt(emailCodes.attempts, MAX_TRIES)))
      .returning({ right: sql<boolean>`${right}` })
  )
  return tried?.right ?? false
}

/** Takes a right code, once even if concurrent. `verifyId` is stored as the proof. */
export async function consumeEmailCode(
  { tx, now }: Unit,
  { id, email, purpose }: Omit<CodeTry, 'code'>,
  proof?: { verifyId: string; expiresAt: Date }
): Promise<boolean> {
  const taken = await tx
    .update(emailCodes)
    .set({ usedAt: now, ...proof })
    .where(usable(id, email, purpose, now))
    .returning({ id: emailCodes.id })
  return taken.length > 0
}

/**
 * Ends all reset codes that were mailed to this address, and their proofs. The rows stay, because limits count them.
 */
export async function endResetCodes({ tx, now }: Unit, address: string): Promise<void> {
  await tx
    .update(emailCodes)
    .set({ verifyId: null, usedAt: sql`coalesce(${emailCodes.usedAt}, ${now.toISOString()}::timestamptz)` })
    .where(
      and(
        eq(lower(emailCodes.email), address.toLowerCase()),
        eq(emailCodes.purpose, 'forgot'),
        gt(emailCodes.expiresAt, now)
      )
    )
}

const usable = (id: string, email: string, purpose: Purpose, now: Date) =>
  and(
    eq(emailCodes.id, id),
    eq(lower(emailCodes.email), email.toLowerCase()),
    eq(emailCodes.purpose, purpose),
    isNull(emailCodes.usedAt),
    gt(emailCodes.expiresAt, now)
  )
