import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import type { ComponentType } from 'react'
import { Link } from 'react-router'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { queryClient, read } from '../../api/query.ts'
import { accounts, bulk, fleet, rewards, settings } from '../../api/routes.ts'
import { answer, hold, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { admin, customer, pageOf } from '../../testing/shapes.ts'
import { Layout } from '../pages.tsx'
import { pathOf, screens, type ScreenId } from '../manifest.ts'
import { Preload, lists } from './preload.ts'

const lazyScreens = screens.filter(({ page }) => page.preload)
const adminScreens = lazyScreens.filter(({ role }) => role === 'admin')
const loading = (wanted: readonly (typeof screens)[number][]) =>
  new Map(
    wanted.map(({ id, page }) => [
      id,
      vi.spyOn(page as Required<typeof page>, 'preload').mockResolvedValue({ default: () => null })
    ])
  )
const loaded = (spies: ReturnType<typeof loading>) =>
  [...spies].flatMap(([id, { mock }]) => mock.calls.map(() => id)).toSorted()

/** Callbacks that wait for an idle browser. */
let idle: (() => void)[] = []
const beIdle = async () => {
  while (idle.length > 0) await act(async () => idle.splice(0).forEach(run => run()))
}
beforeEach(() => {
  idle = []
  vi.stubGlobal('requestIdleCallback', (run: () => void) => idle.push(run))
})

const at = (id: ScreenId, rest = '') => <Link to={pathOf(id) + rest}>there</Link>
const show = (id: ScreenId, rest?: string, user = admin) =>
  renderAt(
    <>
      {at(id, rest)}
      <Preload />
    </>,
    { user }
  )

describe('a screen that is opened', () => {
  it('has its code loaded and its rows asked for at once, neither after the other', () => {
    const code = vi.fn(() => new Promise<{ default: ComponentType }>(() => undefined))
    const { page } = adminScreens.find(({ id }) => id === 'giftcard') as Required<(typeof screens)[number]>
    vi.spyOn(page as Required<typeof page>, 'preload').mockImplementation(code)
    hold(rewards.giftCards)
    hold(accounts.preferences)
    show('giftcard')
    fireEvent.pointerDown(screen.getByRole('link'))
    expect(code).toHaveBeenCalled()
    expect(requestsOf(rewards.giftCards)).toMatchObject([{ query: { limit: '10', offset: '0' } }])
    expect(requestsOf(accounts.preferences)).toMatchObject([{ params: { key: 'list.gift-cards' } }])
  })

  it('shows the rows that were asked for before it was there, and asks no second time', async () => {
    answer(rewards.giftCards, pageOf())
    answer(accounts.preferences, null)
    const { default: GiftCards } = await import('../../admin/gift-cards/page.tsx')
    const { user } = show('giftcard')
    await user.click(screen.getByRole('link'))
    renderAt(<GiftCards />, { user: admin })
    await screen.findByText('No gift cards yet')
    expect(requestsOf(rewards.giftCards)).toHaveLength(1)
    expect(requestsOf(accounts.preferences)).toHaveLength(1)
  })

  it('is not loaded for a role that may not open it', () => {
    const spies = loading(adminScreens)
    show('giftcard', '', { ...admin, operator_role: 'viewer' })
    fireEvent.pointerDown(screen.getByRole('link'))
    expect(loaded(spies)).toEqual([])
    expect(requestsOf(rewards.giftCards)).toEqual([])
  })
})

describe('the other screens', () => {
  const open = (user: typeof admin | null) => {
    answer(settings.social, { discord: '', twitter: '' })
    answer(bulk.runs, pageOf())
    answer(fleet.upgrades, pageOf())
    answer(fleet.servers, pageOf())
    const spies = loading(lazyScreens)
    return { spies, ...renderAt(<Layout />, { user }) }
  }

  it('are loaded once, one after the other, when the first one stands and the browser is idle', async () => {
    const social = hold(settings.social)
    const spies = loading(lazyScreens)
    // In flight before the console's code loads, as on a first visit.
    void queryClient.prefetchQuery(read(settings.social))
    renderAt(<Layout />, { user: admin })
    await waitFor(() => expect(requestsOf(settings.social)).toHaveLength(1))
    await beIdle()
    expect(loaded(spies)).toEqual([])
    act(() => social({ discord: '', twitter: '' }))
    await waitFor(() => expect(idle).toHaveLength(1))
    expect(loaded(spies)).toEqual([])
    await beIdle()
    await beIdle()
    expect(loaded(spies)).toEqual(adminScreens.map(({ id }) => id).toSorted())
  })

  it.each([
    ['a visitor', null],
    ['a customer', customer],
    ['an administrator who views the shop as a customer', { ...customer, impersonated_by: 'admin' }]
  ])('are not loaded for %s', async (_, user) => {
    const { spies } = open(user)
    await waitFor(() => expect(requestsOf(settings.social)).toHaveLength(1))
    await act(() => Promise.resolve())
    await beIdle()
    expect(loaded(spies)).toEqual([])
  })
})

describe('the lists that are read ahead', () => {
  it.each(adminScreens.map(({ id, page }) => [id, page] as const))('are that of %s', async (id, page) => {
    const { default: Page } = await (page as Required<typeof page>).preload()
    const { resource } = Page as ComponentType & { resource?: { key: string; list: object } }
    if (resource) expect(lists[id]).toEqual([resource.key, resource.list])
    // These screens contain more than a list and read their own data.
    else expect(['mails', 'notices', 'productManager', 'tickets', 'webhooks', undefined]).toContain(lists[id] && id)
  })
})
