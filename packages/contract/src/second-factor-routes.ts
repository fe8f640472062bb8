import { z } from 'zod'
import { CurrentUser } from './accounts.ts'
import { route } from './route.ts'
import {
  PasskeyCreation,
  PasskeyLogin,
  PasskeyRequest,
  SecondFactor,
  SecondFactorConfirmForm,
  SecondFactorForm,
  SecondFactorLogin,
  SecondFactorRemoval,
  SecondFactorRename,
  SecondFactors,
  SessionConfirmation,
  SecondFactorTicket,
  confirmation,
  isConfirmed,
  unconfirmed
} from './second-factor.ts'
import { Done, IdParams } from './shapes.ts'

const P = '/api/users/second_factor'

/**
 * Calls for second factors, and log-ins that use one. Apart from `accounts`, whose calls are in the first load of every
 * page.
 */
export const secondFactor = {
  secondFactorLogin: route('POST', '/api/auth/second_factor', {
    summary: 'Complete the second step of a login; its ticket lasts 5 minutes and 5 attempts',
    access: 'public',
    body: SecondFactorLogin,
    reply: CurrentUser
  }),
  secondFactorLoginOptions: route('POST', '/api/auth/second_factor/options', {
    summary: 'Passkey challenge for the second step of a login',
    access: 'public',
    body: SecondFactorTicket,
    reply: PasskeyRequest
  }),
  passkeyLoginOptions: route('POST', '/api/auth/passkey/options', {
    summary: 'Passkey challenge for a login with a passkey alone',
    access: 'public',
    reply: z.object({ ticket: z.string(), passkey: PasskeyRequest })
  }),
  passkeyLogin: route('POST', '/api/auth/passkey', {
    summary: 'Log in with a passkey alone',
    access: 'public',
    body: PasskeyLogin,
    reply: CurrentUser
  }),
  secondFactors: route('GET', `${P}/`, {
    summary: 'Your second factors',
    access: 'user',
    beforeSecondFactor: true,
    reply: SecondFactors
  }),
  beginSecondFactor: route('POST', `${P}/`, {
    summary: 'Start adding a second factor; nothing changes until you confirm it',
    access: 'user',
    beforeSecondFactor: true,
    body: SecondFactorForm,
    reply: z.object({
      /** For `totp`: the secret, and the address that its QR code holds. */
      totp: z.object({ secret: z.string(), uri: z.string() }).nullable(),
      passkey: PasskeyCreation.nullable()
    })
  }),
  confirmSecondFactor: route('POST', `${P}/confirm`, {
    summary: 'Confirm the new second factor with its first code or the passkey',
    access: 'user',
    beforeSecondFactor: true,
    body: SecondFactorConfirmForm,
    reply: z.object({
      factor: SecondFactor,
      /** Made with the first factor, and shown this once; null: the account has codes. */
      recovery_codes: z.array(z.string()).nullable()
    })
  }),
  renameSecondFactor: route('PUT', `${P}/`, {
    summary: 'Rename one of your second factors',
    access: 'user',
    body: SecondFactorRename,
    reply: Done
  }),
  removeSecondFactor: route('DELETE', `${P}/`, {
    summary: 'Remove one of your second factors; with the last one, your recovery codes end',
    access: 'user',
    body: SecondFactorRemoval,
    reply: Done
  }),
  newRecoveryCodes: route('POST', `${P}/recovery_codes`, {
    summary: 'Generate 10 new recovery codes, shown only once; the previous ones end',
    access: 'user',
    body: z.object(confirmation).refine(isConfirmed, unconfirmed),
    reply: z.object({ recovery_codes: z.array(z.string()) })
  }),
  secondFactorOptions: route('POST', `${P}/options`, {
    summary: 'Passkey challenge to confirm a call without the password',
    access: 'user',
    beforeSecondFactor: true,
    reply: PasskeyRequest
  }),
  confirmSession: route('POST', '/api/users/confirm', {
    summary: 'Confirm a session with your password and, if you have one, a second factor',
    access: 'admin',
    permission: 'console.use',
    sessionOnly: true,
    body: SessionConfirmation,
    reply: Done
  }),
  resetSecondFactor: route('POST', '/api/users/u/:id/reset_second_factor/', {
    summary: "Reset a user's second factors and recovery codes after a lost device; ends their sessions",
    access: 'admin',
    permission: 'operators.change',
    needsConfirmation: true,
    params: IdParams,
    body: z.object({}).optional(),
    reply: Done
  })
}
