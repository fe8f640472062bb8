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
    summary: 'The second step of a log-in, by its ticket: 5 minutes, one success, 5 tries',
    access: 'public',
    body: SecondFactorLogin,
    reply: CurrentUser
  }),
  secondFactorLoginOptions: route('POST', '/api/auth/second_factor/options', {
    summary: 'A challenge for a passkey as the second step of a log-in',
    access: 'public',
    body: SecondFactorTicket,
    reply: PasskeyRequest
  }),
  passkeyLoginOptions: route('POST', '/api/auth/passkey/options', {
    summary: 'A challenge to log in by a passkey alone',
    access: 'public',
    reply: z.object({ ticket: z.string(), passkey: PasskeyRequest })
  }),
  passkeyLogin: route('POST', '/api/auth/passkey', {
    summary: 'Log in by a passkey alone, which has checked its owner',
    access: 'public',
    body: PasskeyLogin,
    reply: CurrentUser
  }),
  secondFactors: route('GET', `${P}/`, {
    summary: 'The own second factors',
    access: 'user',
    beforeSecondFactor: true,
    reply: SecondFactors
  }),
  beginSecondFactor: route('POST', `${P}/`, {
    summary: 'Begin to add a second factor; nothing changes before it is confirmed',
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
    summary: 'Add the second factor that was begun: its first code, or the new passkey',
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
    summary: 'Rename one of the own second factors',
    access: 'user',
    body: SecondFactorRename,
    reply: Done
  }),
  removeSecondFactor: route('DELETE', `${P}/`, {
    summary: 'Remove one of the own second factors; with the last one the recovery codes end',
    access: 'user',
    body: SecondFactorRemoval,
    reply: Done
  }),
  newRecoveryCodes: route('POST', `${P}/recovery_codes`, {
    summary: 'Ten new recovery codes, shown this once; the former ones end',
    access: 'user',
    body: z.object(confirmation).refine(isConfirmed, unconfirmed),
    reply: z.object({ recovery_codes: z.array(z.string()) })
  }),
  secondFactorOptions: route('POST', `${P}/options`, {
    summary: 'A challenge by which a passkey of the account confirms a call instead of the password',
    access: 'user',
    beforeSecondFactor: true,
    reply: PasskeyRequest
  }),
  confirmSession: route('POST', '/api/users/confirm', {
    summary: 'Confirm a session for what asks for it: the password, and where the operator has one, a second factor',
    access: 'admin',
    permission: 'console.use',
    sessionOnly: true,
    body: SessionConfirmation,
    reply: Done
  }),
  resetSecondFactor: route('POST', '/api/users/u/:id/reset_second_factor/', {
    summary: "Remove another user's second factors and recovery codes after a lost device; its sessions end",
    access: 'admin',
    permission: 'operators.change',
    needsConfirmation: true,
    params: IdParams,
    body: z.object({}).optional(),
    reply: Done
  })
}
