import type { CurrentUser, User } from '@netlet/contract'

/** The permission for changing this user: only owners change other administrators. */
export const takes = (user: User, me: CurrentUser | null) =>
  user.is_superuser && user.id !== me?.id ? ('operators.change' as const) : undefined
