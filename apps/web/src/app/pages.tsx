import { Route, Routes } from 'react-router'
import { AdminOnly, CustomerOnly, SignedIn, ToDashboard } from './guards.tsx'
import { Layout } from './layout.tsx'
import { lazyPage } from './lazy-page.ts'
import { screens, type Role } from './manifest.ts'
import { NotFound } from './not-found.tsx'

const Dashboard = lazyPage(() => import('./shell/dashboard.tsx'))

const routesOf = (role: Role) =>
  screens
    .filter(screen => screen.role === role)
    .map(({ id, path, page: Page }) => <Route key={id} path={path} element={<Page />} />)

export function Pages() {
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
