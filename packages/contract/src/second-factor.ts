import { z } from 'zod'
import { ownPassword } from './account-fields.ts'
import { message } from './form-messages.ts'
import { Id, Time, text } from './shapes.ts'

/** What an account has besides its password. */
export const SECOND_FACTORS = ['totp', 'passkey'] as const
export type SecondFactorKind = (typeof SECOND_FACTORS)[number]

/** How its owner proves to have it. */
export const SECOND_FACTOR_METHODS = [...SECOND_FACTORS, 'recovery'] as const
export type SecondFactorMethod = (typeof SECOND_FACTOR_METHODS)[number]

/** Recovery codes that an account gets at once. */
export const RECOVERY_CODES = 10

const base64url = (max: number) =>
  z
    .string({ error: message('forbidden_character') })
    .max(max, message('at_most_characters', { max }))
    .regex(/^[A-Za-z0-9_-]+$/, message('forbidden_character'))
/** WebAuthn limits a credential's id to 1023 bytes. */
const credentialId = base64url(1364)
const attachment = z.enum(['platform', 'cross-platform']).nullish()
const transports = z.array(base64url(32)).max(8, message('at_most_rows', { max: 8 }))

/** A passkey's answer to a challenge, as WebAuthn's toJSON gives it. */
export const PasskeyAssertion = z.object({
  id: credentialId,
  rawId: credentialId,
  type: z.literal('public-key'),
  authenticatorAttachment: attachment,
  response: z.object({
    clientDataJSON: base64url(4096),
    authenticatorData: base64url(4096),
    signature: base64url(8192),
    /** Empty or null without one. */
    userHandle: z.union([z.literal(''), base64url(128)]).nullish()
  })
})
export type PasskeyAssertion = z.infer<typeof PasskeyAssertion>

/** A new passkey, as WebAuthn's toJSON gives it. */
export const PasskeyAttestation = z.object({
  id: credentialId,
  rawId: credentialId,
  type: z.literal('public-key'),
  authenticatorAttachment: attachment,
  response: z.object({
    clientDataJSON: base64url(4096),
    attestationObject: base64url(32_768),
    transports: transports.optional()
  })
})
export type PasskeyAttestation = z.infer<typeof PasskeyAttestation>

const KnownPasskey = z.object({ id: z.string(), type: z.literal('public-key'), transports: transports.optional() })

/** What the browser passes to `navigator.credentials.get`. */
export const PasskeyRequest = z.object({
  challenge: z.string(),
  rpId: z.string(),
  timeout: z.number(),
  userVerification: z.enum(['required', 'preferred', 'discouraged']),
  /** Empty: any passkey of this shop. */
  allowCredentials: z.array(KnownPasskey)
})
export type PasskeyRequest = z.infer<typeof PasskeyRequest>

/** What the browser passes to `navigator.credentials.create`. */
export const PasskeyCreation = z.object({
  challenge: z.string(),
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.number() })),
  timeout: z.number(),
  attestation: z.literal('none'),
  authenticatorSelection: z.object({
    residentKey: z.literal('preferred'),
    requireResidentKey: z.boolean(),
    userVerification: z.literal('preferred')
  }),
  excludeCredentials: z.array(KnownPasskey)
})
export type PasskeyCreation = z.infer<typeof PasskeyCreation>

const NO_CODE = message('enter_second_factor')

/** Spaces and dashes are for reading only. */
const code = z
  .string({ error: NO_CODE })
  .max(64, NO_CODE)
  .transform(typed => typed.replaceAll(/[\s-]/g, '').toLowerCase())

/** Six digits of the authenticator app. */
const isAppCode = (typed: string | undefined): boolean => typed !== undefined && /^\d{6}$/.test(typed)

const proof = {
  method: z.enum(SECOND_FACTOR_METHODS, { error: message('must_select') }),
  /** Of the authenticator app, or a recovery code. */
  code: code.optional(),
  /** For `passkey`. */
  assertion: PasskeyAssertion.optional()
}
type Proof = { method: SecondFactorMethod; code?: string | undefined; assertion?: PasskeyAssertion | undefined }

const isComplete = ({ method, code: typed, assertion }: Proof): boolean =>
  method === 'passkey' ? assertion !== undefined : method === 'totp' ? isAppCode(typed) : Boolean(typed)
const incomplete = { path: ['code'], error: NO_CODE }

export const SecondFactorProof = z.object(proof).refine(isComplete, incomplete)
export type SecondFactorProof = z.infer<typeof SecondFactorProof>

/** A log-in that has passed its first step. */
const ticket = z.string().max(64, message('at_most_characters', { max: 64 }))

export const SecondFactorLogin = z.object({ ticket, ...proof }).refine(isComplete, incomplete)
export const SecondFactorTicket = z.object({ ticket })
export const PasskeyLogin = z.object({ ticket, assertion: PasskeyAssertion })

/** The fields by which a signed-in user confirms a call: the password, or a second factor of the account. */
export const confirmation = { password: ownPassword.optional(), second_factor: SecondFactorProof.optional() }
export type Confirmation = { password?: string | undefined; second_factor?: SecondFactorProof | undefined }

export const isConfirmed = (form: Confirmation): boolean =>
  form.password !== undefined || form.second_factor !== undefined
export const unconfirmed = { path: ['password'], error: message('enter_your_password') }

/** An operator's session confirms itself by the password and, if the account has one, a second factor. */
export const SessionConfirmation = z.object({ password: ownPassword, second_factor: SecondFactorProof.optional() })
export type SessionConfirmation = z.infer<typeof SessionConfirmation>

export const SecondFactor = z.object({
  id: z.number(),
  method: z.enum(SECOND_FACTORS),
  name: z.string(),
  created_at: Time,
  last_used_at: Time.nullable()
})
export type SecondFactor = z.infer<typeof SecondFactor>

export const SecondFactors = z.object({
  factors: z.array(SecondFactor),
  recovery_codes_left: z.number(),
  /** The account is an operator's, and the shop requires one of operators: the last one stays. */
  required: z.boolean(),
  /** Can passkeys be made at the shop's present address? */
  passkeys: z.boolean()
})
export type SecondFactors = z.infer<typeof SecondFactors>

const factorName = text(message('enter_a_name'), 64)

export const SecondFactorForm = z
  .object({ method: z.enum(SECOND_FACTORS, { error: message('must_select') }), ...confirmation })
  .refine(isConfirmed, unconfirmed)
export const SecondFactorConfirmForm = z
  .object({
    /** The first code of the authenticator app. */
    code: code.optional(),
    attestation: PasskeyAttestation.optional(),
    name: factorName.optional()
  })
  .refine(form => form.attestation !== undefined || isAppCode(form.code), incomplete)
export const SecondFactorRename = z
  .object({ id: Id, name: factorName, ...confirmation })
  .refine(isConfirmed, unconfirmed)
export const SecondFactorRemoval = z.object({ id: Id, ...confirmation }).refine(isConfirmed, unconfirmed)
