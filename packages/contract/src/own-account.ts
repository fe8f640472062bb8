import { z } from 'zod'
import { email, emailCode } from './account-fields.ts'
import { message } from './form-messages.ts'
import { route } from './route.ts'
import { confirmation, isConfirmed, unconfirmed } from './second-factor.ts'
import { Done, IdParams, Time } from './shapes.ts'

/** One of the user's sessions. */
export const OwnSession = z.object({
  id: z.number(),
  /** The browser's name. */
  device: z.string().nullable(),
  ip: z.string().nullable(),
  /** ISO 3166 country code of `ip`. */
  location: z.string().nullable(),
  created_at: Time,
  last_seen_at: Time,
  /** The session that makes this call. */
  is_current: z.boolean()
})
export type OwnSession = z.infer<typeof OwnSession>

export const ConfirmBody = z.object(confirmation).refine(isConfirmed, unconfirmed)

const newEmail = email(message('enter_your_email'))
export const EmailChangeCodeBody = z.object({ email: newEmail, ...confirmation }).refine(isConfirmed, unconfirmed)
export const EmailChangeBody = z
  .object({
    email: newEmail,
    email_code: emailCode,
    email_code_id: z.uuid(message('enter_email_code')),
    ...confirmation
  })
  .refine(isConfirmed, unconfirmed)

/** Calls about the user's own account, a part of `accounts`. Lasting changes need the password or a second factor. */
export const ownAccountRoutes = {
  sessions: route('GET', '/api/users/sessions/', {
    summary: 'Your sessions: the current one first, then by last use; at most 100',
    access: 'user',
    reply: z.array(OwnSession)
  }),
  endSession: route('DELETE', '/api/users/sessions/:id/', {
    summary: 'End one of your sessions; any but the current one asks for your password or second factor',
    access: 'user',
    params: IdParams,
    body: z.object(confirmation).optional(),
    reply: Done
  }),
  endOtherSessions: route('POST', '/api/users/sessions/end_others/', {
    summary: 'End all your other sessions; asks for your password',
    access: 'user',
    body: ConfirmBody,
    reply: z.object({ ended: z.number() })
  }),
  bindDiscord: route('POST', '/api/auth/discord/bind', {
    summary: 'Get the URL to connect a chat account',
    access: 'user',
    body: ConfirmBody,
    reply: z.object({ discord_auth_url: z.string() })
  }),
  unbindDiscord: route('POST', '/api/auth/discord/unbind', {
    summary: 'Disconnect your chat account, which can no longer log in',
    access: 'user',
    body: ConfirmBody,
    reply: Done
  }),
  changeEmailCode: route('POST', '/api/users/change_email_code', {
    summary: 'Send a code to your new email address',
    access: 'user',
    body: EmailChangeCodeBody,
    reply: z.object({ email_code_id: z.uuid() })
  }),
  changeEmail: route('POST', '/api/users/change_email', {
    summary: 'Change your email address with that code; notifies the old address',
    access: 'user',
    body: EmailChangeBody,
    reply: Done
  }),
  dataExport: route('GET', '/api/users/u/data_export', {
    summary: 'All your data in this shop, as a JSON file',
    access: 'user',
    reply: z.record(z.string(), z.unknown()),
    raw: 'application/json'
  }),
  deleteAccount: route('POST', '/api/users/delete_account', {
    summary: 'Delete your account, if the shop owes you nothing',
    access: 'user',
    body: ConfirmBody,
    reply: Done
  })
}
