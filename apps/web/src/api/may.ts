import type { CurrentUser } from '@netlet/contract'
import { mayOperate, type Permission } from '@netlet/contract/permissions'
import type { Endpoint } from './client.ts'
import { useSession } from './session.ts'

/** Does the user's role allow this? Without a permission, everyone may. */
export const may = (user: CurrentUser | null, permission: Permission | undefined): boolean =>
  permission === undefined || mayOperate(user?.operator_role ?? null, permission)

/** What the signed-in operator may do, so that the console hides the rest. The server checks every call. */
export function useMay() {
  const { user } = useSession()
  return {
    me: user,
    may: (permission: Permission | undefined) => may(user, permission),
    mayCall: (route: Endpoint) => may(user, route.permission)
  }
}
