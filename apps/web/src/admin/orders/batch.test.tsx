import { screen, waitFor } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { bulk, orders } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { order, pageOf } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import { statistics } from './order.fixture.ts'
import OrdersPage from './orders.tsx'

const ROUTE = '/dashboard/index/orders/:username?'
function open(at = '/dashboard/index/orders', rows = [order]) {
  keepNothing()
  answer(orders.statistics, statistics)
  answer(orders.list, pageOf(...rows))
  return renderScreen(<OrdersPage />, { at, route: ROUTE })
}
const choose = async (user: ReturnType<typeof open>['user'], name: string, entry: string) => {
  await user.click(await screen.findByRole('button', { name }))
  await user.click(await screen.findByRole('menuitem', { name: entry }))
}

describe('orders that are selected', () => {
  it('are delivered as a batch once their count was confirmed, and not before', async () => {
    const { user } = open('/dashboard/index/orders', [order, { ...order, id: 9, order_id: 'SECOND' }])
    answerRefused(bulk.start, 'unavailable')
    answer(bulk.plan, {
      rows: 2,
      version: 'of 2',
      outcomes: { effects: [{ effect: 'unsettled', rows: 1 }], refusals: [{ reason: 'refund_running', rows: 1 }] }
    })
    await user.click(await screen.findByRole('checkbox', { name: 'Select all on this page' }))
    await choose(user, 'Batch', 'Deliver')
    const question = await screen.findByRole('dialog', { name: 'Deliver 2 orders?' })
    for (const line of [
      '1 of 2 are delivered.',
      '– 1 underpaid: the payment is then accepted',
      'Cannot run for 1 now.',
      '– 1 with a refund in progress'
    ])
      expect(question.textContent).toContain(line)
    await user.click(screen.getByRole('button', { name: 'NO' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(requestsOf(bulk.start)).toEqual([])
    await choose(user, 'Batch', 'Deliver')
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() =>
      expect(requestsOf(bulk.start)).toMatchObject([
        { body: { action: 'order.deliver', selection: { ids: [order.id, 9] } } }
      ])
    )
  })

  it('are deleted as a batch after the question said which hold proxies, and what the others are', async () => {
    answer(bulk.plan, {
      rows: 12,
      version: 'of 12',
      outcomes: {
        effects: [
          { effect: 'ended', rows: 6 },
          { effect: 'owed', rows: 1 }
        ],
        refusals: [
          { reason: 'order_has_lease', rows: 4 },
          // A reason from a newer server.
          { reason: 'moon_phase', rows: 1 }
        ]
      }
    })
    const { user } = open('/dashboard/index/orders', [order])
    await user.click(await screen.findByRole('checkbox', { name: 'Select all on this page' }))
    await choose(user, 'Batch', 'Delete')
    const question = await screen.findByRole('dialog', { name: 'Confirm deletion' })
    for (const line of [
      'Delete ?',
      '7 of 12 are deleted.',
      '– 1 paid but neither delivered nor refunded',
      'Cannot run for 5 now.',
      '– 4 with live proxies',
      '– 1: moon_phase'
    ])
      expect(question.textContent).toContain(line)
    expect(requestsOf(bulk.plan)).toMatchObject([{ body: { action: 'order.delete', selection: { ids: [order.id] } } }])
    expect(requestsOf(bulk.start)).toEqual([])
  })

  it('are asked about without figures where these take too long, and not at all where they cannot be had', async () => {
    answer(bulk.plan, { rows: 1, version: 'of 1', outcomes: null })
    const { user } = open('/dashboard/index/orders', [order])
    await user.click(await screen.findByRole('checkbox', { name: 'Select all on this page' }))
    await choose(user, 'Batch', 'Delete')
    expect((await screen.findByRole('dialog')).textContent).toContain('Each one is checked when it runs.')
    await user.click(screen.getByRole('button', { name: 'NO' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    answerRefused(bulk.plan, 'unavailable')
    await choose(user, 'Batch', 'Delete')
    expect(await screen.findByText('The service is unavailable right now. Please try again.')).toBeTruthy()
    expect(screen.queryByRole('dialog')).toBeNull()
  })
})
