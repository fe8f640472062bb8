/**
 * People and programs: users, sessions, API keys, captchas, mailed codes and the login by the chat platform. It owns
 * users (their coins and level points too), sessions, email_codes, captchas, login_failures, api_keys, oauth_states and
 * user_preferences. Others join `users` in queries, change a balance by `changeBalance` within their command, lock users by
 * the functions below, and hand in what accounts needs of them as `AccountPorts`.
 */
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { adminRoutes } from './admin-routes.ts'
import type { AccountPorts } from './ports.ts'
import { preferenceRoutes } from './preferences.ts'
import { profileRoutes } from './profile-routes.ts'
import { sessionRoutes } from './session-routes.ts'

export { createApiKey } from './api-keys.ts'
export {
  changeBalance,
  changeLevelPoints,
  lockBalance,
  lockUser,
  lockUserAndInviter,
  lockUserOfDiscord
} from './balance.ts'
export { consumeCaptcha } from './captcha.ts'
export { clientNetwork } from './client-network.ts'
export { createUser, ensureAdmin } from './create-user.ts'
export { createGuard } from './guard.ts'
export { accountJobs } from './jobs.ts'
export { levelOf, type Threshold } from './levels.ts'
export { notifyAdmins } from './notify-admins.ts'
export type { AccountPorts } from './ports.ts'
export { insertSession, SESSION_COOKIE } from './sessions.ts'

/** Puts the domain's calls on the server. */
export function accountRoutes(mount: Mount, ctx: AppContext, ports: AccountPorts): void {
  sessionRoutes(mount, ctx, ports)
  profileRoutes(mount, ctx)
  preferenceRoutes(mount, ctx)
  adminRoutes(mount, ctx, ports)
}
