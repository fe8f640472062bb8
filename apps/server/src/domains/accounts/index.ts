import type { Mount } from '../../infra/http/mount.ts'
import type { JobQueue } from '../../infra/jobs.ts'
import type { AppContext } from '../../infra/context.ts'
import { adminRoutes } from './admin-routes.ts'
import { housekeepingQueue } from './housekeeping.ts'
import { preferenceRoutes } from './preferences.ts'
import { profileRoutes } from './profile-routes.ts'
import { sessionRoutes } from './session-routes.ts'

export { useCaptcha } from './captcha.ts'
export { clientAddress, clientNetwork } from './client-address.ts'
export { createUser, ensureAdmin } from './create-user.ts'
export { createGuard } from './guard.ts'
export { notifyAdmins } from './notify-admins.ts'
export { accountJobs, housekeepingQueue } from './housekeeping.ts'
export { SESSION_COOKIE, setSessionCookie, startSession } from './sessions.ts'

export const accountQueues: JobQueue<object>[] = [housekeepingQueue]

/** Puts the domain's calls on the server. */
export function accountRoutes(mount: Mount, ctx: AppContext): void {
  sessionRoutes(mount, ctx)
  profileRoutes(mount, ctx)
  preferenceRoutes(mount, ctx)
  adminRoutes(mount, ctx)
}
