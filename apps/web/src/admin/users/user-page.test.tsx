import type { AuditEntry, OwnSession } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { accounts, orders, payments, rewards, settings, support } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { order, pageOf, ticket } from '../../testing/shapes.ts'
import { renderScreen } from '../kit/screen.fixture.tsx'
import UserPage from './user-page.tsx'
import { detail } from './users.fixture.ts'

const at = '2026-06-15T08:00:00.000Z'

function open(search = '', id = '2') {
  answer(accounts.user, detail)
  return renderScreen(<UserPage />, {
    at: `/dashboard/index/users/${id}${search}`,
    route: '/dashboard/index/users/:id'
  })
}
const tab = (name: string) => screen.findByRole('tabpanel', { name })

describe('the page of a user', () => {
  it('keeps the tab and the page in the address, and back goes through them', async () => {
    answer(orders.list, { ...pageOf(order), total: 25 })
    answer(accounts.userApiKeys, [])
    const { user, asked, goBack } = open()
    await user.click(await screen.findByRole('tab', { name: 'Orders' }))
    const panel = await tab('Orders')
    const link = await within(panel).findByRole('link', { name: order.order_id })
    expect(link.getAttribute('href')).toBe('/dashboard/index/order/7')
    await user.click(within(panel).getByRole('button', { name: 'Page 2' }))
    await waitFor(() =>
      expect(requestsOf(orders.list).at(-1)?.query).toEqual({ user_id: '2', limit: '10', offset: '10' })
    )
    await waitFor(() => expect(asked()).toEqual({ tab: 'orders', page: '2' }))
    await user.click(screen.getByRole('tab', { name: 'API keys' }))
    expect(await screen.findByText('No API keys')).toBeTruthy()
    await waitFor(() => expect(asked()).toEqual({ tab: 'keys' }))
    await goBack()
    await waitFor(() => expect(asked()).toEqual({ tab: 'orders', page: '2' }))
    await goBack()
    await goBack()
    expect(await tab('Summary')).toBeTruthy()
  })

  it('leads to the list once the user was deleted', async () => {
    answer(accounts.deleteUser, null)
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Actions: alice' }))
    await user.click(await screen.findByRole('menuitem', { name: 'Delete' }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(window.location.pathname).toBe('/dashboard/index/userList'))
  })
})

it('says so where there is no such user, whatever the address has', async () => {
  answerRefused(accounts.user, 'not_found')
  for (const id of ['77', 'x']) {
    const { unmount } = renderScreen(<UserPage />, { at: `/u/${id}`, route: '/u/:id' })
    expect(await screen.findByText('User not found')).toBeTruthy()
    unmount()
  }
  expect(requestsOf(accounts.user).map(({ params }) => params['id'])).toEqual(['77'])
})

describe('what a user has', () => {
  const session: OwnSession = {
    id: 5,
    device: 'Firefox on Linux',
    ip: '203.0.113.7',
    location: 'JP',
    created_at: at,
    last_seen_at: at,
    is_current: false
  }

  it.each<[string, () => void, string, RegExp]>([
    [
      'payments',
      () =>
        answer(
          payments.ofUser,
          pageOf({
            id: 3,
            created_at: at,
            order: 'NL-1',
            order_id: 7,
            platform_order: '#1007',
            kind: 'renewal' as const,
            state: 'refunded' as const,
            charged: '12.00',
            currency: 'USD',
            amount: '12.00',
            refunded_amount: '11.00'
          })
        ),
      '#1007',
      /Renewal.*\$12\.00.*\$11\.00/
    ],
    [
      'points',
      () =>
        answer(
          rewards.userPoints,
          pageOf({
            id: 1,
            created_at: at,
            reason: 'Refund of order NL-1',
            reason_code: 'refund' as const,
            params: { order: 'NL-1' },
            point: -12,
            kind: 'coins' as const,
            pending_until: null
          })
        ),
      'Refund of order NL-1',
      /-12/
    ],
    [
      'keys',
      () =>
        answer(accounts.userApiKeys, [
          {
            id: 1,
            name: 'script',
            hint: 'nlk_ab12',
            scopes: ['read'],
            permissions: null,
            created_at: at,
            expires_at: null,
            last_used_at: null,
            last_network: null,
            revoked_at: at
          }
        ]),
      'script',
      /Ended/
    ],
    [
      'logins',
      () =>
        answer(
          accounts.userLogins,
          pageOf({
            id: 1,
            at,
            method: 'discord' as const,
            device: 'Firefox on Linux',
            ip: '203.0.113.7',
            location: 'JP'
          })
        ),
      'Firefox on Linux',
      /Discord.*203\.0\.113\.7/
    ],
    ['tickets', () => answer(support.userTickets, pageOf({ ...ticket, message: 'Help me' })), 'Help me', /Open/]
  ])('%s', async (name, prepare, shown, expected) => {
    prepare()
    open(`?tab=${name}`)
    const row = (await screen.findByText(shown)).closest('tr')
    expect(row?.textContent).toMatch(expected)
  })

  it('audit entries: what was changed, from what to what', async () => {
    const entry: AuditEntry = {
      id: 1,
      at,
      actor: 'chief',
      action: 'user.edit',
      target_type: 'user',
      target_id: '2',
      target_name: null,
      before: { coins: 120, isActive: true },
      after: { coins: 170, isActive: true },
      ip: '198.51.100.7',
      viewed_as: null,
      via: null
    }
    answer(settings.audit, pageOf(entry))
    open('?tab=audit')
    const row = (await screen.findByText('Edited a user')).closest('tr') as HTMLElement
    expect(row.textContent).toContain('Coins: 120 → 170')
    expect(requestsOf(settings.audit).at(-1)?.query).toMatchObject({ target_type: 'user', target_id: '2' })
  })

  it('sessions: one is ended after a question, and so are all', async () => {
    answer(accounts.userSessions, [session, { ...session, id: 6, device: 'Chrome on Windows' }])
    answer(accounts.endUserSession, null)
    answer(accounts.endUserSessions, null)
    const { user } = open('?tab=sessions')
    await user.click(await screen.findByRole('button', { name: 'End: Firefox on Linux' }))
    await user.click(await screen.findByRole('button', { name: 'NO' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(requestsOf(accounts.endUserSession)).toEqual([])
    await user.click(screen.getByRole('button', { name: 'End: Firefox on Linux' }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(accounts.endUserSession).at(-1)?.params).toEqual({ id: '5' }))
    await user.click(screen.getByRole('button', { name: 'End all sessions' }))
    expect(await screen.findByText('alice is logged out of 2 browsers. API keys keep working.')).toBeTruthy()
    answer(accounts.userSessions, [])
    await user.click(screen.getByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(accounts.endUserSessions).at(-1)?.params).toEqual({ id: '2' }))
    expect(await screen.findByText('Not logged in anywhere')).toBeTruthy()
  })

  it('sessions: of more than ten the number is typed before all of them end', async () => {
    answer(
      accounts.userSessions,
      Array.from({ length: 11 }, (_, n) => ({ ...session, id: n + 5 }))
    )
    answer(accounts.endUserSessions, null)
    const { user } = open('?tab=sessions')
    await user.click(await screen.findByRole('button', { name: 'End all sessions' }))
    expect(await screen.findByRole('button', { name: 'YES' })).toHaveProperty('disabled', true)
    await user.type(await screen.findByRole('textbox', { name: /^Type / }), '11')
    await user.click(screen.getByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(accounts.endUserSessions)).toHaveLength(1))
  })

  it("sessions: the administrator's own is not ended from here", async () => {
    answer(accounts.userSessions, [{ ...session, is_current: true }])
    open('?tab=sessions')
    expect(await screen.findByText('Your session')).toBeTruthy()
    expect(screen.queryByRole('button', { name: /^End/ })).toBeNull()
  })
})
