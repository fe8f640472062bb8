import type { CurrentUser, User } from '@netlet/contract'

/** What changing this user takes beside the calls' own permissions: owners alone change other administrators. */
export const takes = (user: User, me: CurrentUser | null) =>
  user.is_superuser && user.id !== me?.id ? ('operators.change' as const) : undefined
