import { lazy, Suspense } from 'react'
import { Outlet, useLocation } from 'react-router'
import { PageFocus } from './page-focus.tsx'
import { Boundary } from './boundary.tsx'
import { Footer } from './footer.tsx'
import { Header } from './header.tsx'
import { PageSkeleton } from './page-skeleton.tsx'
import { CONTENT, SkipLinks } from './skip-links.tsx'
import { useSession } from '../api/session.ts'

const Impersonation = lazy(() => import('./impersonation.tsx'))
const ChangeFeed = lazy(() => import('./change-feed.ts'))
const Console = lazy(() => import('./console/console.tsx'))

export function Layout() {
  const { user } = useSession()
  const { pathname } = useLocation()
  const isConsole = pathname.startsWith('/dashboard')
  return (
    <>
      <SkipLinks />
      <PageFocus />
      {user && (
        <Suspense fallback={null}>
          {user.impersonated_by && <Impersonation user={user} />}
          {!user.must_add_second_factor && <ChangeFeed userId={user.id} />}
          {user.is_superuser && <Console />}
        </Suspense>
      )}
      <Header isConsole={isConsole} />
      <main id={CONTENT} tabIndex={-1} className="content">
        {/* A dashboard keeps its frame between pages and has its own boundary. */}
        <Boundary key={isConsole ? 0 : pathname}>
          <Suspense fallback={<PageSkeleton />}>
            <Outlet />
          </Suspense>
        </Boundary>
      </main>
      <Footer isConsole={isConsole} brief={isConsole && Boolean(user?.is_superuser)} />
    </>
  )
}
