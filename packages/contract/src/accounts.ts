import { z } from 'zod'
import { email, emailCode, password, username } from './account-fields.ts'
import { apiKeyRoutes } from './api-keys.ts'
import { message } from './form-messages.ts'
import { LANGUAGES } from './languages.ts'
import { ownAccountRoutes } from './own-account.ts'
import { preferenceRoutes } from './preferences.ts'
import { OPERATOR_ROLES } from './permissions.ts'
import { route } from './route.ts'
import { page, listQuery } from './list.ts'
import { Done, Id, IdParams, Time, formVersion, optionalText } from './shapes.ts'
import { UserMore, userAdminRoutes } from './user-admin.ts'

export const User = z.object({
  id: z.number(),
  username: z.string(),
  email: z.string(),
  discord_id: z.string().nullable(),
  discord_name: z.string().nullable(),
  is_active: z.boolean(),
  is_superuser: z.boolean(),
  /** An administrator's role; null for a customer. */
  operator_role: z.enum(OPERATOR_ROLES).nullable(),
  reward_points: z.number(),
  points: z.number(),
  level: z.number(),
  level_points: z.number(),
  invite_code: z.string(),
  invite_count: z.number(),
  created_at: Time,
  last_login: Time.nullable(),
  last_login_time: Time.nullable(),
  last_login_ip: z.string().nullable(),
  last_location: z.string().nullable(),
  version: z.string()
})
export type User = z.infer<typeof User>

/** A user in the console's list. */
export const ListedUser = User.extend({ second_factors: z.number() })
export type ListedUser = z.infer<typeof ListedUser>

/** The session's user. `impersonated_by`: the administrator who views the shop as this user. */
export const CurrentUser = User.extend({
  impersonated_by: z.string().nullable(),
  /** The coins in `reward_points` that cannot be spent yet. */
  pending_points: z.number(),
  /** When an operator must have a second factor; null: one is there, or none is required. */
  second_factor_due: Time.nullable(),
  /** The time is over: the user may only add one. */
  must_add_second_factor: z.boolean()
})
export type CurrentUser = z.infer<typeof CurrentUser>

/** A user with the details of the console's user page. */
export const UserDetail = User.extend(UserMore.shape)
export type UserDetail = z.infer<typeof UserDetail>

/** An empty field of a form. */
const blank = z.literal('').transform(() => undefined)

const NO_CAPTCHA = message('enter_captcha')

export const LoginBody = z.object({
  username: z
    .string({ error: message('enter_username_or_email') })
    .trim()
    .min(1, message('enter_username_or_email'))
    .max(254)
    .refine(value => !value.includes('\0'), message('forbidden_character')),
  password: z
    .string({ error: message('enter_your_password') })
    .min(1, message('enter_your_password'))
    .max(200),
  captcha_id: z.union([z.uuid(), blank], { error: NO_CAPTCHA }).optional(),
  captcha: z.union([blank, z.coerce.number()], { error: NO_CAPTCHA }).optional()
})

/** Whether a second password was entered; a missing one has its own rule. @param form unvalidated */
function isRepeated(form: unknown): boolean {
  const { password, repassword } = (form ?? {}) as Partial<Record<string, unknown>>
  return typeof password === 'string' && typeof repassword === 'string' && repassword !== ''
}

export const SignUpBody = z
  .object({
    username,
    email: email(),
    email_code: emailCode,
    email_code_id: z.uuid(message('enter_email_code')),
    password: password(message('enter_password')),
    repassword: z.string({ error: message('repeat_password') }).min(1, message('repeat_password')),
    invite_code: optionalText(32),
    discord_id: optionalText(64),
    /** The language of mails; by default the browser's. */
    language: z.enum(LANGUAGES).optional()
  })
  .refine(form => form.password === form.repassword, {
    path: ['repassword'],
    message: message('passwords_differ'),
    // Report it together with other errors, once the password has been repeated.
    when: ({ value }) => isRepeated(value)
  })

export const EmailValidateBody = z.object({
  email: email(message('enter_your_email')),
  type: z.enum(['register', 'forgot']),
  check_user: z.union([z.literal(0), z.literal(1), z.literal('0'), z.literal('1')]).optional(),
  /** The page's language, used for the mail with the code. */
  language: z.enum(LANGUAGES).optional()
})

export const ForgotVerifyBody = z.object({
  email: email(message('enter_your_email')),
  email_code: z
    .string({ error: message('enter_email_or_code') })
    .trim()
    .min(1, message('enter_email_or_code'))
    .max(20),
  email_code_id: z.uuid(message('enter_email_or_code'))
})

export const ForgotBody = z.object({
  email: email(message('enter_your_email')),
  password: password(message('enter_your_password')),
  verify_id: z.uuid(message('verification_expired'))
})

export const ChangePasswordBody = z.object({
  old_password: z
    .string({ error: message('enter_old_password') })
    .min(1, message('enter_old_password'))
    .max(200),
  new_password: password(message('enter_new_password')),
  /** Also disconnects the chat account, so that it cannot be used to log in. */
  unbind_discord: z.boolean().optional()
})

export const AdminPasswordBody = z.object({ id: Id.optional(), password: password(message('enter_password_of_user')) })

export const MAX_COINS = 100_000_000

/** A change of points, such as 50 or -50. */
const pointsChange = z
  .int({ error: message('enter_points_change') })
  .min(-MAX_COINS, message('enter_points_change'))
  .max(MAX_COINS, message('enter_points_change'))
  .optional()

export const UserForm = z.object({
  username: username.optional(),
  email: email().optional(),
  is_superuser: z.boolean().optional(),
  operator_role: z
    .enum(OPERATOR_ROLES)
    .nullish()
    .transform(role => role ?? undefined),
  is_active: z.boolean().optional(),
  /** Must equal the current balance. `reward_points_change` changes it. */
  reward_points: z
    .int({ error: message('enter_points') })
    .min(0, message('enter_points'))
    .max(MAX_COINS, message('enter_points'))
    .optional(),
  reward_points_change: pointsChange,
  level_points_change: pointsChange,
  password: password(message('enter_password_of_user')).optional().or(blank)
})

export const accounts = {
  captcha: route('GET', '/api/auth/captcha', {
    summary: 'Get a captcha; it works once, for 5 minutes',
    access: 'public',
    reply: z.object({ captcha_image_base: z.string(), captcha_id: z.uuid() })
  }),
  /** 401 `second_factor_needed` has `data.second_factor` (methods) and `data.ticket` for the second step. */
  login: route('POST', '/api/auth/login', { summary: 'Log in', access: 'public', body: LoginBody, reply: CurrentUser }),
  session: route('GET', '/api/auth/login', {
    summary: 'The logged-in user',
    access: 'user',
    beforeSecondFactor: true,
    reply: CurrentUser
  }),
  /** For the shop's own pages: a visitor gets null instead of an error in the browser's console. */
  whoIsSignedIn: route('GET', '/api/auth/session/', {
    summary: 'The logged-in user, or null without a session',
    access: 'public',
    beforeSecondFactor: true,
    reply: CurrentUser.nullable()
  }),
  currentUser: route('GET', '/api/users/u/user_info/', {
    summary: 'The current user',
    access: 'user',
    beforeSecondFactor: true,
    scope: 'read',
    reply: CurrentUser
  }),
  logout: route('GET', '/api/auth/logout', { summary: 'Log out', access: 'public', reply: Done }),
  discordLogin: route('GET', '/api/auth/discord/login', {
    summary: 'Get the URL to log in with or connect a chat account; connecting asks for the password',
    access: 'public',
    query: z.object({ mode: z.enum(['login', 'bind']).default('login') }),
    reply: z.object({ discord_auth_url: z.string() })
  }),
  discordRedirect: route('GET', '/api/auth/discord/redirect', {
    summary: 'Login callback of the chat platform',
    access: 'public',
    query: z.object({
      code: z.string().max(512).optional(),
      state: z.string().max(512).optional(),
      error: z.string().max(512).optional()
    }),
    reply: Done,
    raw: 'redirect'
  }),
  discordBindRedirect: route('GET', '/api/auth/discord/bind_redirect', {
    summary: 'Connect callback of the chat platform',
    access: 'public',
    query: z.object({
      code: z.string().max(512).optional(),
      state: z.string().max(512).optional(),
      error: z.string().max(512).optional()
    }),
    reply: Done,
    raw: 'redirect'
  }),
  signUp: route('POST', '/api/users/u/', {
    summary: 'Sign up',
    access: 'public',
    body: SignUpBody,
    reply: CurrentUser
  }),
  emailValidate: route('POST', '/api/users/email_validate', {
    summary: 'Email a code; the response does not reveal whether the address is registered',
    access: 'public',
    body: EmailValidateBody,
    reply: z.object({ email_code_id: z.uuid() })
  }),
  forgotVerify: route('POST', '/api/users/forgot_password_verify', {
    summary: 'Check a password reset code',
    access: 'public',
    body: ForgotVerifyBody,
    reply: z.object({ verify_id: z.uuid() })
  }),
  forgot: route('POST', '/api/users/forgot_password', {
    summary: 'Set a new password',
    access: 'public',
    body: ForgotBody,
    reply: Done
  }),
  changePassword: route('POST', '/api/users/change_password', {
    summary: 'Change your password; ends your other sessions and all API keys',
    access: 'user',
    body: ChangePasswordBody,
    reply: Done
  }),
  users: route('GET', '/api/users/u/', {
    summary: 'Users',
    access: 'admin',
    exports: 'user',
    permission: 'users.view',
    query: listQuery({
      sort: ['id', 'reward_points', 'level_points', 'last_login'],
      filters: {
        is_active: z.enum(['0', '1']).optional(),
        is_superuser: z.enum(['0', '1']).optional(),
        level: z.enum(['0', '1', '2', '3', '4', '5']).optional()
      }
    }),
    reply: page(ListedUser)
  }),
  user: route('GET', '/api/users/u/:id/', {
    summary: 'One user, with key figures',
    access: 'admin',
    permission: 'users.view',
    params: IdParams,
    reply: UserDetail
  }),
  ban: route('POST', '/api/users/u/:id/baned_user/', {
    summary: 'Ban a user; ends their sessions and API keys',
    access: 'admin',
    permission: 'users.change',
    needsConfirmation: true,
    params: IdParams,
    body: z.object({ id: Id.optional() }).optional(),
    reply: Done
  }),
  unban: route('POST', '/api/users/u/:id/unbaned_user/', {
    summary: 'Unban a user; disconnects their chat account',
    access: 'admin',
    permission: 'users.change',
    needsConfirmation: true,
    params: IdParams,
    body: z.object({ id: Id.optional() }).optional(),
    reply: Done
  }),
  unbindUserDiscord: route('POST', '/api/users/u/:id/unbind_discord/', {
    summary: "Disconnect a user's chat account, which can no longer log in",
    access: 'admin',
    permission: 'users.change',
    params: IdParams,
    body: z.object({ id: Id.optional() }).optional(),
    reply: Done
  }),
  deleteUser: route('DELETE', '/api/users/u/:id/', {
    summary: 'Delete a user and their personal data, if the shop owes them nothing',
    access: 'admin',
    permission: 'users.change',
    needsConfirmation: true,
    params: IdParams,
    reply: Done
  }),
  updateUser: route('PUT', '/api/users/u/:id/', {
    summary: 'Edit a user; coins and level points change by an amount, applied once for each `version`',
    access: 'admin',
    permission: 'users.change',
    needsConfirmation: true,
    params: IdParams,
    body: UserForm.extend(formVersion).refine(
      form => form.version !== undefined || !(form.reward_points_change || form.level_points_change),
      { path: ['version'], error: message('needs_version') }
    ),
    reply: User
  }),
  adminPassword: route('POST', '/api/users/u/:id/change_password/', {
    summary: "Set a user's password; ends sessions and API keys, and disconnects the chat account",
    access: 'admin',
    permission: 'users.change',
    needsConfirmation: true,
    params: IdParams,
    body: AdminPasswordBody,
    reply: Done
  }),
  switchUser: route('POST', '/api/users/admin/switch-user', {
    summary: 'View the shop as a user',
    access: 'admin',
    permission: 'users.switch',
    needsConfirmation: true,
    body: z.object({ user_id: Id }),
    reply: CurrentUser
  }),
  switchBack: route('POST', '/api/users/admin/switch-back', {
    summary: 'Return to your own session',
    access: 'user',
    reply: CurrentUser
  }),
  inviteCode: route('GET', '/api/users/invite_code', {
    summary: 'Your invite code and link',
    access: 'user',
    reply: z.object({
      invite_url: z.string(),
      invite_code: z.string(),
      /** The fraction of the next coin earned by invited users' payments: 0 to 0.99. */
      coin_fraction: z.number()
    })
  }),
  inviteLog: route('GET', '/api/users/invite_log', {
    summary: 'Users that you invited',
    access: 'user',
    query: listQuery({ sort: ['id'] }),
    reply: page(z.object({ id: z.number(), username: z.string(), created_at: Time }))
  }),
  ...ownAccountRoutes,
  ...userAdminRoutes,
  ...preferenceRoutes,
  ...apiKeyRoutes
}
