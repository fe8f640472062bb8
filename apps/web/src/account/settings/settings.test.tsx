import { act, screen, waitFor, within } from '@testing-library/react'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { refresh } from '../../api/query.ts'
import { accounts, mail, secondFactor, webhooks } from '../../api/routes.ts'
import { notify } from '../../kit/notify.ts'
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
  answer(secondFactor.secondFactors, { factors: [], recovery_codes_left: 0, required: false, passkeys: true })
  answer(accounts.apiKeys, [])
  answer(webhooks.endpoints, [])
  answer(mail.choices, { payments: true, proxies: true, expiry: true, blocked: null })
  answer(accounts.sessions, [here, { ...here, id: 2, device: 'Chrome', is_current: false }])
})

const script = {
  id: 3,
  name: 'script',
  hint: 'nlk_ab12',
  scopes: ['read' as const],
  permissions: null,
  created_at: customer.created_at,
  expires_at: null,
  last_used_at: null,
  last_network: null
}

const open = (user = customer, query = '') => {
  answer(accounts.whoIsSignedIn, user)
  return renderAt(<SettingsPage />, { at: PATH + query, route: PATH, user })
}
const part = (name: string) => within(screen.getByRole('region', { name }))
const again = (name: string) => part(name).getByLabelText('Enter your password again', { selector: 'input' })

describe('the settings page', () => {
  it('says nothing of a changed password: its fields are empty', async () => {
    answer(accounts.changePassword, null)
    const { user } = open()
    const form = part('Change password')
    const old = form.getByLabelText<HTMLInputElement>('Old password', { selector: 'input' })
    const next = form.getByLabelText<HTMLInputElement>('New password', { selector: 'input' })
    await user.type(old, 'Secret#123')
    await user.type(next, 'Other#2026')
    await user.click(form.getByRole('button', { name: 'Change password' }))
    await waitFor(() => expect([old.value, next.value]).toEqual(['', '']))
    expect(requestsOf(accounts.changePassword)).toMatchObject([
      { body: { old_password: 'Secret#123', new_password: 'Other#2026' } }
    ])
    // An earlier message would be shown with it.
    act(() => notify('info', 'Said later'))
    const later = await screen.findByText('Said later')
    expect(screen.getAllByRole('alert').map(({ textContent }) => textContent)).toEqual([later.textContent])
  })

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
  })

  it.each([
    ['?discord=success&name=Name%207', 'Discord bind successfully, Name: Name 7'],
    ['?discord=failed&reason=taken', 'Discord bind failed,the discord account has been bound to other account'],
    ['?discord=failed&reason=refused', 'You declined to connect Discord'],
    ['?discord=failed&reason=unavailable', 'Discord is not responding'],
    ['?discord=failed', 'Could not connect the Discord account']
  ])('says what came of the chat account after %s, and takes that out of the address', async (query, words) => {
    const { where } = open(customer, query)
    expect((await screen.findByRole('alert')).textContent).toContain(words)
    expect(where()).toBe(PATH)
  })

  it('takes the chat account off, by itself or with a new password', async () => {
    answer(accounts.unbindDiscord, null)
    answer(accounts.changePassword, null)
    const { user } = open(bound)
    await user.click(screen.getByRole('button', { name: 'Disconnect Discord' }))
    await user.type(again('Discord account'), 'Secret#123')
    await user.click(screen.getByRole('button', { name: 'Disconnect Discord' }))
    expect(await screen.findByText('Discord account disconnected')).toBeTruthy()
    const form = part('Change password')
    await user.type(form.getByLabelText('Old password', { selector: 'input' }), 'Secret#123')
    await user.type(form.getByLabelText('New password', { selector: 'input' }), 'Other#2026')
    await user.click(form.getByRole('checkbox', { name: 'Also disconnect the Discord account Seven' }))
    await user.click(form.getByRole('button', { name: 'Change password' }))
    await waitFor(() => expect(requestsOf(accounts.changePassword)).toMatchObject([{ body: { unbind_discord: true } }]))
  })

  it.each([
    ['Account information', accounts.changeEmailCode, 'Change email address', 'Send code'],
    ['Discord account', accounts.bindDiscord, 'Connect Discord', 'Continue to Discord'],
    ['API keys', accounts.createApiKey, null, 'Create key'],
    ['Your data', accounts.deleteAccount, 'Delete my account', 'Delete my account']
  ] as const)('says once what is wrong, at its place in the form: %s', async (name, call, opens, submits) => {
    answerRefused(call, 'wrong_password', wrong)
    const { user } = open()
    if (opens) await user.click(part(name).getByRole('button', { name: opens }))
    if (name === 'Account information') await user.type(screen.getByLabelText('New email address'), 'new@example.com')
    if (name === 'API keys') await user.type(part(name).getByLabelText('Name'), 'script')
    await user.type(again(name), 'Secret#123')
    await user.click(part(name).getByRole('button', { name: submits }))
    await part(name).findByText('The password is not correct')
    await waitFor(() => expect(document.activeElement).toBe(again(name)))
    expect(screen.getAllByText('The password is not correct')).toHaveLength(1)
    expect(screen.queryByRole('alert')).toBeNull()
    // An error without a field shows for the form, until something changes.
    answerRefused(call, 'too_many')
    await user.click(part(name).getByRole('button', { name: submits }))
    const said = await part(name).findByRole('alert')
    expect(document.activeElement).toBe(said)
    expect(screen.getAllByRole('alert')).toEqual([said])
    await user.type(again(name), 'x')
    expect(screen.queryByRole('alert')).toBeNull()
  })

  it('shows a key that was made once, and revokes one after a question', async () => {
    const made = script
    answer(accounts.createApiKey, { ...made, key: 'nl_abc' })
    answer(accounts.revokeApiKey, null)
    const { user } = open()
    await user.type(part('API keys').getByLabelText('Name'), 'script')
    await user.type(again('API keys'), 'Secret#123')
    answer(accounts.apiKeys, [made])
    await user.click(screen.getByRole('button', { name: 'Create key' }))
    expect(document.activeElement).toBe((await screen.findByText('nl_abc')).closest('[role=status]'))
    expect(requestsOf(accounts.createApiKey)).toMatchObject([{ body: { name: 'script', password: 'Secret#123' } }])
    await user.click(part('API keys').getByRole('button', { name: 'Done' }))
    expect(screen.queryByText('nl_abc')).toBeNull()
    for (const [word, sent] of [
      ['NO', []],
      ['YES', [{ params: { id: '3' } }]]
    ] as const) {
      await user.click(await part('API keys').findByRole('button', { name: 'Revoke: script' }))
      await user.click(await screen.findByRole('button', { name: word }))
      await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
      expect(requestsOf(accounts.revokeApiKey)).toMatchObject(sent)
    }
  })

  it('changes the address in two steps', async () => {
    const id = '0197f0a0-0000-7000-8000-000000000001'
    answer(accounts.changeEmailCode, { email_code_id: id })
    answer(accounts.changeEmail, null)
    const { user } = open()
    await user.click(screen.getByRole('button', { name: 'Change email address' }))
    await user.type(screen.getByLabelText('New email address'), 'new@example.com')
    await user.type(again('Account information'), 'Secret#123')
    await user.click(screen.getByRole('button', { name: 'Send code' }))
    const code = await screen.findByLabelText('Code from the email')
    expect(document.activeElement).toBe(code)
    await user.type(code, '123456')
    await user.click(screen.getByRole('button', { name: 'Change email address' }))
    expect(await screen.findByText('Your email address was changed')).toBeTruthy()
    const body = { email: 'new@example.com', password: 'Secret#123', email_code: '123456', email_code_id: id }
    expect(requestsOf(accounts.changeEmail)).toMatchObject([{ body }])
  })

  it('takes a second factor instead of the password for a key and for the address', async () => {
    const factor = {
      id: 1,
      method: 'totp' as const,
      name: 'Phone',
      created_at: customer.created_at,
      last_used_at: null
    }
    const shown = { factors: [factor], recovery_codes_left: 9, required: false, passkeys: true }
    const id = '0197f0a0-0000-7000-8000-000000000001'
    answer(accounts.createApiKey, { ...script, key: 'nl_abc' })
    answer(accounts.changeEmailCode, { email_code_id: id })
    answer(accounts.changeEmail, null)
    const { user } = open()
    answer(secondFactor.secondFactors, shown)
    await act(() => refresh(secondFactor.secondFactors))
    const keys = part('API keys')
    await user.click(await keys.findByRole('button', { name: 'Use your authenticator app' }))
    await user.click(keys.getByRole('button', { name: 'Create key' }))
    expect(requestsOf(accounts.createApiKey)).toEqual([])
    expect(document.activeElement).toBe(keys.getByLabelText('Name'))
    await user.type(keys.getByLabelText('Name'), 'script')
    await user.type(keys.getByLabelText(/authenticator/), '123456')
    await user.click(keys.getByRole('button', { name: 'Create key' }))
    const second_factor = { method: 'totp', code: '123456' }
    await waitFor(() =>
      expect(requestsOf(accounts.createApiKey)).toMatchObject([{ body: { name: 'script', second_factor } }])
    )
    const account = part('Account information')
    await user.click(screen.getByRole('button', { name: 'Change email address' }))
    await user.type(account.getByLabelText('New email address'), 'new@example.com')
    await user.click(account.getByRole('button', { name: 'Use your authenticator app' }))
    await user.type(account.getByLabelText(/authenticator/), '123456')
    await user.click(account.getByRole('button', { name: 'Send code' }))
    await user.type(await account.findByLabelText('Code from the email'), '654321')
    // A code counts once.
    await user.type(account.getByLabelText(/authenticator/), '222222')
    await user.click(account.getByRole('button', { name: 'Change email address' }))
    await waitFor(() =>
      expect(requestsOf(accounts.changeEmail)).toMatchObject([
        { body: { email_code: '654321', email_code_id: id, second_factor: { method: 'totp', code: '222222' } } }
      ])
    )
  })

  it('lists the sessions, and ends another one for the password', async () => {
    answerRefused(accounts.endSession, 'wrong_password', wrong)
    const { user } = open()
    expect(await screen.findByText('This browser')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Log out: Firefox' })).toBeNull()
    await user.click(screen.getByRole('button', { name: 'Log out: Chrome' }))
    const list = within(screen.getByRole('list', { name: 'Where you are logged in' }))
    await user.type(list.getByLabelText('Enter your password again', { selector: 'input' }), 'Secret#123')
    await user.click(list.getByRole('button', { name: 'Log out' }))
    expect(await list.findByText('The password is not correct')).toBeTruthy()
    answer(accounts.endSession, null)
    answer(accounts.sessions, [here])
    await user.click(list.getByRole('button', { name: 'Log out' }))
    const sent = { params: { id: '2' }, body: { password: 'Secret#123' } }
    await waitFor(() => expect(requestsOf(accounts.endSession)).toMatchObject([sent, sent]))
    await waitFor(() => expect(list.queryByText('Chrome')).toBeNull())
    // The focused form is gone with its session.
    expect(document.activeElement).toBe(screen.getByRole('list', { name: 'Where you are logged in' }))
  })

  it('shows five sessions at first, and ends all others at once for the password', async () => {
    const others = Array.from({ length: 7 }, (_, at) => ({ ...here, id: at + 2, device: 'Chrome', is_current: false }))
    answer(accounts.sessions, [here, ...others])
    const { user } = open()
    const sessions = part('Where you are logged in')
    expect(await sessions.findAllByRole('listitem')).toHaveLength(5)
    await user.click(sessions.getByRole('button', { name: 'Show all 8', expanded: false }))
    expect(sessions.getAllByRole('listitem')).toHaveLength(8)
    await user.click(sessions.getByRole('button', { name: 'Log out everywhere else' }))
    expect(sessions.getByText(/^This ends 7 other sessions\. This browser stays logged in/)).toBeTruthy()
    await user.click(sessions.getByRole('button', { name: 'Cancel' }))
    const button = sessions.getByRole('button', { name: 'Log out everywhere else' })
    expect(document.activeElement).toBe(button)
    await user.click(button)
    answerRefused(accounts.endOtherSessions, 'wrong_password', wrong)
    await user.type(again('Where you are logged in'), 'Secret#123{Enter}')
    expect(await sessions.findByText('The password is not correct')).toBeTruthy()
    answer(accounts.endOtherSessions, { ended: 7 })
    answer(accounts.sessions, [here])
    await user.click(sessions.getByRole('button', { name: 'Log out everywhere else' }))
    expect(await screen.findByText('7 sessions ended')).toBeTruthy()
    await waitFor(() => expect(sessions.getAllByRole('listitem')).toHaveLength(1))
    expect(requestsOf(accounts.endOtherSessions).at(-1)?.body).toEqual({ password: 'Secret#123' })
    expect(document.activeElement).toBe(screen.getByRole('list', { name: 'Where you are logged in' }))
    expect(sessions.queryByRole('button')).toBeNull()
  })

  it('deletes the account for the password, and leaves; says what is still owed', async () => {
    answerRefused(accounts.deleteAccount, 'account_is_owed')
    const { user, where } = open()
    const link = screen.getByRole('link', { name: 'Download my data' })
    expect(link.getAttribute('href')).toBe('/api/users/u/data_export')
    await user.click(screen.getByRole('button', { name: 'Delete my account' }))
    await user.type(again('Your data'), 'Secret#123')
    await user.click(screen.getByRole('button', { name: 'Delete my account' }))
    expect(await screen.findByText(/You have a paid order/)).toBeTruthy()
    answer(accounts.deleteAccount, null)
    await user.click(screen.getByRole('button', { name: 'Delete my account' }))
    await waitFor(() => expect(where()).toBe('/'))
  })
})
