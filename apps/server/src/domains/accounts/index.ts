import type { Mount } from '../../platform/http/mount.ts'
import type { Shop } from '../../platform/shop.ts'
import { sessionRoutes } from './session-routes.ts'

export { useCaptcha } from './captcha.ts'
export { clientAddress } from './client-address.ts'
export { createUser, ensureAdmin } from './create-user.ts'
export { createGuard } from './guard.ts'
export { SESSION_COOKIE, setSessionCookie, startSession } from './sessions.ts'

/** Puts the domain's calls on the server. */
export function accountRoutes(mount: Mount, shop: Shop): void {
  sessionRoutes(mount, shop)
}
