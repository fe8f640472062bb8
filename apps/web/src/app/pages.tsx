import { useEffect } from 'react'
import { Route, Routes } from 'react-router'
import { AdminOnly, CustomerOnly, SignedIn, ToDashboard } from './guards.tsx'
import { useGoing } from './going.ts'
import { Layout } from './layout.tsx'
import { screens, type Role } from './manifest.ts'
import { NotFound } from './not-found.tsx'
import { Dashboard, preloadAt, watchLinks } from './preload.ts'

// The first page's code is asked for before anything is drawn.
preloadAt(window.location.pathname)

const routesOf = (role: Role) =>
  screens
    .filter(screen => screen.role === role)
    .map(({ id, path, page: Page }) => <Route key={id} path={path} element={<Page />} />)

export function Pages() {
  useGoing()
  useEffect(() => watchLinks(link => preloadAt(link.pathname)), [])
  return (
    <Routes>
      <Route element={<Layout />}>
        {routesOf('public')}
        <Route element={<SignedIn />}>
          <Route element={<Dashboard />}>
            <Route element={<CustomerOnly />}>{routesOf('customer')}</Route>
            <Route element={<AdminOnly />}>{routesOf('admin')}</Route>
          </Route>
          <Route path="/dashboard/index?" element={<ToDashboard />} />
        </Route>
        <Route path="*" element={<NotFound />} />
      </Route>
    </Routes>
  )
}
