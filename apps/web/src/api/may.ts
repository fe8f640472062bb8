import type { CurrentUser } from '@netlet/contract'
import { mayOperate, type Permission } from '@netlet/contract/permissions'
import type { Endpoint } from './client.ts'
import { useSession } from './session.ts'

/** Does somebody's role allow this? Without a permission it is for everybody who gets that far. */
export const may = (user: CurrentUser | null, permission: Permission | undefined): boolean =>
  permission === undefined || mayOperate(user?.operator_role ?? null, permission)

/** What an administrator may do, of which the console offers nothing else; the server checks it for every call. */
export function useMay() {
  const { user } = useSession()
  return {
    me: user,
    may: (permission: Permission | undefined) => may(user, permission),
    mayCall: (route: Endpoint) => may(user, route.permission)
  }
}
