import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { act, render } from '@testing-library/react'
import { Suspense, type ReactNode } from 'react'
import { MemoryRouter, Route, Routes, useLocation, useNavigate } from 'react-router'
import type { CurrentUser } from '@netlet/contract'
import { queryClient } from '../api/query.ts'
import { sessionQuery } from '../api/session.ts'
import { theme } from '../app/theme.ts'
import { Overlays } from '../kit/overlays.tsx'
import { setupUser } from './user.ts'

type Options = {
  /** The address that the browser shows. */
  at?: string
  /** The route's pattern, if the component reads path parameters. */
  route?: string
  /** The signed-in user; null for a visitor. Without it, the component asks the server. */
  user?: CurrentUser | null
}

/**
 * Renders a component inside the app's providers, with toasts and dialogs. If it navigates away, nothing is drawn and
 * `where` returns the new address.
 */
export function renderAt(ui: ReactNode, { at = '/', route = '*', user }: Options = {}) {
  if (user !== undefined) queryClient.setQueryData(sessionQuery.queryKey, user)
  let here = at
  let goBack = (): void => {}
  function Address() {
    const { pathname, search, hash } = useLocation()
    const navigate = useNavigate()
    goBack = () => void navigate(-1)
    here = pathname + search + hash
    return null
  }
  const view = render(
    <MantineProvider theme={theme} withCssVariables={false} env="test">
      <QueryClientProvider client={queryClient}>
        <MemoryRouter initialEntries={[at]}>
          <Address />
          <Suspense>
            <Routes>
              <Route path={route} element={ui} />
              {route !== '*' && <Route path="*" element={null} />}
            </Routes>
          </Suspense>
          <Overlays />
        </MemoryRouter>
      </QueryClientProvider>
    </MantineProvider>
  )
  return { ...view, user: setupUser(), where: () => here, goBack: () => act(goBack) }
}

/** Sets the window's width in pixels. Up to 768, screens use the phone layout. */
export const setWidth = (width: number): void =>
  (window as unknown as { happyDOM: { setViewport: (size: { width: number }) => void } }).happyDOM.setViewport({
    width
  })
