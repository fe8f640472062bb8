import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { act, render, screen } from '@testing-library/react'
import { Suspense, type ReactNode } from 'react'
import { BrowserRouter, Route, Routes } from 'react-router'
import type { GiftCard, Page } from '@netlet/contract'
import { queryClient } from '../../api/query.ts'
import { accounts } from '../../api/routes.ts'
import { sessionQuery } from '../../api/session.ts'
import { Hosts } from '../../kit/hosts.tsx'
import { watchHistory } from '../../kit/leaving.ts'
import { answer } from '../../testing/answers.ts'
import { admin, giftCard } from '../../testing/shapes.ts'
import { setupUser } from '../../testing/user.ts'

// Before the guards: where one keeps the page, nobody else hears of it.
let moved: (() => void) | undefined
window.addEventListener('popstate', () => moved?.(), { capture: true })
watchHistory()

/**
 * Renders a screen of the console at an address of the browser itself: its list's state is kept there.
 * @param as the administrator who is signed in; by default an owner. `from`: the list that led there
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
          <Hosts />
        </BrowserRouter>
      </QueryClientProvider>
    </MantineProvider>
  )
  return {
    ...view,
    user: setupUser(),
    /** What the address asks for. */
    asked: () => Object.fromEntries(new URLSearchParams(window.location.search)),
    /** The browser's own button. */
    goBack: () =>
      act(async () => {
        const { promise, resolve } = Promise.withResolvers<void>()
        moved = resolve
        window.history.back()
        await promise
      })
  }
}

/** What a person keeps of lists: nothing yet. What is saved is answered, too. */
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

/** The page of a list of `total` cards that a query asks for; newest first. */
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

/** The entries of the menu that is open: the name of each, and whether it is possible. */
export const offeredActions = async (): Promise<[string, boolean][]> =>
  (await screen.findAllByRole('menuitem')).map(item => {
    const spoken = item.cloneNode(true) as HTMLElement
    for (const hidden of spoken.querySelectorAll('[aria-hidden="true"]')) hidden.remove()
    return [spoken.textContent, item.getAttribute('aria-disabled') !== 'true']
  })
