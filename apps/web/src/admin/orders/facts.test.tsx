import {
  MONEY_REASONS,
  ORDER_EVENTS,
  ORDER_FAILURES,
  TASK_FAILURES,
  type Order,
  type TimelineEntry
} from '@netlet/contract'
import { render, screen } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { orders } from '../../api/routes.ts'
import en from '../../i18n/account.en.json'
import adminEn from '../../i18n/admin.en.json'
import adminZh from '../../i18n/admin.zh-CN.json'
import { OrderStateBadge } from '../../kit/order-state.tsx'
import { answer } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { admin, order } from '../../testing/shapes.ts'
import { entry } from './order.fixture.ts'
import { Timeline } from './timeline.tsx'

describe("an order's history", () => {
  it('says why a delivery and a task failed, in words with their parameters', async () => {
    const happened: [string, TimelineEntry['detail']][] = [
      ['task_failed', { code: 'agent_refused', message: 'no such prefix' }],
      ['fail', { from: 'paid', to: 'failed', code: 'underpaid', paid: '5.00', due: '10.00' }],
      ['paid_again', { platform_order: '#7', amount: '10.00' }],
      ['fail', { code: 'of_a_newer_server', count: 3 }],
      ['task_begun', { task: 'reset' }]
    ]
    const data = happened.map(([kind, detail], id) => entry({ id, kind, detail }))
    answer(orders.timeline, { data, next: null })
    renderAt(<Timeline order={order} />, { user: admin })
    expect(await screen.findByText('A server refused the proxies: no such prefix')).toBeTruthy()
    expect(screen.getByText('Paid → Failed, Underpaid: $5.00 of $10.00')).toBeTruthy()
    expect(screen.getByText("platform's order: #7, amount: $10.00")).toBeTruthy()
    expect(screen.getByText('of_a_newer_server, count: 3')).toBeTruthy()
    expect(screen.getByText('action: Reset password')).toBeTruthy()
  })

  it('has words for each failure of the contract', () => {
    const codes = new Set([...Object.keys(ORDER_FAILURES), ...Object.keys(TASK_FAILURES)])
    const worded = Object.keys(en).flatMap(key => /^failed\.(\w+)$/.exec(key)?.[1] ?? [])
    expect(worded.toSorted()).toEqual([...codes].toSorted())
  })

  it.each([adminEn, adminZh])('has words for each event and each reason of the contract', words => {
    const needed = [
      ...ORDER_EVENTS.map(kind => `orders.event.${kind}`),
      ...MONEY_REASONS.map(reason => `orders.reason.${reason}`)
    ]
    expect(needed.filter(key => !(key in words))).toEqual([])
  })
})

describe('why an order failed', () => {
  it('is the English of the server where a newer one sends a code without words', async () => {
    const fail = { code: 'of_a_newer_server', params: {} } as unknown as NonNullable<Order['fail']>
    render(<OrderStateBadge order={{ ...order, fail, fail_reason: 'Something new' }} />)
    expect(await screen.findByText('Something new')).toBeTruthy()
  })
})
