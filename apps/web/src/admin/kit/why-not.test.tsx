import { screen, waitFor, within } from '@testing-library/react'
import { afterEach, describe, expect, it } from 'vitest'
import { fleet, rewards } from '../../api/routes.ts'
import { setLanguage } from '../../i18n/language.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import GiftCards from '../gift-cards/page.tsx'
import { busy, open as openServers } from '../servers/servers.fixture.tsx'
import { card, cardsOf, keepNothing, renderScreen } from './screen.fixture.tsx'

const pausedServer = { ...busy, status: 'paused' as const }
const openMenu = async (user: ReturnType<typeof openServers>['user']) => {
  await user.click(await screen.findByRole('button', { name: 'Actions: paris' }))
  return screen.findByRole('menuitem', { name: 'Pause', description: 'It is paused already.' })
}

describe('an action that is not possible now', () => {
  afterEach(() => setLanguage('en'))

  it('says why in its description, is reached by the keyboard, and does nothing', async () => {
    const { user } = openServers(undefined, [pausedServer])
    const entry = await openMenu(user)
    expect(entry.getAttribute('aria-disabled')).toBe('true')
    for (let step = 0; step < 20 && document.activeElement !== entry; step++) await user.keyboard('{ArrowDown}')
    expect(document.activeElement).toBe(entry)
    await user.keyboard('{Enter}')
    expect(requestsOf(fleet.pause)).toEqual([])
    expect(requestsOf(fleet.plan)).toEqual([])
    expect(screen.queryByRole('dialog')).toBeNull()
  })

  it('shows why where it is pressed, and its menu stays open', async () => {
    const { user } = openServers(undefined, [pausedServer])
    const entry = await openMenu(user)
    expect(entry.dataset['pressed']).toBeUndefined()
    await user.click(entry)
    expect(entry.dataset['pressed']).toBe('true')
    expect(within(entry).getByText('It is paused already.')).toBeTruthy()
    expect(requestsOf(fleet.plan)).toEqual([])
    expect(await screen.findByRole('menuitem', { name: 'Resume' })).toBeTruthy()
  })

  it('says so as a button of its own too, to who focuses it, and in Chinese', async () => {
    await setLanguage('zh-CN')
    keepNothing()
    answer(rewards.giftCards, { ...cardsOf(0, {}), data: [card(1, { is_exchanged: true })], total: 1 })
    const { user } = renderScreen(<GiftCards />)
    const edit = await screen.findByRole('button', { name: '编辑: CARD-1', description: '已被兑换。' })
    expect(edit.getAttribute('aria-disabled')).toBe('true')
    for (let step = 0; step < 40 && document.activeElement !== edit; step++) await user.tab()
    expect(document.activeElement).toBe(edit)
    await waitFor(() => expect(screen.getByRole('tooltip').textContent).toBe('编辑: 已被兑换。'))
    await user.keyboard('{Enter}')
    expect(screen.queryByRole('dialog')).toBeNull()
  })
})
