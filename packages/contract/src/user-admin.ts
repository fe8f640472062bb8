import { z } from 'zod'
import { ApiKey } from './api-keys.ts'
import { LANGUAGES } from './languages.ts'
import { listQuery, page } from './list.ts'
import { BLOCK_CAUSES } from './mail.ts'
import { OwnSession } from './own-account.ts'
import { route } from './route.ts'
import { Done, IdParams, Money, Time } from './shapes.ts'

/** What a user has with the shop, in figures. */
export const UserFigures = z.object({
  orders: z.number(),
  unpaid_orders: z.number(),
  /** Paid, not expired, not refunded: leases that run, or that are still to be delivered. */
  live_orders: z.number(),
  /** What accepted payments brought, less what was given back. */
  paid: Money,
  /** Why it cannot be deleted yet: live leases, reserved ones too, or an order or payment that is still owed. */
  owed: z.enum(['leases', 'order']).nullable()
})
export type UserFigures = z.infer<typeof UserFigures>

/** What the page of a user shows beside the user. */
export const UserMore = z.object({
  language: z.enum(LANGUAGES),
  /** Why the address is not written to; null where it is. */
  mail_blocked: z.enum(BLOCK_CAUSES).nullable(),
  invited_by: z.object({ id: z.number(), username: z.string() }).nullable(),
  /** Of the coins, those that cannot be spent yet. */
  pending_points: z.number(),
  /** Coins of payments that were given back, which are kept from what is earned next. */
  owed_points: z.number(),
  sessions: z.number(),
  api_keys: z.number(),
  figures: UserFigures
})

export const UserApiKey = ApiKey.extend({ revoked_at: Time.nullable() })
export type UserApiKey = z.infer<typeof UserApiKey>

export const LOGIN_METHODS = ['password', 'discord', 'sign_up'] as const

/** A time that somebody logged in. */
export const UserLogin = z.object({
  id: z.number(),
  at: Time,
  /** `discord`: by the chat platform. `sign_up`: the session that begins with the account. */
  method: z.enum(LOGIN_METHODS),
  /** What the browser calls itself. */
  device: z.string().nullable(),
  ip: z.string().nullable(),
  /** ISO 3166 country code of `ip`. */
  location: z.string().nullable()
})
export type UserLogin = z.infer<typeof UserLogin>

const U = '/api/users/u'

/** What administrators see of one user, a part of `accounts`. */
export const userAdminRoutes = {
  userSessions: route('GET', `${U}/:id/sessions/`, {
    summary: 'Where a user is signed in, last used first, at most a hundred',
    access: 'admin',
    permission: 'users.view',
    params: IdParams,
    reply: z.array(OwnSession)
  }),
  endUserSession: route('DELETE', `${U}/sessions/:id/`, {
    summary: "End one session of anybody's",
    access: 'admin',
    permission: 'users.change',
    params: IdParams,
    reply: Done
  }),
  endUserSessions: route('POST', `${U}/:id/end_sessions/`, {
    summary: 'End all sessions of a user; administrators keep the one that they ask with',
    access: 'admin',
    permission: 'users.change',
    params: IdParams,
    body: z.object({}).optional(),
    reply: Done
  }),
  userApiKeys: route('GET', `${U}/:id/api_keys/`, {
    summary: "A user's API keys with those that have ended, newest first, at most a hundred",
    access: 'admin',
    permission: 'users.view',
    params: IdParams,
    reply: z.array(UserApiKey)
  }),
  userLogins: route('GET', `${U}/:id/logins/`, {
    summary: 'When and from where a user logged in',
    access: 'admin',
    permission: 'users.view',
    params: IdParams,
    query: listQuery({ sort: ['id'] }),
    reply: page(UserLogin)
  })
}
