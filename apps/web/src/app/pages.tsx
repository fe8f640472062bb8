import { useEffect, useMemo } from 'react'
import { useLocation, useRoutes, type RouteObject } from 'react-router'
import { AdminOnly, CustomerOnly, SignedIn, ToDashboard } from './guards.tsx'
import { useGoing } from './going.ts'
import { Layout } from './layout.tsx'
import { screenAt, screens, type Listed, type Role } from './manifest.ts'
import { NotFound } from './not-found.tsx'
import { Dashboard, preloadAt, watchLinks } from './preload.ts'

// The first page's code is asked for before anything is drawn.
preloadAt(window.location.pathname)

// Made once: what stays from one page to the next is not drawn again.
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

/** The routes to one screen alone: the router compares an address with all that it has, at each change of the address. */
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
  useGoing()
  useEffect(() => watchLinks(link => preloadAt(link.pathname)), [])
  const screen = screenAt(useLocation().pathname)
  return useRoutes(useMemo(() => routesTo(screen), [screen]))
}
