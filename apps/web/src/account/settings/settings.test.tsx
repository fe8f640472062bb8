import { act, screen, waitFor, within } from '@testing-library/react'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { accounts, mail, webhooks } from '../../api/routes.ts'
import { setLanguage } from '../../i18n/language.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { customer } from '../../testing/shapes.ts'
import SettingsPage from './page.tsx'

const PATH = '/dashboard/index/setting'
const bound = { ...customer, discord_id: '7', discord_name: 'Seven' }
const wrong = { data: { errors: { password: 'The password is not correct' } } }
const session = { device: 'Firefox', ip: '203.0.113.7', location: 'DE', created_at: customer.created_at }
const here = { ...session, id: 1, last_seen_at: customer.created_at, is_current: true }

beforeEach(() => {
  answer(accounts.apiKeys, [])
  answer(webhooks.endpoints, [])
  answer(mail.choices, { payments: true, proxies: true, expiry: true, blocked: null })
  answer(accounts.sessions, [here, { ...here, id: 2, device: 'Chrome', is_current: false }])
})

const open = (user = customer) => {
  answer(accounts.whoIsSignedIn, user)
  return renderAt(<SettingsPage />, { at: PATH, route: PATH, user })
}
const part = (name: string) => within(screen.getByRole('region', { name }))
const again = (name: string) => part(name).getByLabelText('Your password, once more', { selector: 'input' })

describe('the settings page', () => {
  it('asks for the password before it leads to the chat platform, and says where it is wrong', async () => {
    const assign = vi.spyOn(window.location, 'assign').mockImplementation(() => {})
    answerRefused(accounts.bindDiscord, 'wrong_password', wrong)
    const { user } = open()
    await user.click(screen.getByRole('button', { name: 'Connect Discord' }))
    await user.click(screen.getByRole('button', { name: 'Continue to Discord' }))
    expect(await screen.findByText('Please enter your password!')).toBeTruthy()
    expect(requestsOf(accounts.bindDiscord)).toEqual([])
    await user.type(again('Discord account'), 'Secret#123')
    await user.click(screen.getByRole('button', { name: 'Continue to Discord' }))
    expect(await screen.findByText('The password is not correct')).toBeTruthy()
    answer(accounts.bindDiscord, { discord_auth_url: 'https://chat.example/authorize' })
    await user.click(screen.getByRole('button', { name: 'Continue to Discord' }))
    await waitFor(() => expect(assign).toHaveBeenCalledWith('https://chat.example/authorize'))
    expect(requestsOf(accounts.bindDiscord).at(-1)).toMatchObject({ body: { password: 'Secret#123' } })
    assign.mockRestore()
  })

  it('takes the chat account off, by itself or with a new password', async () => {
    answer(accounts.unbindDiscord, null)
    answer(accounts.changePassword, null)
    const { user } = open(bound)
    await user.click(screen.getByRole('button', { name: 'Disconnect Discord' }))
    await user.type(again('Discord account'), 'Secret#123')
    await user.click(screen.getByRole('button', { name: 'Disconnect Discord' }))
    expect(await screen.findByText('The Discord account was disconnected')).toBeTruthy()
    const form = part('Change password')
    await user.type(form.getByLabelText('Old password', { selector: 'input' }), 'Secret#123')
    await user.type(form.getByLabelText('New password', { selector: 'input' }), 'Other#2026')
    await user.click(form.getByRole('checkbox', { name: 'Also disconnect the Discord account Seven' }))
    await user.click(form.getByRole('button', { name: 'Change password' }))
    await waitFor(() => expect(requestsOf(accounts.changePassword)).toMatchObject([{ body: { unbind_discord: true } }]))
  })

  it('makes a key for the password', async () => {
    answerRefused(accounts.createApiKey, 'wrong_password', wrong)
    const { user } = open()
    await user.type(part('API keys').getByLabelText('Name'), 'script')
    await user.type(again('API keys'), 'Secret#123')
    await user.click(screen.getByRole('button', { name: 'Create key' }))
    expect(await part('API keys').findByText('The password is not correct')).toBeTruthy()
    expect(requestsOf(accounts.createApiKey)).toMatchObject([{ body: { name: 'script', password: 'Secret#123' } }])
  })

  it('changes the address in two steps', async () => {
    const id = '0197f0a0-0000-7000-8000-000000000001'
    answer(accounts.changeEmailCode, { email_code_id: id })
    answer(accounts.changeEmail, null)
    const { user } = open()
    await user.click(screen.getByRole('button', { name: 'Change email address' }))
    await user.type(screen.getByLabelText('New email address'), 'new@example.com')
    await user.type(again('Account information'), 'Secret#123')
    await user.click(screen.getByRole('button', { name: 'Send a code to it' }))
    await user.type(await screen.findByLabelText('Code from the mail'), '123456')
    await user.click(screen.getByRole('button', { name: 'Change email address' }))
    expect(await screen.findByText('Your email address was changed')).toBeTruthy()
    const body = { email: 'new@example.com', password: 'Secret#123', email_code: '123456', email_code_id: id }
    expect(requestsOf(accounts.changeEmail)).toMatchObject([{ body }])
  })

  it('names the place of a session in words, and says where it is not known', async () => {
    answer(accounts.sessions, [here, { ...here, id: 2, device: null, ip: null, location: null, is_current: false }])
    open()
    const sessions = await part('Where you are logged in').findAllByRole('listitem')
    expect(sessions.map(({ textContent }) => textContent)).toEqual([
      expect.stringContaining('FirefoxGermany · 203.0.113.7This browser'),
      expect.stringContaining('Unknown browserUnknown place')
    ])
    await act(() => setLanguage('zh-CN'))
    expect(screen.getByText('德国')).toBeTruthy()
    await act(() => setLanguage('en'))
  })

  it('leads to the receipts, and to what keys may call', async () => {
    open()
    const leadsTo = (name: string) => screen.getByRole('link', { name }).getAttribute('href')
    expect(leadsTo('Receipts to print')).toBe('/dashboard/index/receipts')
    const [keys, hooks] = await screen.findAllByRole('link', { name: /API reference/ })
    expect(keys?.getAttribute('href')).toBe('/api-reference')
    expect(hooks?.getAttribute('href')).toBe('/api-reference#webhooks')
  })

  it('lists the sessions, and ends another one for the password', async () => {
    answerRefused(accounts.endSession, 'wrong_password', wrong)
    const { user } = open()
    expect(await screen.findByText('This browser')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Log out: Firefox' })).toBeNull()
    await user.click(screen.getByRole('button', { name: 'Log out: Chrome' }))
    const list = within(screen.getByRole('list', { name: 'Where you are logged in' }))
    await user.type(list.getByLabelText('Your password, once more', { selector: 'input' }), 'Secret#123')
    await user.click(list.getByRole('button', { name: 'Log out' }))
    expect(await list.findByText('The password is not correct')).toBeTruthy()
    answer(accounts.endSession, null)
    await user.click(list.getByRole('button', { name: 'Log out' }))
    const sent = { params: { id: '2' }, body: { password: 'Secret#123' } }
    await waitFor(() => expect(requestsOf(accounts.endSession)).toMatchObject([sent, sent]))
  })

  it('deletes the account for the password, and leaves; says what is still owed', async () => {
    answerRefused(accounts.deleteAccount, 'account_is_owed')
    const { user, where } = open()
    const link = screen.getByRole('link', { name: 'Download my data' })
    expect(link.getAttribute('href')).toBe('/api/users/u/data_export')
    await user.click(screen.getByRole('button', { name: 'Delete my account' }))
    await user.type(again('Your data'), 'Secret#123')
    await user.click(screen.getByRole('button', { name: 'Delete my account' }))
    expect(await screen.findByText(/You have paid for an order/)).toBeTruthy()
    answer(accounts.deleteAccount, null)
    await user.click(screen.getByRole('button', { name: 'Delete my account' }))
    await waitFor(() => expect(where()).toBe('/'))
  })
})
