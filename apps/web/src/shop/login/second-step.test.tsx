import type { PasskeyRequest } from '@netlet/contract'
import { screen, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { accounts, secondFactor } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { customer } from '../../testing/shapes.ts'
import LoginPage from './page.tsx'

const request: PasskeyRequest = {
  challenge: 'Y2hhbGxlbmdl',
  rpId: 'localhost',
  timeout: 1000,
  userVerification: 'preferred',
  allowCredentials: []
}
const bytes = (text: string) => new TextEncoder().encode(text).buffer
/** What the browser's own dialog gives. */
const credential = {
  id: 'a2V5',
  rawId: bytes('key'),
  type: 'public-key',
  authenticatorAttachment: 'platform',
  response: {
    clientDataJSON: bytes('{}'),
    authenticatorData: bytes('data'),
    signature: bytes('signature'),
    userHandle: null
  },
  getClientExtensionResults: () => ({})
}
const get = vi.fn<() => Promise<unknown>>()

beforeEach(() => {
  vi.stubGlobal('PublicKeyCredential', vi.fn())
  Object.defineProperty(navigator, 'credentials', { configurable: true, value: { get } })
  get.mockReset().mockResolvedValue(credential)
  answer(accounts.logout, null)
})
afterEach(() => vi.unstubAllGlobals())

const ask = (second_factor: string[]) =>
  answerRefused(accounts.login, 'second_factor_needed', { data: { ticket: 'the-ticket', second_factor } })

async function logIn(methods: string[]) {
  ask(methods)
  const view = renderAt(<LoginPage />, { at: '/login?return=%2Fdashboard', route: '/login', user: null })
  await view.user.type(screen.getByLabelText('Username or email'), 'alice')
  await view.user.type(screen.getByLabelText('Password', { selector: 'input' }), 'Secret#123')
  await view.user.click(screen.getByRole('button', { name: 'Login' }))
  await screen.findByRole('heading', { name: 'Two-factor authentication' })
  return view
}

describe('the second step of a log-in', () => {
  it('takes the pasted code of the app, and leads to where the visitor wanted to go', async () => {
    answer(secondFactor.secondFactorLogin, customer)
    const { user, where } = await logIn(['totp', 'recovery'])
    const field = screen.getByLabelText('Code from your authenticator app')
    expect(document.activeElement).toBe(field)
    expect(field.getAttribute('autocomplete')).toBe('one-time-code')
    expect(screen.queryByRole('alert')).toBeNull()
    await user.click(screen.getByRole('button', { name: 'Log in' }))
    expect(await screen.findByText('Please enter the code!')).toBeTruthy()
    expect(requestsOf(secondFactor.secondFactorLogin)).toEqual([])
    await user.click(field)
    await user.paste('123 456')
    await user.click(screen.getByRole('button', { name: 'Log in' }))
    await waitFor(() => expect(where()).toBe('/dashboard'))
    expect(requestsOf(secondFactor.secondFactorLogin)).toMatchObject([
      { body: { ticket: 'the-ticket', method: 'totp', code: '123456' } }
    ])
  })

  it('says at the field that a code is wrong, and empties it; another way is one press away', async () => {
    const sentence = 'The code is wrong or was already used'
    answerRefused(secondFactor.secondFactorLogin, 'wrong_second_factor', { data: { errors: { code: sentence } } })
    const { user } = await logIn(['totp', 'recovery'])
    const field = screen.getByLabelText<HTMLInputElement>('Code from your authenticator app')
    await user.type(field, '000000{Enter}')
    const said = await screen.findByText(sentence)
    expect(field.getAttribute('aria-describedby')).toContain(said.id)
    expect(field.value).toBe('')
    expect(screen.queryByRole('button', { name: 'Use a passkey' })).toBeNull()
    await user.click(screen.getByRole('button', { name: 'Use a recovery code' }))
    const recovery = screen.getByLabelText('Recovery code')
    expect(document.activeElement).toBe(recovery)
    await user.type(recovery, 'abcde-fghij{Enter}')
    await waitFor(() =>
      expect(requestsOf(secondFactor.secondFactorLogin).at(-1)).toMatchObject({
        body: { method: 'recovery', code: 'abcde-fghij' }
      })
    )
  })

  it('starts again when the ticket is over', async () => {
    answerRefused(secondFactor.secondFactorLogin, 'login_ticket_over')
    const { user } = await logIn(['totp'])
    await user.type(screen.getByLabelText('Code from your authenticator app'), '123456{Enter}')
    expect(await screen.findByText('This login took too long. Please start again.')).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Start again' }))
    expect(await screen.findByLabelText('Username or email')).toBeTruthy()
  })

  it('asks the browser for a passkey, and says if it was not used', async () => {
    answer(secondFactor.secondFactorLoginOptions, request)
    answer(secondFactor.secondFactorLogin, customer)
    const { user, where } = await logIn(['passkey'])
    get.mockRejectedValueOnce(new DOMException('cancelled', 'NotAllowedError'))
    await user.click(screen.getByRole('button', { name: 'Use a passkey' }))
    expect((await screen.findByRole('alert')).textContent).toMatch(/^The passkey was not used/)
    await user.click(screen.getByRole('button', { name: 'Use a passkey' }))
    await waitFor(() => expect(where()).toBe('/dashboard'))
    expect(requestsOf(secondFactor.secondFactorLogin)).toMatchObject([
      { body: { ticket: 'the-ticket', method: 'passkey', assertion: { id: 'a2V5' } } }
    ])
  })

  it('goes on after the chat platform, whose ticket leaves the address', async () => {
    answer(secondFactor.secondFactorLogin, customer)
    const at = '/login#ticket=from-chat&second_factor=totp%2Crecovery'
    const { user, where } = renderAt(<LoginPage />, { at, route: '/login', user: null })
    const field = await screen.findByLabelText('Code from your authenticator app')
    await waitFor(() => expect(where()).toBe('/login'))
    await user.type(field, '123456{Enter}')
    await waitFor(() => expect(where()).toBe('/product'))
    expect(requestsOf(secondFactor.secondFactorLogin)).toMatchObject([{ body: { ticket: 'from-chat' } }])
  })
})

describe('a log-in by a passkey alone', () => {
  it('needs no name and no password', async () => {
    answer(secondFactor.passkeyLoginOptions, { ticket: 'any', passkey: request })
    answer(secondFactor.passkeyLogin, customer)
    const { user, where } = renderAt(<LoginPage />, { at: '/login', route: '/login', user: null })
    await user.click(screen.getByRole('button', { name: 'Log in with a passkey' }))
    await waitFor(() => expect(where()).toBe('/product'))
    expect(requestsOf(secondFactor.passkeyLogin)).toMatchObject([
      { body: { ticket: 'any', assertion: { id: 'a2V5' } } }
    ])
  })

  it('says what the server refused', async () => {
    answerRefused(secondFactor.passkeyLoginOptions, 'passkey_needs_name')
    const { user } = renderAt(<LoginPage />, { at: '/login', route: '/login', user: null })
    await user.click(screen.getByRole('button', { name: 'Log in with a passkey' }))
    expect((await screen.findByRole('alert')).textContent).toMatch(/Open the shop as localhost/)
  })

  it('is not offered by a browser that has none', () => {
    vi.unstubAllGlobals()
    renderAt(<LoginPage />, { at: '/login', route: '/login', user: null })
    expect(screen.queryByRole('button', { name: 'Log in with a passkey' })).toBeNull()
  })
})
