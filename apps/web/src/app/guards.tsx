import { useState } from 'react'
import { Navigate, Outlet, useLocation } from 'react-router'
import { useSession } from '../api/session.ts'
import { guardedPath } from '../kit/return-path.ts'
import { ErrorState } from '../kit/states.tsx'
import { dashboardPath, pathOf } from './manifest.ts'
import { PageSkeleton } from './page-skeleton.tsx'

/** Redirects visitors to the login page, and afterwards back to the page they asked for. */
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
      {/* The skeleton keeps the footer out of view until the page's code has loaded. */}
      <PageSkeleton />
      <Navigate to={dashboardPath(user?.is_superuser ?? false)} replace />
    </>
  )
}

/** Administrators have no proxies or settings. They see the orders page instead. */
export function CustomerOnly() {
  const { user } = useSession()
  return user?.is_superuser ? <ToDashboard /> : <Outlet />
}

/** An administrator who views the shop as a user starts at home, even in tabs that showed the console. */
export function AdminOnly() {
  const { user } = useSession()
  if (user?.impersonated_by) return <Navigate to={pathOf('home')} replace />
  return user?.is_superuser ? <Outlet /> : <ToDashboard />
}
