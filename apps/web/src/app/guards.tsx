import { useState } from 'react'
import { Navigate, Outlet, useLocation } from 'react-router'
import { useSession } from '../api/session.ts'
import { guardedPath } from '../kit/return-path.ts'
import { ErrorState } from '../kit/states.tsx'
import { dashboardPath, pathOf } from './manifest.ts'
import { PageSkeleton } from './page-skeleton.tsx'

/** Leads visitors to the login page, and back to where they wanted to go afterwards. */
export function SignedIn() {
  const { user, pending, error, retry } = useSession()
  const { pathname, search } = useLocation()
  if (pending) return <PageSkeleton />
  if (error && !user) return <ErrorState error={error} onRetry={() => void retry()} />
  if (!user) return <ToLogin from={pathname + search} />
  return <Outlet />
}

function ToLogin({ from }: { from: string }) {
  const [to] = useState(() => guardedPath(from))
  return <Navigate to={to} replace />
}

export function ToDashboard() {
  const { user } = useSession()
  return (
    <>
      {/* Until the page's code has come: what is below an empty page would stand in sight, and move then. */}
      <PageSkeleton />
      <Navigate to={dashboardPath(user?.is_superuser ?? false)} replace />
    </>
  )
}

/** An administrator has no proxies or settings of its own: the orders page takes their place. */
export function CustomerOnly() {
  const { user } = useSession()
  return user?.is_superuser ? <ToDashboard /> : <Outlet />
}

/** An administrator who views the shop as a user begins at home, also in tabs that showed the console until then. */
export function AdminOnly() {
  const { user } = useSession()
  if (user?.impersonated_by) return <Navigate to={pathOf('home')} replace />
  return user?.is_superuser ? <Outlet /> : <ToDashboard />
}
