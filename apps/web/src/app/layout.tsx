import { lazy, Suspense } from 'react'
import { Outlet, useLocation } from 'react-router'
import { useT } from '../i18n/index.ts'
import { Boundary } from './boundary.tsx'
import { Footer } from './footer.tsx'
import { Header } from './header.tsx'
import { PageSkeleton } from './page-skeleton.tsx'
import { useSession } from '../api/session.ts'

const Impersonation = lazy(() => import('./impersonation.tsx'))
const ChangeFeed = lazy(() => import('./change-feed.ts'))
const Palette = lazy(() => import('./palette.tsx'))

export function Layout() {
  const t = useT()
  const { user } = useSession()
  const { pathname } = useLocation()
  return (
    <>
      <a className="skip" href="#content">
        {t('skip')}
      </a>
      {user?.impersonated_by && (
        <Suspense fallback={null}>
          <Impersonation user={user} />
        </Suspense>
      )}
      {user && (
        <Suspense fallback={null}>
          <ChangeFeed userId={user.id} />
        </Suspense>
      )}
      {user?.is_superuser && (
        <Suspense fallback={null}>
          <Palette />
        </Suspense>
      )}
      <Header />
      <main id="content" tabIndex={-1} className="content">
        <Boundary key={pathname}>
          <Suspense fallback={<PageSkeleton />}>
            <Outlet />
          </Suspense>
        </Boundary>
      </main>
      <Footer />
    </>
  )
}
