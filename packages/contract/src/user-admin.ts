import { z } from 'zod'
import { ApiKey } from './api-keys.ts'
import { LANGUAGES } from './languages.ts'
import { listQuery, page } from './list.ts'
import { BLOCK_CAUSES } from './mail.ts'
import { OwnSession } from './own-account.ts'
import { route } from './route.ts'
import { Done, IdParams, Money, Time } from './shapes.ts'

/** A user's activity in figures. */
export const UserFigures = z.object({
  orders: z.number(),
  unpaid_orders: z.number(),
  /** Paid, not expired, not refunded: running leases, or awaiting delivery. */
  live_orders: z.number(),
  /** Accepted payments minus refunds. */
  paid: Money,
  /** Why it cannot be deleted: live or reserved leases, or an unserved order or payment. */
  owed: z.enum(['leases', 'order']).nullable()
})
export type UserFigures = z.infer<typeof UserFigures>

/** What a user's page shows besides the user. */
export const UserMore = z.object({
  language: z.enum(LANGUAGES),
  /** Why the address is blocked; null if it is not. */
  mail_blocked: z.enum(BLOCK_CAUSES).nullable(),
  invited_by: z.object({ id: z.number(), username: z.string() }).nullable(),
  /** The coins that cannot be spent yet. */
  pending_points: z.number(),
  /** Coins of refunded payments, deducted from future earnings. */
  owed_points: z.number(),
  sessions: z.number(),
  api_keys: z.number(),
  second_factors: z.number(),
  figures: UserFigures
})

export const UserApiKey = ApiKey.extend({ revoked_at: Time.nullable() })
export type UserApiKey = z.infer<typeof UserApiKey>

export const LOGIN_METHODS = ['password', 'discord', 'sign_up', 'passkey'] as const

/** A login. */
export const UserLogin = z.object({
  id: z.number(),
  at: Time,
  /** `discord`: through the chat platform. `passkey`: without a password. `sign_up`: the session that starts with the account. */
  method: z.enum(LOGIN_METHODS),
  /** The browser's name. */
  device: z.string().nullable(),
  ip: z.string().nullable(),
  /** ISO 3166 country code of `ip`. */
  location: z.string().nullable()
})
export type UserLogin = z.infer<typeof UserLogin>

const U = '/api/users/u'

/** Administrators' calls about one user, a part of `accounts`. */
export const userAdminRoutes = {
  userSessions: route('GET', `${U}/:id/sessions/`, {
    summary: "A user's sessions, by last use; at most 100",
    access: 'admin',
    permission: 'users.view',
    params: IdParams,
    reply: z.array(OwnSession)
  }),
  endUserSession: route('DELETE', `${U}/sessions/:id/`, {
    summary: "End any user's session",
    access: 'admin',
    permission: 'users.change',
    params: IdParams,
    reply: Done
  }),
  endUserSessions: route('POST', `${U}/:id/end_sessions/`, {
    summary: 'End all sessions of a user, except your own current one',
    access: 'admin',
    permission: 'users.change',
    params: IdParams,
    body: z.object({}).optional(),
    reply: Done
  }),
  userApiKeys: route('GET', `${U}/:id/api_keys/`, {
    summary: "A user's API keys, including ended ones, newest first; at most 100",
    access: 'admin',
    permission: 'users.view',
    params: IdParams,
    reply: z.array(UserApiKey)
  }),
  userLogins: route('GET', `${U}/:id/logins/`, {
    summary: "A user's logins, with time and place",
    access: 'admin',
    permission: 'users.view',
    params: IdParams,
    query: listQuery({ sort: ['id'] }),
    reply: page(UserLogin)
  })
}
