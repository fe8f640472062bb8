import type { ClientAccess } from '@netlet/contract'
import { act, screen, waitFor, within } from '@testing-library/react'
import { beforeEach, describe, expect, it } from 'vitest'
import { orders } from '../../api/routes.ts'
import { isUnsaved } from '../../kit/leaving.ts'
import { answer, answerRefused, holdRefused, requestsOf } from '../../testing/answers.ts'
import { renderAt, setWidth } from '../../testing/render.tsx'
import { admin, customer, order } from '../../testing/shapes.ts'
import { ClientAccessButton } from './proxy-actions.tsx'

const current: ClientAccess = {
  access: 'password',
  client_ips: [],
  changed_at: null,
  version: 'v1',
  your_address: '203.0.113.9',
  is_pending: false
}
const open = async (user = customer) => {
  const rendered = renderAt(<ClientAccessButton order={order} />, { at: '/x', route: '/x', user })
  await rendered.user.click(screen.getByRole('button', { name: 'Client access' }))
  return rendered
}
const kind = () => screen.findByLabelText('Authentication')

describe("who may use an order's proxies", () => {
  beforeEach(() => answer(orders.clientAccess, current))

  it('is chosen, and listed with the present address at hand, on a phone too', async () => {
    setWidth(360)
    answer(orders.setClientAccess, current)
    const { user } = await open()
    await user.selectOptions(await kind(), 'Allowed IPs, without a password')
    expect(screen.getByText('Allowed IPs need no password. All other IPs need it.')).toBeTruthy()
    await user.type(screen.getByLabelText('Allowed IPs'), '198.51.100.0/28, 198.51.100.77')
    await user.click(screen.getByRole('button', { name: 'Add my current IP (203.0.113.9)' }))
    expect(screen.getByRole('button', { name: /my current IP/ }).hasAttribute('disabled')).toBe(true)
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await waitFor(() =>
      expect(requestsOf(orders.setClientAccess)).toMatchObject([
        {
          params: { id: '7' },
          body: { access: 'address', client_ips: ['198.51.100.0/28', '198.51.100.77', '203.0.113.9'], version: 'v1' }
        }
      ])
    )
    await waitFor(() => expect(screen.queryByLabelText('Allowed IPs')).toBeNull())
  })

  it('is there again as it was typed after the page was left with its session, and not once it was given up', async () => {
    const before = await open()
    await before.user.selectOptions(await kind(), 'Password and allowed IP')
    await before.user.type(screen.getByLabelText('Allowed IPs'), '198.51.100.77')
    // No warning about a loss, because there is a draft.
    expect([isUnsaved('with drafts'), isUnsaved('without drafts')]).toEqual([true, false])
    before.unmount()

    const { user } = await open()
    expect(await kind()).toHaveProperty('value', 'password_and_address')
    expect(screen.getByLabelText('Allowed IPs')).toHaveProperty('value', '198.51.100.77')
    await user.keyboard('{Escape}')
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await user.click(screen.getByRole('button', { name: 'Client access' }))
    expect(await kind()).toHaveProperty('value', 'password')
  })

  it('is not there for an operator who opens the same order in the tab in which its customer typed it', async () => {
    const before = await open()
    await before.user.selectOptions(await kind(), 'Password and allowed IP')
    await before.user.type(screen.getByLabelText('Allowed IPs'), '198.51.100.77')
    before.unmount()

    const after = await open(admin)
    expect(await kind()).toHaveProperty('value', 'password')
    after.unmount()
    await open()
    expect(screen.getByLabelText('Allowed IPs')).toHaveProperty('value', '198.51.100.77')
  })

  it('says which line does not fit, and keeps what was typed', async () => {
    const { user } = await open()
    await user.selectOptions(await kind(), 'Password and allowed IP')
    await user.type(screen.getByLabelText('Allowed IPs'), '0.0.0.0/0')
    const errors = { client_ips: '0.0.0.0/0 is too wide. Use at most a /24 (IPv4) or a /48 (IPv6).' }
    answerRefused(orders.setClientAccess, 'wide_client', { params: { line: '0.0.0.0/0' }, data: { errors } })
    await user.click(screen.getByRole('button', { name: 'Save' }))
    const list = screen.getByLabelText<HTMLTextAreaElement>('Allowed IPs')
    await waitFor(() => expect(list.getAttribute('aria-invalid')).toBe('true'))
    // The error is the field's description.
    const said = screen.getByText(errors.client_ips)
    expect(list.getAttribute('aria-describedby')).toContain(said.id)
    expect(list.value).toBe('0.0.0.0/0')
  })

  it('asks before what was typed is lost', async () => {
    const { user } = await open()
    await user.selectOptions(await kind(), 'Password and allowed IP')
    await user.type(screen.getByLabelText('Allowed IPs'), '198.51.100.7')
    await user.keyboard('{Escape}')
    const question = within(await screen.findByRole('dialog', { name: 'Discard changes?' }))
    await user.click(question.getByRole('button', { name: 'NO' }))
    expect(screen.getByLabelText<HTMLTextAreaElement>('Allowed IPs').value).toBe('198.51.100.7')
    await user.click(screen.getByRole('button', { name: 'Cancel' }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(screen.queryByLabelText('Allowed IPs')).toBeNull())
    // Without changes there is no question.
    await user.click(screen.getByRole('button', { name: 'Client access' }))
    await kind()
    await user.keyboard('{Escape}')
    await waitFor(() => expect(screen.queryByLabelText('Authentication')).toBeNull())
  })

  const saveAndClose = async () => {
    const { user } = await open()
    await user.selectOptions(await kind(), 'Password and allowed IP')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(requestsOf(orders.setClientAccess)).toHaveLength(1))
    await user.click(screen.getByRole('button', { name: 'Cancel' }))
    await waitFor(() => expect(screen.queryByLabelText('Authentication')).toBeNull())
    return user
  }

  it.each([
    ['unavailable', /^The service is unavailable right now/],
    ['stale', /changed since you opened it/]
  ] as const)('says what was refused (%s) where it was closed meanwhile', async (reason, words) => {
    const refuse = holdRefused(orders.setClientAccess, reason)
    await saveAndClose()
    act(() => refuse())
    expect(await screen.findByText(words)).toBeTruthy()
  })

  it('is there again as it was entered where it was refused after it was closed', async () => {
    const refuse = holdRefused(orders.setClientAccess, 'unavailable')
    const user = await saveAndClose()
    act(() => refuse())
    await screen.findByText(/^The service is unavailable right now/)
    await user.click(screen.getByRole('button', { name: 'Client access' }))
    expect(await kind()).toHaveProperty('value', 'password_and_address')
  })

  it('keeps what was entered when another user saves, and names their changes', async () => {
    const { user } = await open()
    await user.selectOptions(await kind(), 'Password and allowed IP')
    await user.clear(screen.getByLabelText('Allowed IPs'))
    await user.type(screen.getByLabelText('Allowed IPs'), '198.51.100.4')
    const now = { ...current, access: 'address' as const, client_ips: ['192.0.2.7/32'], version: 'v2' }
    answerRefused(orders.setClientAccess, 'stale', { data: { current: now, changed: ['access', 'client_ips'] } })
    answer(orders.clientAccess, now)
    await user.click(screen.getByRole('button', { name: 'Save' }))
    const alert = await screen.findByRole('alert')
    expect(alert.textContent).toContain('changed since you opened it')
    expect(alert.textContent).toContain('Allowed IPs: someone else saved 192.0.2.7/32. Your entry is kept.')
    expect(screen.getByLabelText<HTMLTextAreaElement>('Allowed IPs').value).toBe('198.51.100.4')
    answer(orders.setClientAccess, { ...now, version: 'v3' })
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await waitFor(() =>
      expect(requestsOf(orders.setClientAccess).at(-1)?.body).toMatchObject({
        access: 'password_and_address',
        client_ips: ['198.51.100.4'],
        version: 'v2'
      })
    )
  })
})
