import { Navigate, Outlet, useLocation } from 'react-router'
import { ErrorState } from '../kit/states.tsx'
import { PageSkeleton } from './page-skeleton.tsx'
import { loginPath } from './return-path.ts'
import { useSession } from './session.ts'

/** Leads visitors to the login page, and back to where they wanted to go afterwards. */
export function SignedIn() {
  const { user, pending, error, retry } = useSession()
  const { pathname, search } = useLocation()
  if (pending) return <PageSkeleton />
  if (error && !user) return <ErrorState error={error} onRetry={() => void retry()} />
  if (!user) return <Navigate to={loginPath(pathname + search)} replace />
  return <Outlet />
}

/** An administrator has no proxies or settings of its own: the orders page stands in their place. */
export function CustomerOnly() {
  const { user } = useSession()
  return user?.is_superuser ? <Navigate to="/dashboard/index/orders" replace /> : <Outlet />
}

export function AdminOnly() {
  const { user } = useSession()
  return user?.is_superuser ? <Outlet /> : <Navigate to="/dashboard/index/proxies" replace />
}
