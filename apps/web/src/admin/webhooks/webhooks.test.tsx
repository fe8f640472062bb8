import { WEBHOOK_EVENTS } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { accounts, webhooks } from '../../api/routes.ts'
import en from '../../i18n/admin.en.json'
import { endpoint, failed, failedDetail } from '../../kit/webhooks/webhooks.fixture.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { admin, pageOf } from '../../testing/shapes.ts'
import { renderScreen } from '../kit/screen.fixture.tsx'
import WebhooksPage from './page.tsx'

const PATH = '/dashboard/index/webhooks'

function open(search = '', user = admin) {
  answer(accounts.preferences, null)
  answer(webhooks.allDeliveries, pageOf(failed))
  answer(webhooks.anyDelivery, failedDetail)
  answer(webhooks.allEndpoints, pageOf({ ...endpoint, user_id: null, username: null, events: ['server.down'] }))
  return renderScreen(<WebhooksPage />, { at: `${PATH}${search}`, as: user })
}

describe('the webhooks of the shop', () => {
  it('have a log over all endpoints, by user, state and event, and an event is sent again', async () => {
    answer(webhooks.resendAny, null)
    const { user } = open('?state=failed&event=order.delivered&user_id=7')
    const link = await screen.findByRole('link', { name: 'alice' })
    expect(link.getAttribute('href')).toBe('/dashboard/index/users/7?tab=webhooks')
    expect(requestsOf(webhooks.allDeliveries).at(0)?.query).toMatchObject({
      state: 'failed',
      event: 'order.delivered',
      user_id: '7'
    })
    await user.click(screen.getByRole('button', { name: 'Show: evt_1' }))
    expect(await screen.findByText('down for maintenance')).toBeTruthy()
    await user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Resend' }))
    await waitFor(() => expect(requestsOf(webhooks.resendAny)).toHaveLength(1))
    for (const event of WEBHOOK_EVENTS) expect(`hook-log.eventOf.${event}` in en, event).toBe(true)
  })

  it('have endpoints of the operators, which the role has to allow to change', async () => {
    const { unmount } = open('?tab=endpoints')
    expect(await screen.findByText('Server down')).toBeTruthy()
    expect(requestsOf(webhooks.allEndpoints).at(-1)?.query).toMatchObject({ whose: 'operators' })
    expect(screen.getByRole('button', { name: 'Add endpoint' })).toBeTruthy()
    unmount()
    open('?tab=endpoints', { ...admin, operator_role: 'support' })
    expect(await screen.findByText('Server down')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Add endpoint' })).toBeNull()
  })
})
