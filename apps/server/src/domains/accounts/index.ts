import type { Mount } from '../../platform/http/mount.ts'
import type { JobQueue } from '../../platform/jobs.ts'
import type { Shop } from '../../platform/shop.ts'
import { adminRoutes } from './admin-routes.ts'
import { housekeepingQueue } from './housekeeping.ts'
import { profileRoutes } from './profile-routes.ts'
import { sessionRoutes } from './session-routes.ts'

export { useCaptcha } from './captcha.ts'
export { clientAddress, clientNetwork } from './client-address.ts'
export { createUser, ensureAdmin } from './create-user.ts'
export { createGuard } from './guard.ts'
export { accountJobs, housekeepingQueue } from './housekeeping.ts'
export { SESSION_COOKIE, setSessionCookie, startSession } from './sessions.ts'

export const accountQueues: JobQueue<object>[] = [housekeepingQueue]

/** Puts the domain's calls on the server. */
export function accountRoutes(mount: Mount, shop: Shop): void {
  sessionRoutes(mount, shop)
  profileRoutes(mount, shop)
  adminRoutes(mount, shop)
}
