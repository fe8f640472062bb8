import type { User } from '@netlet/contract'
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { queryClient } from '../../api/query.ts'
import { accounts } from '../../api/routes.ts'
import { isUnsaved } from '../../kit/leaving.ts'
import { answer, answerRefused, hold, requestsOf } from '../../testing/answers.ts'
import { savedUser, user as alice } from '../../testing/shapes.ts'
import { open } from './list.fixture.tsx'
import { detail } from './users.fixture.ts'

const RIGHTS = /Changing the role ends sessions \(\d+\) and revokes API keys \(\d+\)/
const toast = (text: string) => screen.findByText(text)

describe('the Edit dialog', () => {
  const edit = (one: Partial<User> = {}) => open({ at: '?form=edit.2', rows: [{ ...alice, ...one }], one })
  const dialog = () => screen.findByRole('dialog', { name: 'Edit: alice' })
  const card = async (name: string) => within(await dialog()).findByRole('region', { name })

  it('takes the chat account off after a question', async () => {
    answer(accounts.unbindUserDiscord, null)
    const { user } = edit({ discord_id: '7', discord_name: 'ali ce#1234' })
    const account = await card('Account management')
    await user.click(within(account).getByRole('button', { name: 'Disconnect the chat account' }))
    const question = await screen.findByRole('dialog', { name: 'Disconnect the chat account ?' })
    await user.click(within(question).getByRole('button', { name: 'YES' }))
    expect(await within(account).findByText('Not connected')).toBeTruthy()
    expect(requestsOf(accounts.unbindUserDiscord)).toHaveLength(1)
  })

  it('gives an administrator a role, and sends it', async () => {
    answer(accounts.updateUser, { ...savedUser, is_superuser: true })
    const { user } = edit({})
    const account = await card('Account management')
    expect(within(account).queryByRole('combobox', { name: /Role/ })).toBeNull()
    await user.click(within(account).getByRole('switch', { name: 'Admin' }))
    const role = await within(account).findByRole<HTMLSelectElement>('combobox', { name: /Role/ })
    expect(role.value).toBe('viewer')
    await user.selectOptions(role, 'support')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    const question = within(await screen.findByRole('dialog', { name: 'Save these changes to alice?' }))
    expect(question.getByText(RIGHTS)).toBeTruthy()
    expect(question.getByText(/alice gets the role Support\. Helps customers: changes orders/)).toBeTruthy()
    await user.click(question.getByRole('button', { name: 'NO' }))
    await waitFor(() => expect(screen.queryByText(RIGHTS)).toBeNull())
    expect(requestsOf(accounts.updateUser)).toEqual([])
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() =>
      expect(requestsOf(accounts.updateUser).at(-1)?.body).toMatchObject({
        is_superuser: true,
        operator_role: 'support'
      })
    )
  })

  it('saves rights, address and a change of coins, with the version', async () => {
    answer(accounts.updateUser, savedUser)
    const { user } = edit()
    const coins = await screen.findByLabelText(/Coins/)
    await user.clear(coins)
    await user.type(coins, '+50')
    expect(screen.getByText('= 170')).toBeTruthy()
    await user.click(screen.getByRole('switch', { name: 'Admin' }))
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    expect(await toast('successfully')).toBeTruthy()
    // Undo would not restore the other saved fields.
    expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull()
    expect(requestsOf(accounts.updateUser).at(-1)).toMatchObject({
      params: { id: '2' },
      body: { email: 'alice@example.com', is_superuser: true, reward_points_change: 50, version: alice.version }
    })
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  })

  it('says where mails go from now on before it saves another address', async () => {
    answer(accounts.updateUser, savedUser)
    const { user } = edit()
    const email = await screen.findByLabelText(/Email/)
    await user.clear(email)
    await user.type(email, 'new@example.com')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText(/go to new@example.com. alice@example.com gets an email/)).toBeTruthy()
    expect(screen.queryByText(RIGHTS)).toBeNull()
    await user.click(screen.getByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(accounts.updateUser)).toHaveLength(1))
  })

  it('asks nothing about coins alone, and takes them back by Undo, with the new version', async () => {
    answer(accounts.updateUser, { ...savedUser, reward_points: 170, version: 'newer' })
    const { user } = edit()
    const coins = await screen.findByLabelText(/Coins/)
    await user.clear(coins)
    await user.type(coins, '+50')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await user.click(await screen.findByRole('button', { name: 'Undo' }))
    await waitFor(() =>
      expect(requestsOf(accounts.updateUser).at(-1)).toMatchObject({
        params: { id: '2' },
        body: { reward_points_change: -50, version: 'newer' }
      })
    )
  })

  it('shows what another user saved, and no role for a customer', async () => {
    const current = { ...savedUser, reward_points: 20, version: 'newer' }
    answerRefused(accounts.updateUser, 'stale', { data: { current, changed: ['is_superuser', 'reward_points'] } })
    const { user } = edit({ is_superuser: true, operator_role: 'viewer' })
    const email = await screen.findByLabelText<HTMLInputElement>(/Email/)
    await user.type(email, 'x')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    const alert = within(await screen.findByRole('alert'))
    for (const words of ['Admin: was YES, is now NO', 'Role: was Read only, is now –', 'Coins: was 120, is now 20'])
      expect(alert.getByText(words)).toBeTruthy()
    expect(email.value).toBe('alice@example.comx')
    answer(accounts.updateUser, current)
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() =>
      expect(requestsOf(accounts.updateUser).at(-1)?.body).toMatchObject({
        email: 'alice@example.comx',
        is_superuser: false,
        version: 'newer'
      })
    )
  })

  it('shows what the server says of a field', async () => {
    answerRefused(accounts.updateUser, 'email_taken', { data: { errors: { email: 'This address is taken' } } })
    const { user } = edit()
    const email = await screen.findByLabelText(/Email/)
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('This address is taken')).toBeTruthy()
    await waitFor(() => expect(document.activeElement).toBe(email))
  })

  it('is not closed by a click beside it', async () => {
    const { asked } = edit()
    await dialog()
    // After the time of a double click.
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 1000)
    await act(async () => void fireEvent.click(document.querySelector('.mantine-Modal-overlay') as HTMLElement))
    expect(asked()).toEqual({ form: 'edit.2' })
  })

  it('asks and saves nothing once it was left, whenever the plan of a change arrives', async () => {
    const { user } = edit()
    await user.click(await screen.findByRole('switch', { name: 'Admin' }))
    const asked = requestsOf(accounts.user).length
    const tell = hold(accounts.user)
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(requestsOf(accounts.user)).toHaveLength(asked + 1))
    await user.click(screen.getByRole('button', { name: 'Cancel' }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    await act(async () => tell(detail))
    expect(screen.queryByRole('dialog')).toBeNull()
    expect(requestsOf(accounts.updateUser)).toEqual([])
  })

  it('keeps the role chosen for a new administrator if another user saved a different one', async () => {
    const current = { ...alice, is_superuser: true, operator_role: 'support' as const, version: 'newer' }
    answerRefused(accounts.updateUser, 'stale', { data: { current, changed: ['is_superuser'] } })
    const { user } = edit()
    await user.click(await screen.findByRole('switch', { name: 'Admin' }))
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    const alert = within(await screen.findByRole('alert'))
    expect(alert.getByText('Role: you entered Read only, but Support was saved')).toBeTruthy()
    const role = screen.getByRole<HTMLSelectElement>('combobox', { name: /Role/ })
    expect(role.value).toBe('viewer')
    await user.click(alert.getByRole('button', { name: 'Use the saved value: Role' }))
    expect(role.value).toBe('support')
  })

  it('offers no Undo where a debt took some of the coins', async () => {
    answer(accounts.updateUser, { ...savedUser, reward_points: 140 })
    const { user } = edit()
    const coins = await screen.findByLabelText(/Coins/)
    await user.clear(coins)
    await user.type(coins, '+50')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await toast('successfully')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull()
  })

  it('refuses a change of coins that is no whole number, or leads out of their bounds', async () => {
    const { user } = edit()
    const coins = await screen.findByLabelText(/Coins/)
    for (const change of ['', 'many', '1.5', '-121', '99999881', '1000000000']) {
      await user.clear(coins)
      if (change) await user.type(coins, change)
      await user.click(screen.getByRole('button', { name: 'Save' }))
      expect(await screen.findByText('Please enter points'), change).toBeTruthy()
      await user.clear(coins)
      await user.type(coins, '+1')
      await waitFor(() => expect(screen.queryByText('Please enter points')).toBeNull())
    }
    expect(requestsOf(accounts.updateUser)).toEqual([])
  })

  it('saves nothing over a password that was typed and not set, and says so at its field', async () => {
    const { user } = edit()
    const field = await screen.findByLabelText('New password')
    await user.type(field, 'Other#2026')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText(/^This password is not set yet/)).toBeTruthy()
    await waitFor(() => expect(document.activeElement).toBe(field))
    expect(requestsOf(accounts.updateUser)).toEqual([])
    answer(accounts.updateUser, savedUser)
    await user.clear(field)
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await toast('successfully')).toBeTruthy()
  })

  it("restores its draft after an expired session without the password, also over another user's save", async () => {
    const current = { ...alice, is_superuser: true, operator_role: 'support' as const, version: 'newer' }
    answerRefused(accounts.updateUser, 'stale', { data: { current, changed: ['is_superuser'] } })
    const before = edit()
    const coins = () => screen.findByLabelText<HTMLInputElement>(/Coins/)
    await before.user.clear(await coins())
    await before.user.type(await coins(), '+50')
    await before.user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('Admin: was NO, is now YES')).toBeTruthy()
    expect(isUnsaved('without drafts')).toBe(false)
    await before.user.type(screen.getByLabelText('New password'), 'Other#2026')
    expect(isUnsaved('without drafts')).toBe(true)
    before.unmount()
    queryClient.clear()
    expect(Object.values(sessionStorage).join()).not.toContain('Other#2026')
    edit(current)
    await waitFor(async () => expect((await coins()).value).toBe('+50'))
    expect(screen.getByRole<HTMLInputElement>('switch', { name: 'Admin' }).checked).toBe(true)
    expect(screen.getByLabelText<HTMLInputElement>('New password').value).toBe('')
  })

  it('resets the password after a question, and only where there is one', async () => {
    answer(accounts.adminPassword, null)
    const { user } = edit()
    const reset = await screen.findByRole('button', { name: 'Reset password' })
    await user.click(reset)
    expect(await screen.findByText('Please enter password')).toBeTruthy()
    await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText('New password')))
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
