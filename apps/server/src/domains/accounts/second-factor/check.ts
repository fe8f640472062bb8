import { RECOVERY_CODES, type SecondFactorMethod, type SecondFactorProof } from '@netlet/contract'
import { generateSecret, generateURI, verifySync } from 'otplib'
import type { Unit } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { and, eq, inArray, isNull, lt, or } from '../../../infra/db/drizzle.ts'
import { type Factor, factorsOf, type Owner, passkeyOf, notifyOwner } from './factors.ts'
import { handleOf, readAssertion } from './passkeys.ts'
import { recoveryCodes, secondFactors } from './tables.ts'
import { randomCode, type Secrets } from '../../../infra/secrets.ts'

/** How a user can prove its second factor; empty if there is none. */
export async function methodsOf(db: Executor, userId: number): Promise<SecondFactorMethod[]> {
  const kinds = new Set((await factorsOf(db, userId)).map(({ kind }) => kind))
  if (kinds.size === 0) return []
  const methods: SecondFactorMethod[] = (['totp', 'passkey'] as const).filter(kind => kinds.has(kind))
  return (await unusedCodes(db, userId)) > 0 ? [...methods, 'recovery'] : methods
}

/** The challenge that a passkey answers. */
export type Challenge = { challenge: string | null; origin: string | null }

/**
 * Uses up a proof of a locked user's second factor: of two concurrent calls with one code, one succeeds. False if it
 * is not right; then nothing has changed.
 */
export async function useProof(
  unit: Unit,
  ctx: Pick<AppContext, 'config' | 'secrets' | 'log'>,
  user: Owner,
  { method, code, assertion }: SecondFactorProof,
  asked: Challenge
): Promise<boolean> {
  if (method === 'passkey') {
    const passkey = assertion && (await passkeyOf(unit.tx, assertion.id))
    return assertion !== undefined && passkey?.userId === user.id
      ? usePasskey(unit, passkey, assertion, asked, { checksOwner: false })
      : false
  }
  if (code === undefined) return false
  return method === 'totp' ? useAppCode(unit, ctx, user.id, code) : recover(unit, ctx, user, code)
}

async function useAppCode(
  { tx, now }: Unit,
  ctx: Pick<AppContext, 'secrets' | 'log'>,
  userId: number,
  code: string
): Promise<boolean> {
  const [app] = await factorsOf(tx, userId, 'totp')
  const secret = app?.secret && opened(ctx, app.secret)
  const step = secret ? totpStep(secret, code, now) : null
  if (!app || step === null) return false
  const used = await tx
    .update(secondFactors)
    .set({ lastStep: step, lastUsedAt: now })
    .where(and(eq(secondFactors.id, app.id), or(isNull(secondFactors.lastStep), lt(secondFactors.lastStep, step))))
    .returning({ id: secondFactors.id })
  return used.length > 0
}

/** In a database restored under another APP_SECRET, no app's code is right. */
function opened({ secrets, log }: Pick<AppContext, 'secrets' | 'log'>, sealed: Buffer): string | null {
  try {
    return secrets.open(sealed)
  } catch (error) {
    log.warn({ err: error }, 'the secret of an authenticator app cannot be opened with this APP_SECRET')
    return null
  }
}

async function recover(
  unit: Unit,
  { secrets }: Pick<AppContext, 'secrets'>,
  user: Owner,
  code: string
): Promise<boolean> {
  if (!(await useRecoveryCode(unit, secrets, user.id, code))) return false
  const left = await unusedCodes(unit.tx, user.id)
  notifyOwner(unit, user, 'code_used', String(left))
  unit.audit('user.use_recovery_code', user.id, { after: { left } })
  return true
}

/** @param checksOwner the passkey must have checked its owner's PIN or biometrics, because no password was asked for */
export async function usePasskey(
  { tx, now }: Unit,
  passkey: Factor,
  assertion: NonNullable<SecondFactorProof['assertion']>,
  { challenge, origin }: Challenge,
  options: { checksOwner: boolean }
): Promise<boolean> {
  if (challenge === null || origin === null) return false
  const { userHandle } = assertion.response
  if (userHandle && userHandle !== handleOf(passkey.userId)) return false
  const counter = await readAssertion(assertion, challenge, origin, passkey, options)
  if (counter === null) return false
  const used = await tx
    .update(secondFactors)
    .set({ counter, lastUsedAt: now })
    .where(and(eq(secondFactors.id, passkey.id), eq(secondFactors.counter, passkey.counter)))
    .returning({ id: secondFactors.id })
  return used.length > 0
}

/** Seconds of a code. The one before and the one after are accepted, for clocks that differ. */
const PERIOD = 30

/** The secret for a new authenticator app: 160 bits, base32. */
export const newTotpSecret = (): string => generateSecret()

/** What the QR code holds. */
export const totpUri = (secret: string, { shop, username }: { shop: string; username: string }): string =>
  generateURI({ issuer: shop, label: username, secret })

/** The time step of a right code; null if it is wrong. @param code six digits */
export function totpStep(secret: string, code: string, now: Date): number | null {
  const epoch = Math.floor(now.getTime() / 1000)
  const found = verifySync({ secret, token: code, epoch, period: PERIOD, epochTolerance: PERIOD })
  return found.valid && 'timeStep' in found ? found.timeStep : null
}

const LENGTH = 10

/** A code has 50 random bits, so a stolen database alone must not suffice to find it. */
const hashed = (userId: number, code: string): string => `recovery code ${userId} ${code}`

/** Does the account have codes, used ones included? */
export const hasRecoveryCodes = async (db: Executor, userId: number): Promise<boolean> =>
  (await db.$count(recoveryCodes, eq(recoveryCodes.userId, userId))) > 0

export const unusedCodes = (db: Executor, userId: number): Promise<number> =>
  db.$count(recoveryCodes, and(eq(recoveryCodes.userId, userId), isNull(recoveryCodes.usedAt)))

/** Gives a locked user ten recovery codes instead of those before. @returns them; the database has their hashes */
export async function makeRecoveryCodes({ tx }: Unit, secrets: Secrets, userId: number): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () => randomCode(LENGTH))
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId))
  await tx.insert(recoveryCodes).values(codes.map(code => ({ userId, codeHash: secrets.mac(hashed(userId, code)) })))
  return codes.map(code => `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`)
}

/** Uses a code up; false if it is wrong or was used. @param code without spaces and dashes, lowercase */
export async function useRecoveryCode(
  { tx, now }: Unit,
  secrets: Secrets,
  userId: number,
  code: string
): Promise<boolean> {
  const used = await tx
    .update(recoveryCodes)
    .set({ usedAt: now })
    .where(
      and(
        eq(recoveryCodes.userId, userId),
        inArray(recoveryCodes.codeHash, secrets.macs(hashed(userId, code))),
        isNull(recoveryCodes.usedAt)
      )
    )
    .returning({ userId: recoveryCodes.userId })
  return used.length > 0
}
