import { Button } from '@mantine/core'
import { pageAt } from '@netlet/contract/pages'
import { Suspense, lazy, useEffect, useMemo, useRef, useState } from 'react'
import { Link, Navigate, Outlet, type RouteObject, useLocation, useRoutes } from 'react-router'
import { useSession } from '../api/session.ts'
import { useT } from '../i18n/index.ts'
import { guardedPath } from '../kit/return-path.ts'
import { ErrorState } from '../kit/states.tsx'
import { useTitle } from '../kit/use-title.ts'
import { Boundary } from './boundary.tsx'
import { Footer } from './footer.tsx'
import { Header } from './header.tsx'
import { type Listed, type Role, dashboardPath, pathOf, screenAt, screens } from './manifest.ts'
import { CONTENT, PageFocus, SkipLinks } from './page-focus.tsx'
import { PageSkeleton } from './page-skeleton.tsx'
import { Dashboard, preloadAt, watchLinks } from './preload.ts'

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

function NotFound() {
  const t = useT()
  useTitle(t('notFound.title'))
  return (
    <div className="wide page stack" style={{ minHeight: '60vh', justifyContent: 'center', alignItems: 'flex-start' }}>
      <h1>{t('notFound.title')}</h1>
      <p className="dim">{t('notFound.body')}</p>
      <Button component={Link} to={pageAt('product')}>
        {t('nav.product')}
      </Button>
    </div>
  )
}

/** Redirects visitors to the login page, and afterwards back to the page they asked for. */
function SignedIn() {
  const { user, pending, error, retry } = useSession()
  const { pathname, search } = useLocation()
  if (pending) return <PageSkeleton />
  if (error && !user) return <ErrorState error={error} onRetry={() => void retry()} />
  if (!user) return <ToLogin from={pathname + search} />
  // The server refuses everything else.
  if (user.must_add_second_factor && pathname !== pathOf('userSettings'))
    return <Navigate to={pathOf('userSettings')} replace />
  return <Outlet />
}

function ToLogin({ from }: { from: string }) {
  const [to] = useState(() => guardedPath(from))
  return <Navigate to={to} replace />
}

function ToDashboard() {
  const { user } = useSession()
  return (
    <>
      {/* The skeleton keeps the footer out of view until the page's code has loaded. */}
      <PageSkeleton />
      <Navigate to={dashboardPath(user?.is_superuser ?? false)} replace />
    </>
  )
}

/** Administrators have no proxies. They see the orders page instead. */
function CustomerOnly() {
  const { user } = useSession()
  return user?.is_superuser ? <ToDashboard /> : <Outlet />
}

/** An administrator who views the shop as a user starts at home, even in tabs that showed the console. */
function AdminOnly() {
  const { user } = useSession()
  if (user?.impersonated_by) return <Navigate to={pathOf('home')} replace />
  return user?.is_superuser ? <Outlet /> : <ToDashboard />
}

// Request the first page's code before the first render.
preloadAt(window.location.pathname)

// Elements created once, so that React does not render them again between pages.
const frame = {
  layout: <Layout />,
  signedIn: <SignedIn />,
  dashboard: <Dashboard />,
  customerOnly: <CustomerOnly />,
  adminOnly: <AdminOnly />,
  toDashboard: <ToDashboard />,
  notFound: <NotFound />
}
const pages = new Map(screens.map(({ id, page: Page }) => [id, <Page key={id} />]))

/** The routes of one screen only, because the router matches every route on each address change. */
function routesTo(screen: Listed | undefined): RouteObject[] {
  const ifOf = (role: Role) => (screen?.role === role ? [{ path: screen.path, element: pages.get(screen.id) }] : [])
  const dashboards = {
    element: frame.dashboard,
    children: [
      { element: frame.customerOnly, children: ifOf('customer') },
      { element: frame.adminOnly, children: ifOf('admin') },
      ...ifOf('user')
    ]
  }
  return [
    {
      element: frame.layout,
      children: [
        ...ifOf('public'),
        {
          element: frame.signedIn,
          children: [dashboards, { path: '/dashboard/index?', element: frame.toDashboard }]
        },
        { path: '*', element: frame.notFound }
      ]
    }
  ]
}

export function Pages() {
  useNavigationIndicator()
  useEffect(() => watchLinks(link => preloadAt(link.pathname)), [])
  const screen = screenAt(useLocation().pathname)
  return useRoutes(useMemo(() => routesTo(screen), [screen]))
}

/** The part of the address that identifies the page. Lists in dashboards change the query without the router. */
const place = () => {
  const { pathname, search } = window.location
  return pathname.startsWith('/dashboard') ? pathname : pathname + search
}

/** Marks the body from a click until the new page shows, because the router renders it later (app/styles/global.css). */
export function useNavigationIndicator(): void {
  const location = useLocation()
  const shown = useRef('')
  useEffect(() => {
    shown.current = place()
    document.body.removeAttribute('data-going')
  }, [location])
  useEffect(() => {
    const look = () => void document.body.toggleAttribute('data-going', place() !== shown.current)
    // The router has already handled both events.
    document.addEventListener('click', look)
    window.addEventListener('popstate', look)
    return () => {
      document.removeEventListener('click', look)
      window.removeEventListener('popstate', look)
    }
  }, [])
}
