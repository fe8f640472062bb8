import type { User, UserDetail } from '@netlet/contract'
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { accounts } from '../../api/routes.ts'
import { queryClient } from '../../api/query.ts'
import { sessionQuery } from '../../api/session.ts'
import { setLanguage } from '../../i18n/language.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { admin, customer, pageOf } from '../../testing/shapes.ts'
import { keepNothing, offeredActions, renderScreen } from '../kit/screen.fixture.tsx'
import Users from './page.tsx'
import { detail } from './users.fixture.ts'

const { impersonated_by: _by, pending_points: _pending, ...alice } = customer

function open({
  at = '/dashboard/index/userList',
  rows = [alice],
  one = {}
}: { at?: string; rows?: User[]; one?: Partial<UserDetail> } = {}) {
  keepNothing()
  queryClient.setQueryData(sessionQuery.queryKey, admin)
  answer(accounts.users, pageOf(...rows))
  answer(accounts.user, { ...detail, ...one })
  return renderScreen(<Users />, { at })
}
type Person = ReturnType<typeof open>['user']
const choose = async (user: Person, entry: string) => {
  await user.click(await screen.findByRole('button', { name: 'Actions: alice' }))
  await user.click(await screen.findByRole('menuitem', { name: entry }))
}
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

  it('open their page at a click on the row, and not at one on what the row holds or by marking text', async () => {
    const { user } = open()
    const row = () => screen.getByRole('link', { name: 'alice' }).closest('tr') as HTMLElement
    await screen.findByRole('link', { name: 'alice' })
    await user.click(within(row()).getByRole('button', { name: 'Actions: alice' }))
    await user.keyboard('{Escape}')
    const cell = within(row()).getByText('Active')
    window.getSelection()?.selectAllChildren(cell)
    fireEvent.click(cell)
    expect(window.location.pathname).toBe('/dashboard/index/userList')
    window.getSelection()?.removeAllRanges()
    await user.click(cell)
    await waitFor(() => expect(window.location.pathname).toBe('/dashboard/index/users/2'))
  })

  it('open their page by Enter on the row', async () => {
    const { user } = open()
    await screen.findByRole('link', { name: 'alice' })
    await user.keyboard('j{Enter}')
    await waitFor(() => expect(window.location.pathname).toBe('/dashboard/index/users/2'))
  })

  it('are filtered by ban, rights and level', async () => {
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Filters' }))
    await user.selectOptions(screen.getByRole('combobox', { name: 'Status' }), 'Banned')
    await user.selectOptions(screen.getByRole('combobox', { name: 'Admin' }), 'NO')
    await user.selectOptions(screen.getByRole('combobox', { name: 'Level' }), 'Level 2')
    await waitFor(() =>
      expect(requestsOf(accounts.users).at(-1)?.query).toEqual({
        limit: '10',
        offset: '0',
        is_active: '0',
        is_superuser: '0',
        level: '2'
      })
    )
  })

  it('offer of a customer what can be done with it, and of an administrator no switch', async () => {
    const { user } = open({ rows: [{ ...alice, is_superuser: true }] })
    await user.click(await screen.findByRole('button', { name: 'Actions: alice' }))
    expect(await offeredActions()).toEqual([
      ['Details', true],
      ['Switch to User', false],
      ['View orders', true],
      ['Ban', true],
      ['Unban', false],
      ['Edit', true],
      ['Delete', true]
    ])
  })

  it("lead to a user's orders", async () => {
    const { user } = open()
    await choose(user, 'View orders')
    await waitFor(() => expect(window.location.pathname).toBe('/dashboard/index/orders/alice'))
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
      screen.getByText('Ban alice? What ends at once: sessions: 2, API keys: 1. Orders that run until they expire: 3.')
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
    ['leases', /^Orders of alice still hold proxies \(orders that run: 3, that wait for their payment: 1\)/],
    ['order', /^alice paid for something that was neither delivered nor refunded/]
  ] as const)('cannot be deleted while something is owed, and says so with no YES: %s', async (owed, why) => {
    const { user } = open({ one: { figures: { ...detail.figures, owed } } })
    await choose(user, 'Delete')
    const told = within(await screen.findByRole('dialog', { name: 'alice cannot be deleted now' }))
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
      const entry = await screen.findByRole('menuitem', { name, description: 'It is your own account.' })
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

describe('who has logged in from where', () => {
  const shown = async (country: string | null) => {
    open({ rows: [{ ...alice, last_login_ip: '203.0.113.7', last_location: country }] })
    const row = (await screen.findByText('203.0.113.7')).closest('td') as HTMLElement
    const picture = row.querySelector<HTMLElement>('[data-country]')
    return picture ? picture.dataset['country'] : row.querySelector('[data-globe]') && 'globe'
  }
  const CODES = 'CN US JP KR GB DE FR IT RU BR IN AU CA HK MY SG TW TH VN ID'.split(' ')

  it.each(CODES)('%s has its flag', async code => {
    expect(await shown(code)).toBe(code)
  })

  it.each(['SE', null])('%s has a globe', async code => {
    expect(await shown(code)).toBe('globe')
  })

  it("or never, in the chosen language's words", async () => {
    await setLanguage('zh-CN')
    try {
      open({ rows: [{ ...alice, last_login: null, last_login_time: null, last_login_ip: null, last_location: null }] })
      expect(await screen.findByText('从未')).toBeTruthy()
    } finally {
      await setLanguage('en')
    }
  })
})

describe('the Edit dialog', () => {
  const edit = (one: Partial<User> = {}) => open({ at: '?form=edit.2', rows: [{ ...alice, ...one }], one })
  const dialog = () => screen.findByRole('dialog', { name: 'Edit: alice' })
  const card = async (name: string) => within(await dialog()).findByRole('region', { name })

  it('shows the user in three cards', async () => {
    edit({ discord_id: '7', discord_name: 'ali ce#1234', invite_count: 4, last_location: null })
    const facts = await card('User information')
    for (const text of ['alice', 'Active', '1', '4']) expect(within(facts).getByText(text)).toBeTruthy()
    const account = await card('Account management')
    expect(within(account).getByLabelText<HTMLInputElement>(/Email/).value).toBe('alice@example.com')
    const profile = within(account).getByRole('link', { name: 'ali ce#1234' })
    expect(profile.getAttribute('href')).toBe('https://discord.com/users/ali%20ce')
    expect(profile.getAttribute('target')).toBe('_blank')
    expect(profile.getAttribute('rel')).toContain('noopener')
    const more = await card('Additional info')
    expect(within(more).getByText('203.0.113.7')).toBeTruthy()
    expect(within(more).getByText('Unknown')).toBeTruthy()
    expect(more.querySelector('[data-globe]')).toBeTruthy()
  })

  it('takes the chat account off after a question', async () => {
    answer(accounts.unbindUserDiscord, null)
    const { user } = edit({ discord_id: '7', discord_name: 'ali ce#1234' })
    const account = await card('Account management')
    await user.click(within(account).getByRole('button', { name: 'Take the chat account off' }))
    const question = await screen.findByRole('dialog', { name: 'Take the chat account off ?' })
    await user.click(within(question).getByRole('button', { name: 'YES' }))
    expect(await within(account).findByText('Not connected')).toBeTruthy()
    expect(requestsOf(accounts.unbindUserDiscord)).toHaveLength(1)
  })

  it('gives an administrator a role, and sends it', async () => {
    answer(accounts.updateUser, { ...alice, is_superuser: true })
    const { user } = edit({})
    const account = await card('Account management')
    expect(within(account).queryByRole('combobox', { name: /Role/ })).toBeNull()
    await user.click(within(account).getByRole('switch', { name: 'Admin' }))
    await user.selectOptions(await within(account).findByRole('combobox', { name: /Role/ }), 'support')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await waitFor(() =>
      expect(requestsOf(accounts.updateUser).at(-1)?.body).toMatchObject({
        is_superuser: true,
        operator_role: 'support'
      })
    )
  })

  it("says 'Never' of somebody who never logged in", async () => {
    edit({ last_login: null, last_login_time: null, last_login_ip: null, last_location: null })
    expect(within(await card('Additional info')).getByText('Never')).toBeTruthy()
  })

  it('is not closed by a click beside it', async () => {
    const { user, asked } = edit()
    await dialog()
    await user.click(document.querySelector('.mantine-Modal-inner') as HTMLElement)
    await user.click(document.querySelector('.mantine-Modal-overlay') as HTMLElement)
    expect(asked()).toEqual({ form: 'edit.2' })
    await user.click(screen.getByRole('button', { name: 'Cancel' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(asked()).toEqual({})
  })

  it('asks before what was entered is lost, also by the back button', async () => {
    const { user, asked, goBack } = open()
    await choose(user, 'Edit')
    await user.click(await screen.findByRole('switch', { name: 'Admin' }))
    await goBack()
    expect(await screen.findByText('Discard the changes?')).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'NO' }))
    expect(screen.getByRole<HTMLInputElement>('switch', { name: 'Admin' }).checked).toBe(true)
    await waitFor(() => expect(asked()).toEqual({ form: 'edit.2' }))
  })

  it('saves rights, address and a change of coins, with the version', async () => {
    answer(accounts.updateUser, alice)
    const { user } = edit()
    const coins = await screen.findByLabelText(/Coins/)
    await user.clear(coins)
    await user.type(coins, '+50')
    expect(screen.getByText('= 170')).toBeTruthy()
    await user.click(screen.getByRole('switch', { name: 'Admin' }))
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await toast('successfully')).toBeTruthy()
    expect(requestsOf(accounts.updateUser).at(-1)).toMatchObject({
      params: { id: '2' },
      body: { email: 'alice@example.com', is_superuser: true, reward_points_change: 50, version: alice.version }
    })
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  })

  it.each(['', 'many', '1.5', '-121', '99999881', '1000000000'])('refuses a change of coins by %j', async change => {
    const { user } = edit()
    const coins = await screen.findByLabelText(/Coins/)
    await user.clear(coins)
    if (change) await user.type(coins, change)
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('Please enter points')).toBeTruthy()
    expect(requestsOf(accounts.updateUser)).toEqual([])
  })

  it('shows what somebody else changed meanwhile, and takes it over', async () => {
    const current = { ...alice, reward_points: 20, is_superuser: true, version: 'newer' }
    answerRefused(accounts.updateUser, 'stale', { data: { current, changed: ['reward_points'] } })
    const { user } = edit()
    await screen.findByLabelText(/Coins/)
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('Coins: was 120, is now 20')).toBeTruthy()
    expect(screen.getByText('Admin: was NO, is now YES')).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Take over these values' }))
    expect(screen.getByRole<HTMLInputElement>('switch', { name: 'Admin' }).checked).toBe(true)
    answer(accounts.updateUser, current)
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(requestsOf(accounts.updateUser).at(-1)?.body).toMatchObject({ version: 'newer' }))
  })

  it('shows what the server says of a field', async () => {
    answerRefused(accounts.updateUser, 'email_taken', { data: { errors: { email: 'This address is taken' } } })
    const { user } = edit()
    await screen.findByLabelText(/Coins/)
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('This address is taken')).toBeTruthy()
  })

  it('resets the password after a question, and only where there is one', async () => {
    answer(accounts.adminPassword, null)
    const { user } = edit()
    const reset = await screen.findByRole('button', { name: 'Reset password' })
    await user.click(reset)
    expect(await screen.findByText('Please enter password')).toBeTruthy()
    await user.type(screen.getByLabelText('New password'), 'Other#2026')
    await user.click(reset)
    expect(await screen.findByText('Reset the password ?')).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'YES' }))
    expect(await toast('success')).toBeTruthy()
    expect(requestsOf(accounts.adminPassword)).toMatchObject([
      { params: { id: '2' }, body: { password: 'Other#2026' } }
    ])
    expect(screen.getByLabelText<HTMLInputElement>('New password').value).toBe('')
  })
})
