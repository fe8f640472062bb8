import { act, cleanup, screen, waitFor, within } from '@testing-library/react'
import { beforeEach, describe, expect, it } from 'vitest'
import { setSessionUser } from '../../api/session.ts'
import { accounts, mail, secondFactor, webhooks } from '../../api/routes.ts'
import { isUnsaved } from '../../kit/leaving.ts'
import { endpoint } from '../../kit/webhooks/webhooks.fixture.ts'
import { answer, holdRefused, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { customer } from '../../testing/shapes.ts'
import SettingsPage from './page.tsx'

const PATH = '/dashboard/index/setting'

beforeEach(() => {
  answer(accounts.apiKeys, [])
  answer(webhooks.endpoints, [endpoint])
  answer(mail.choices, { payments: true, proxies: true, expiry: true, blocked: null })
  answer(accounts.sessions, [])
  answer(secondFactor.secondFactors, { factors: [], recovery_codes_left: 0, required: false, passkeys: true })
})

/** Opens the page as after a login. */
function visit(as = customer) {
  cleanup()
  answer(accounts.whoIsSignedIn, as)
  return renderAt(<SettingsPage />, { at: PATH, route: PATH, user: as }).user
}
const expire = () => waitFor(() => setSessionUser(null))
const field = (label: string) => screen.getByLabelText<HTMLInputElement>(label, { selector: 'input' })
const box = (name: string) => screen.getByRole<HTMLInputElement>('checkbox', { name })
const openForm = async (user: ReturnType<typeof visit>, button: string) => {
  await user.click(await screen.findByRole('button', { name: button }))
  return within(await screen.findByRole('dialog'))
}

describe('what was typed when the session ended', () => {
  it('is restored into the form of a key without the password, and only for the same user', async () => {
    const user = visit()
    const key = within(await screen.findByRole('region', { name: 'API keys' }))
    await user.type(key.getByLabelText('Name'), 'Crawler')
    await user.click(key.getByRole('checkbox', { name: /^Renew/ }))
    await user.type(key.getByLabelText('Enter your password again', { selector: 'input' }), 'Secret#1')
    await expire()
    expect(JSON.stringify(Object.entries(sessionStorage))).not.toContain('Secret#1')
    visit({ ...customer, id: customer.id + 1 })
    expect(field('Name').value).toBe('')
    visit()
    expect(field('Name').value).toBe('Crawler')
    const again = within(screen.getByRole('region', { name: 'API keys' }))
    expect(again.getByRole<HTMLInputElement>('checkbox', { name: /^Renew/ }).checked).toBe(true)
  })

  it('is in the form of a new endpoint again, and gone once it was discarded', async () => {
    const user = visit()
    const form = await openForm(user, 'Add endpoint')
    await user.type(form.getByLabelText('URL'), 'https://hooks.example.com/1')
    await user.click(form.getByRole('checkbox', { name: 'Order expired' }))
    // No warning about a loss, because there is a draft.
    expect([isUnsaved('with drafts'), isUnsaved('without drafts')]).toEqual([true, false])
    await expire()
    const back = visit()
    const kept = await openForm(back, 'Add endpoint')
    expect(field('URL').value).toBe('https://hooks.example.com/1')
    expect(box('Order expired').checked).toBe(false)
    await back.click(kept.getByRole('button', { name: 'Cancel' }))
    await back.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    await openForm(back, 'Add endpoint')
    expect(field('URL').value).toBe('')
  })

  it('is in the form of an endpoint again that was refused after it was closed', async () => {
    const refuse = holdRefused(webhooks.createEndpoint, 'unavailable')
    const user = visit()
    const form = await openForm(user, 'Add endpoint')
    await user.type(form.getByLabelText('URL'), 'https://hooks.example.com/1')
    await user.click(form.getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(requestsOf(webhooks.createEndpoint)).toHaveLength(1))
    await user.click(form.getByRole('button', { name: 'Cancel' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    act(() => refuse())
    await screen.findByText(/^The service is unavailable right now/)
    await openForm(user, 'Add endpoint')
    expect(field('URL').value).toBe('https://hooks.example.com/1')
  })

  it('is not restored over an endpoint that has changed since', async () => {
    const user = visit()
    await user.type((await openForm(user, 'Edit: CI')).getByLabelText('Name'), ' server')
    await expire()
    const nameNow = async () => (await openForm(visit(), 'Edit: CI')).getByLabelText<HTMLInputElement>('Name').value
    expect(await nameNow()).toBe('CI server')
    await expire()
    answer(webhooks.endpoints, [{ ...endpoint, version: 'another' }])
    expect(await nameNow()).toBe('CI')
  })
})
