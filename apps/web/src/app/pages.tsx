import { useEffect, useMemo } from 'react'
import { useLocation, useRoutes, type RouteObject } from 'react-router'
import { AdminOnly, CustomerOnly, SignedIn, ToDashboard } from './guards.tsx'
import { useNavigationIndicator } from './going.ts'
import { Layout } from './layout.tsx'
import { screenAt, screens, type Listed, type Role } from './manifest.ts'
import { NotFound } from './not-found.tsx'
import { Dashboard, preloadAt, watchLinks } from './preload.ts'

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
      { element: frame.adminOnly, children: ifOf('admin') }
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
