import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { accounts } from '../../api/routes.ts'
import { queryClient } from '../../api/query.ts'
import { sessionQuery } from '../../api/session.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { admin, customer, user as alice } from '../../testing/shapes.ts'
import { choose, open } from './list.fixture.tsx'
import { detail } from './users.fixture.ts'

const toast = (text: string) => screen.findByText(text)

describe('the users of the console', () => {
  it('search for what the address says, ten a page, and lead to a page of each', async () => {
    open({ at: '/dashboard/index/userList?search=ali' })
    const link = await screen.findByRole('link', { name: 'alice' })
    expect(link.getAttribute('href')).toBe('/dashboard/index/users/2')
    expect(requestsOf(accounts.users).at(-1)?.query).toEqual({ limit: '10', offset: '0', search: 'ali' })
    expect(screen.getByRole<HTMLInputElement>('searchbox').value).toBe('ali')
    expect(screen.getByRole('link', { name: 'CSV' }).getAttribute('href')).toBe('/api/users/u/?search=ali&format=csv')
  })
})

describe('switching to a user', () => {
  it('shows the shop as the user, at home', async () => {
    answer(accounts.switchUser, { ...customer, impersonated_by: 'admin' })
    const { user } = open()
    await choose(user, 'Switch to User')
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    expect(await toast('Switch user successfully')).toBeTruthy()
    expect(window.location.pathname).toBe('/')
    expect(requestsOf(accounts.switchUser).at(-1)?.body).toEqual({ user_id: 2 })
    expect(queryClient.getQueryData(sessionQuery.queryKey)).toMatchObject({ id: 2, impersonated_by: 'admin' })
  })

  it('changes nothing after NO', async () => {
    const { user } = open()
    await choose(user, 'Switch to User')
    await user.click(await screen.findByRole('button', { name: 'NO' }))
    expect(await toast('Operation cancelled')).toBeTruthy()
    expect(requestsOf(accounts.switchUser)).toEqual([])
  })

  it("says why it failed: in the server's words, or in its own", async () => {
    answerRefused(accounts.switchUser, 'cannot_switch')
    const { user } = open()
    await choose(user, 'Switch to User')
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    expect(await screen.findByRole('alert')).toBeTruthy()
    answerRefused(accounts.switchUser, 'cannot_switch', { msg: '' })
    await choose(user, 'Switch to User')
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    expect(await toast('Failed to switch user')).toBeTruthy()
    expect(window.location.pathname).toBe('/dashboard/index/userList')
  })
})

describe('what is asked before it is done', () => {
  it('bans after saying what ends', async () => {
    answer(accounts.ban, null)
    const { user } = open()
    await choose(user, 'Ban')
    expect(await screen.findByText('Ban this user ?')).toBeTruthy()
    expect(
      screen.getByText(
        'Ban alice? Ends immediately: sessions: 2, API keys: 1. Active orders that run until they expire: 3.'
      )
    ).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'YES' }))
    expect(await toast('successfully')).toBeTruthy()
    expect(requestsOf(accounts.ban).at(-1)?.params).toEqual({ id: '2' })
  })

  it('does not ban after NO, nor where it cannot say what ends', async () => {
    const { user } = open()
    await choose(user, 'Ban')
    await user.click(await screen.findByRole('button', { name: 'NO' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    answerRefused(accounts.user, 'not_found')
    await choose(user, 'Ban')
    expect(await screen.findByRole('alert')).toBeTruthy()
    expect(screen.queryByRole('dialog')).toBeNull()
    expect(requestsOf(accounts.ban)).toEqual([])
  })

  it('unbans, and offers no Undo, which would ban whatever happened since', async () => {
    answer(accounts.unban, null)
    const { user } = open({ rows: [{ ...alice, is_active: false }] })
    expect(await screen.findByText('Banned')).toBeTruthy()
    await choose(user, 'Unban')
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    expect(await toast('successfully')).toBeTruthy()
    expect(requestsOf(accounts.unban).at(-1)?.params).toEqual({ id: '2' })
    expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull()
  })

  it.each([
    ['leases', /^Orders of alice still hold proxies \(active: 3, unpaid: 1\)/],
    ['order', /^alice has a paid order that was neither delivered nor refunded/]
  ] as const)('cannot be deleted while something is owed, and says so with no YES: %s', async (owed, why) => {
    const { user } = open({ one: { figures: { ...detail.figures, owed } } })
    await choose(user, 'Delete')
    const told = within(await screen.findByRole('dialog', { name: 'Cannot delete alice now' }))
    expect(told.getByText(why)).toBeTruthy()
    expect(told.queryByRole('button', { name: 'YES' })).toBeNull()
    await user.click(told.getByRole('button', { name: 'Close' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(requestsOf(accounts.deleteUser)).toEqual([])
  })

  it('neither bans nor deletes who is signed in', async () => {
    const { user } = open({ rows: [{ ...alice, id: admin.id, is_superuser: true }] })
    await user.click(await screen.findByRole('button', { name: 'Actions: alice' }))
    for (const name of ['Ban', 'Delete']) {
      const entry = await screen.findByRole('menuitem', { name, description: 'This is your own account.' })
      expect(entry.getAttribute('aria-disabled')).toBe('true')
    }
  })

  it('deletes after saying what ends and what is kept, and shows why it was refused', async () => {
    answerRefused(accounts.deleteUser, 'user_has_leases')
    const { user } = open()
    await choose(user, 'Delete')
    expect(await screen.findByText('Confirm deletion')).toBeTruthy()
    expect(screen.getByText(/^Delete \? alice, .*sessions: 2, API keys: 1\..*: 5\.$/)).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'YES' }))
    expect(await screen.findByRole('alert')).toBeTruthy()
    answer(accounts.deleteUser, null)
    await choose(user, 'Delete')
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    expect(await toast('successfully')).toBeTruthy()
    expect(requestsOf(accounts.deleteUser).at(-1)?.params).toEqual({ id: '2' })
  })
})

it('who has logged in from a country has its flag, and from none or an unknown one a globe', async () => {
  const countries = ['CN', 'US', 'VN', 'SE', null]
  const rows = countries.map((last_location, at) => ({ ...alice, id: at + 2, username: `user${at}`, last_location }))
  open({ rows })
  await screen.findByText('user4')
  const pictures = [...document.querySelectorAll<HTMLElement>('[data-country], [data-globe]')]
  expect(pictures.map(picture => picture.dataset['country'] ?? 'globe')).toEqual(['CN', 'US', 'VN', 'globe', 'globe'])
})
