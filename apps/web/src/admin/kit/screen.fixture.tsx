import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { act, render, screen } from '@testing-library/react'
import { Suspense, type ReactNode } from 'react'
import { BrowserRouter, Route, Routes } from 'react-router'
import type { GiftCard, Page } from '@netlet/contract'
import { queryClient } from '../../api/query.ts'
import { accounts } from '../../api/routes.ts'
import { sessionQuery } from '../../api/session.ts'
import { Overlays } from '../../kit/overlays.tsx'
import { watchHistory } from '../../kit/leaving.ts'
import { answer } from '../../testing/answers.ts'
import { admin, giftCard } from '../../testing/shapes.ts'
import { setupUser } from '../../testing/user.ts'

// Registered before the guards, which may stop the event.
let moved: (() => void) | undefined
window.addEventListener('popstate', () => moved?.(), { capture: true })
watchHistory()

/**
 * Renders a console screen at an address of the browser, which holds the list's state.
 * @param as the signed-in administrator, by default an owner. `from`: the address of the list that led here
 */
export function renderScreen(ui: ReactNode, { at = '/list', route = '*', as = admin, from = '' } = {}) {
  queryClient.setQueryData(sessionQuery.queryKey, as)
  window.history.replaceState(from ? { usr: { from } } : null, '', at)
  const view = render(
    <MantineProvider withCssVariables={false} env="test">
      <QueryClientProvider client={queryClient}>
        <BrowserRouter>
          <Suspense>
            <Routes>
              <Route path={route} element={ui} />
            </Routes>
          </Suspense>
          <Overlays />
        </BrowserRouter>
      </QueryClientProvider>
    </MantineProvider>
  )
  return {
    ...view,
    user: setupUser(),
    /** The parameters of the address. */
    asked: () => Object.fromEntries(new URLSearchParams(window.location.search)),
    goBack: () =>
      act(async () => {
        const { promise, resolve } = Promise.withResolvers<void>()
        moved = resolve
        window.history.back()
        await promise
      })
  }
}

/** Answers for a user without saved list preferences. Saving them is answered too. */
export function keepNothing(kept: unknown = null): void {
  answer(accounts.preferences, kept)
  answer(accounts.savePreferences, null)
}

export const card = (id: number, more: Partial<GiftCard> = {}): GiftCard => ({
  ...giftCard,
  id,
  code: `CARD-${id}`,
  version: `version-${id}`,
  ...more
})

/** A page of a list with `total` cards, newest first. */
export function cardsOf(total: number, query: Record<string, string>, more: Partial<Page<GiftCard>> = {}) {
  const limit = Number(query['limit'] ?? 10)
  const offset = Number(query['offset'] ?? 0)
  const count = Math.max(0, Math.min(limit, total - offset))
  return {
    data: Array.from({ length: count }, (_, index) => card(total - offset - index)),
    total,
    total_exact: true,
    limit,
    offset,
    next: null,
    ...more
  }
}

/** The entries of the open menu: each name, and whether it is available. */
export const offeredActions = async (): Promise<[string, boolean][]> =>
  (await screen.findAllByRole('menuitem')).map(item => {
    const spoken = item.cloneNode(true) as HTMLElement
    for (const hidden of spoken.querySelectorAll('[aria-hidden="true"]')) hidden.remove()
    return [spoken.textContent, item.getAttribute('aria-disabled') !== 'true']
  })
