import {
  type PasskeyCreation,
  refuse,
  type SecondFactor,
  type SecondFactorConfirmForm,
  type SecondFactorForm
} from '@netlet/contract'
import { and, eq } from '../../../infra/db/drizzle.ts'
import type { z } from 'zod'
import type { UserActor } from '../../../infra/actor.ts'
import { command } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import { fieldRefusal } from '../../../infra/refusals.ts'
import { ok, type Result } from '../../../infra/result.ts'
import { readShopName } from '../../settings/index.ts'
import { lockUser } from '../balance.ts'
import { confirmCaller, lockConfirmed } from '../confirm-caller.ts'
import { factorsOf, presentFactor, notifyOwner } from './factors.ts'
import { creationOptions, newChallenge, passkeyPage, readAttestation } from './passkeys.ts'
import { hasRecoveryCodes, makeRecoveryCodes, newTotpSecret, totpStep, totpUri } from './check.ts'
import { secondFactors } from './tables.ts'
import { openSessionTicket, sessionTicket, takeTry, useTicket } from './tickets.ts'

const MAX_FACTORS = 10
const NAMES = { totp: 'Authenticator app', passkey: 'Passkey' } as const

type Begun = { totp: { secret: string; uri: string } | null; passkey: PasskeyCreation | null }

/**
 * Begins to add a second factor to the caller's account. Only the session's ticket remembers it, until its first code
 * or passkey confirms it.
 * @param host the one that the browser addressed
 */
export async function beginSecondFactor(
  ctx: AppContext,
  by: UserActor,
  form: z.output<typeof SecondFactorForm>,
  host: string
): Promise<Result<Begun>> {
  const page = passkeyPage(ctx.config, host)
  if (form.method === 'passkey' && !page) return refuse('passkey_needs_name')
  const confirmed = await confirmCaller(ctx, by, form)
  if (!confirmed.ok) return confirmed
  return command(ctx, by, async unit => {
    const user = await lockConfirmed(unit, confirmed.data)
    if (!user) return refuse('unauthorized')
    const factors = await factorsOf(unit.tx, user.id)
    const full = refuseMore(factors, form.method)
    if (full) return full
    const shop = await readShopName(unit.tx)
    if (form.method === 'totp') {
      const secret = newTotpSecret()
      await openSessionTicket(unit, by, 'enrol', { kind: 'totp', secret: ctx.secrets.seal(secret) })
      return ok({ totp: { secret, uri: totpUri(secret, { shop, username: user.username }) }, passkey: null })
    }
    if (!page) return refuse('passkey_needs_name')
    const challenge = newChallenge()
    await openSessionTicket(unit, by, 'enrol', { kind: 'passkey', challenge, origin: page.origin })
    return ok({ totp: null, passkey: creationOptions({ ...page, shop }, challenge, user, factors) })
  })
}

/** Another authenticator app replaces the one that is there. */
const refuseMore = (factors: readonly { kind: string }[], kind: string) =>
  factors.filter(factor => factor.kind !== 'totp' || kind !== 'totp').length >= MAX_FACTORS
    ? refuse('too_many_kept', { params: { max: MAX_FACTORS } })
    : null

type Added = { factor: SecondFactor; recovery_codes: string[] | null }

/** Adds what this session began. The owner is told by mail, and gets recovery codes with the first factor. */
export async function confirmSecondFactor(
  ctx: AppContext,
  by: UserActor,
  { code, attestation, name }: z.output<typeof SecondFactorConfirmForm>
): Promise<Result<Added>> {
  const hash = sessionTicket(by, 'enrol')
  const ticket = await takeTry(ctx, by, hash, 'enrol')
  if (!ticket?.kind) return refuse('second_factor_not_begun')
  const { kind } = ticket
  const proven =
    kind === 'totp'
      ? appOf(ticket.secret && ctx.secrets.open(ticket.secret), code, ctx.now(), ctx)
      : attestation && ticket.challenge && ticket.origin
        ? await passkeyOf(attestation, ticket.challenge, ticket.origin)
        : null
  if (!proven) return kind === 'totp' ? fieldRefusal('code', 'wrong_second_factor') : refuse('wrong_passkey')
  return command(ctx, by, { unique: { second_factors_credential: 'passkey_taken' } }, async unit => {
    const { tx, now } = unit
    const user = await lockUser(tx, by.id)
    // A change of the password, and a ban, end the ticket under this lock.
    if (!user || !(await useTicket(unit, hash))) return refuse('second_factor_not_begun')
    const full = refuseMore(await factorsOf(tx, user.id), kind)
    if (full) return full
    if (kind === 'totp')
      await tx.delete(secondFactors).where(and(eq(secondFactors.userId, user.id), eq(secondFactors.kind, 'totp')))
    const [added] = await tx
      .insert(secondFactors)
      .values({ ...proven, userId: user.id, kind, name: name ?? NAMES[kind], createdAt: now })
      .returning()
    if (!added) throw new Error('the second factor was not added')
    const codes = (await hasRecoveryCodes(tx, user.id)) ? null : await makeRecoveryCodes(unit, ctx.secrets, user.id)
    notifyOwner(unit, user, 'added', added.name)
    unit.audit('user.add_second_factor', user.id, { after: { method: kind, name: added.name } })
    unit.publish('user', user.id, user.id)
    return ok({ factor: presentFactor(added), recovery_codes: codes })
  })
}

function appOf(secret: string | null, code: string | undefined, now: Date, { secrets }: Pick<AppContext, 'secrets'>) {
  const step = secret && code ? totpStep(secret, code, now) : null
  // The code that confirms the app logs no one in afterwards.
  return secret && step !== null ? { secret: secrets.seal(secret), lastStep: step, lastUsedAt: now } : null
}

async function passkeyOf(
  attestation: NonNullable<z.output<typeof SecondFactorConfirmForm>['attestation']>,
  challenge: string,
  origin: string
) {
  const credential = await readAttestation(attestation, challenge, origin)
  return (
    credential && {
      credentialId: credential.id,
      publicKey: Buffer.from(credential.publicKey),
      counter: credential.counter,
      transports: attestation.response.transports ?? null
    }
  )
}
