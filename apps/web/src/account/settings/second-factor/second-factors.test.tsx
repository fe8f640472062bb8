import type { PasskeyCreation, SecondFactor, SecondFactors as Data } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { accounts, secondFactor } from '../../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../../testing/answers.ts'
import { renderAt } from '../../../testing/render.tsx'
import { admin, customer } from '../../../testing/shapes.ts'
import { SecondFactors } from './second-factors.tsx'

const none: Data = { factors: [], recovery_codes_left: 0, required: false, passkeys: true }
const phone: SecondFactor = {
  id: 1,
  method: 'totp',
  name: 'Phone',
  created_at: customer.created_at,
  last_used_at: customer.created_at
}
const laptop: SecondFactor = { ...phone, id: 2, method: 'passkey', name: 'Laptop', last_used_at: null }
const both = { ...none, factors: [phone, laptop], recovery_codes_left: 9 }
const codes = Array.from({ length: 10 }, (_, at) => `code${at}-abcde`)

const creation: PasskeyCreation = {
  challenge: 'Y2hhbGxlbmdl',
  rp: { id: 'localhost', name: 'Netlet' },
  user: { id: 'dXNlcg', name: 'alice', displayName: 'alice' },
  pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
  timeout: 1000,
  attestation: 'none',
  authenticatorSelection: { residentKey: 'preferred', requireResidentKey: false, userVerification: 'preferred' },
  excludeCredentials: []
}
const bytes = (text: string) => new TextEncoder().encode(text).buffer
const create = vi.fn<() => Promise<unknown>>()

beforeEach(() => {
  vi.stubGlobal('PublicKeyCredential', vi.fn())
  Object.defineProperty(navigator, 'credentials', { configurable: true, value: { create } })
  create.mockReset().mockResolvedValue({
    id: 'a2V5',
    rawId: bytes('key'),
    type: 'public-key',
    authenticatorAttachment: 'platform',
    response: { clientDataJSON: bytes('{}'), attestationObject: bytes('object'), getTransports: () => ['internal'] },
    getClientExtensionResults: () => ({})
  })
})
afterEach(() => vi.unstubAllGlobals())

function open(data = none, user = customer) {
  answer(secondFactor.secondFactors, data)
  answer(accounts.whoIsSignedIn, user)
  return renderAt(<SecondFactors user={user} />, { user })
}
type User = ReturnType<typeof open>['user']
const button = (name: string | RegExp) => screen.findByRole('button', { name })
const dialog = async () => within(await screen.findByRole('dialog'))

async function confirmByPassword(user: User, submit: string) {
  const shown = await dialog()
  await user.type(shown.getByLabelText('Enter your password again', { selector: 'input' }), 'Secret#123')
  await user.click(shown.getByRole('button', { name: submit }))
}

describe('second factors', () => {
  it('adds an app: password, QR code, first code, and recovery codes that stay until they are kept', async () => {
    answer(secondFactor.beginSecondFactor, {
      totp: { secret: 'JBSWY3DPEHPK3PXP', uri: 'otpauth://totp/Netlet:alice?secret=JBSWY3DPEHPK3PXP&issuer=Netlet' },
      passkey: null
    })
    answerRefused(secondFactor.confirmSecondFactor, 'wrong_second_factor', { data: { errors: { code: 'Wrong code' } } })
    const { user } = open()
    expect(await screen.findByText('Two-factor authentication is off.')).toBeTruthy()
    await user.click(await button('Add an authenticator app'))
    await confirmByPassword(user, 'Continue')
    const shown = await dialog()
    expect(await shown.findByRole('img', { name: 'QR code for the authenticator app' })).toBeTruthy()
    expect(shown.getByText('JBSW Y3DP EHPK 3PXP')).toBeTruthy()
    const field = shown.getByLabelText('Code from the app')
    await user.type(field, '000000{Enter}')
    expect(await shown.findByText('Wrong code')).toBeTruthy()
    answer(secondFactor.confirmSecondFactor, { factor: phone, recovery_codes: codes })
    const name = shown.getByLabelText('Name')
    await user.clear(name)
    await user.type(name, 'Phone')
    answer(secondFactor.secondFactors, { ...both, factors: [phone], recovery_codes_left: 10 })
    await user.type(field, '123456{Enter}')
    const kept = within(await screen.findByRole('list', { name: 'Recovery codes' }))
    expect(kept.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual(codes)
    expect(requestsOf(secondFactor.confirmSecondFactor).at(-1)).toMatchObject({
      body: { code: '123456', name: 'Phone' }
    })
    expect(requestsOf(secondFactor.beginSecondFactor)).toMatchObject([
      { body: { method: 'totp', password: 'Secret#123' } }
    ])
    const print = vi.fn<() => void>()
    vi.stubGlobal('print', print)
    await user.click(await button('Print'))
    expect(print).toHaveBeenCalledOnce()
    await user.click(await button('Done'))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(await screen.findByText('10 of 10 recovery codes are left.')).toBeTruthy()
  })

  it('adds a passkey, and says if the browser or the server did not', async () => {
    answer(secondFactor.beginSecondFactor, { totp: null, passkey: creation })
    const { user } = open()
    await user.click(await button('Add a passkey'))
    await confirmByPassword(user, 'Continue')
    const shown = await dialog()
    create.mockRejectedValueOnce(new DOMException('there', 'InvalidStateError'))
    await user.click(await button('Create passkey'))
    expect((await shown.findByRole('alert')).textContent).toMatch(/already has a passkey for your account/)
    create.mockRejectedValueOnce(new DOMException('cancelled', 'NotAllowedError'))
    await user.click(await button('Create passkey'))
    await waitFor(() => expect(shown.getByRole('alert').textContent).toMatch(/was not created/))
    answerRefused(secondFactor.confirmSecondFactor, 'second_factor_not_begun')
    await user.click(await button('Create passkey'))
    await waitFor(() => expect(shown.getByRole('alert').textContent).toMatch(/Please start again/))
    answer(secondFactor.confirmSecondFactor, { factor: laptop, recovery_codes: null })
    await user.click(await button('Create passkey'))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(requestsOf(secondFactor.confirmSecondFactor).at(-1)).toMatchObject({
      body: { name: 'Passkey', attestation: { id: 'a2V5', response: { transports: ['internal'] } } }
    })
  })

  it('renames with the password, and removes with a code of the app', async () => {
    answer(secondFactor.renameSecondFactor, null)
    const { user } = open(both)
    const list = within(await screen.findByRole('list', { name: 'Two-factor authentication' }))
    expect(list.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
      expect.stringContaining('PhoneAuthenticator app'),
      expect.stringMatching(/^LaptopPasskey.*Never/)
    ])
    await user.click(await button('Rename: Laptop'))
    const name = (await dialog()).getByLabelText('Name')
    await user.clear(name)
    await user.type(name, 'Desk')
    await confirmByPassword(user, 'Save')
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(requestsOf(secondFactor.renameSecondFactor)).toMatchObject([
      { body: { id: 2, name: 'Desk', password: 'Secret#123' } }
    ])
    answer(secondFactor.removeSecondFactor, null)
    await user.click(await button('Remove: Phone'))
    const shown = await dialog()
    await user.click(await shown.findByRole('button', { name: 'Use your authenticator app' }))
    await user.click(shown.getByRole('button', { name: 'Remove' }))
    expect(await shown.findByText('Please enter the code!')).toBeTruthy()
    await user.type(shown.getByLabelText('Code from your authenticator app'), '123456{Enter}')
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(requestsOf(secondFactor.removeSecondFactor)).toMatchObject([
      { body: { id: 1, second_factor: { method: 'totp', code: '123456' } } }
    ])
  })

  it('makes new recovery codes', async () => {
    answer(secondFactor.newRecoveryCodes, { recovery_codes: codes })
    const { user } = open(both)
    expect(await screen.findByText('9 of 10 recovery codes are left.')).toBeTruthy()
    await user.click(await button('Generate new codes'))
    await confirmByPassword(user, 'Generate new codes')
    expect(await screen.findByRole('list', { name: 'Recovery codes' })).toBeTruthy()
  })

  it('keeps the last one of an operator, and says by when one is needed', async () => {
    open({ ...both, factors: [phone], required: true }, admin)
    await screen.findByText('Phone')
    expect(screen.queryByRole('button', { name: 'Remove: Phone' })).toBeNull()
  })

  it('says by when an operator needs one, or that nothing else opens', async () => {
    const due = { ...admin, second_factor_due: '2026-06-22T08:00:00.000Z' }
    const { unmount } = open({ ...none, required: true }, due)
    expect(await screen.findByText(/or a passkey by Jun 22, 2026/)).toBeTruthy()
    unmount()
    open({ ...none, required: true }, { ...due, must_add_second_factor: true })
    expect((await screen.findByRole('alert')).textContent).toMatch(/or a passkey to continue/)
  })

  it('offers no passkeys where the shop has no name', async () => {
    open({ ...none, passkeys: false })
    expect(await screen.findByText(/Open the shop as localhost/)).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Add a passkey' })).toBeNull()
  })
})
