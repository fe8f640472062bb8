/**
 * People and programs: users, sessions, API keys, captchas, mailed codes and the login by the chat platform. It owns
 * users (with coins and level points), sessions, logins, email_codes, captchas, login_failures, api_keys,
 * api_key_networks, oauth_states, user_preferences, second_factors, recovery_codes and second_factor_tickets. Other domains join `users` in queries, change balances by
 * `changeBalance` and lock users by these functions within their command, and provide `AccountPorts`.
 */
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { adminRoutes } from './admin-routes.ts'
import type { AccountPorts } from './ports.ts'
import { mailSettingsRoutes, preferenceRoutes } from './preferences.ts'
import { ownAccountRoutes, profileRoutes } from './profile-routes.ts'
import { secondFactorRoutes } from './second-factor/routes.ts'
import { sessionRoutes } from './session-routes.ts'

export { createApiKey } from './api-keys.ts'
export { accountJobs } from './jobs.ts'
export { countRequest, countClientRequest } from './forwarded-limits.ts'
export {
  changeBalance,
  changeLevelPoints,
  lockBalance,
  lockUser,
  lockUserAndInviter,
  lockUserOfDiscord
} from './balance.ts'
export { createUser, customerWith, ensureAdmin } from './create-user.ts'
export { isDeleted, nameOfDeleted } from './delete-user.ts'
export { countForwarded } from './forwarded-limits.ts'
export { createAuthenticator } from './authenticate.ts'
export { levelOf, type Threshold } from './levels.ts'
export { tryCaptcha } from './log-in-limits.ts'
export { notifyAdmins, readOperators } from './operators.ts'
export type { AccountPorts } from './ports.ts'
export { accountRetention } from './jobs.ts'
export { searchUsers } from './list-users.ts'
export { findRefusedClient, testChat } from './discord.ts'
export { resetSecondFactorsOf } from './second-factor/manage.ts'
export { insertSession, SESSION_COOKIE, SESSION_LIFE } from './sessions.ts'

export function accountRoutes(mount: Mount, ctx: AppContext, ports: AccountPorts): void {
  sessionRoutes(mount, ctx, ports)
  profileRoutes(mount, ctx)
  ownAccountRoutes(mount, ctx, ports)
  secondFactorRoutes(mount, ctx, ports)
  preferenceRoutes(mount, ctx)
  mailSettingsRoutes(mount, ctx)
  adminRoutes(mount, ctx, ports)
}
