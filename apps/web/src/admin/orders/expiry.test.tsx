import type { Order } from '@netlet/contract'
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { queryClient } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { isUnsaved } from '../../kit/leaving.ts'
import { momentText } from '../../kit/time.tsx'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { order, pageOf } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import { statistics } from './order.fixture.ts'
import OrdersPage from './orders.tsx'

const NOW = Date.parse('2026-05-15T12:00:00Z')
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW }))

describe('the end of an order', () => {
  const inDays = (days: number) => new Date(NOW + days * 86_400_000)
  /** The value of a datetime-local field. */
  const typed = (at: Date) => new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
  const openExpiry = async (row: Order) => {
    answer(orders.extend, row)
    keepNothing()
    answer(orders.statistics, statistics)
    answer(orders.list, pageOf(row))
    const { user } = renderScreen(<OrdersPage />, {
      at: '/dashboard/index/orders',
      route: '/dashboard/index/orders/:username?'
    })
    await user.click(await screen.findByRole('button', { name: `Actions: ${row.order_id}` }))
    await user.click(await screen.findByRole('menuitem', { name: 'Extend expiry' }))
    const form = within(await screen.findByRole('dialog', { name: /^Extend expiry/ }))
    const field = form.getByLabelText<HTMLInputElement>(/Expires/)
    const save = () => user.click(form.getByRole('button', { name: 'Extend expiry' }))
    const set = (value: string) => fireEvent.change(field, { target: { value } })
    return { user, form, field, set, save }
  }

  it('is sent as it was where it was not edited, with its seconds', async () => {
    const ends = new Date(NOW + 5 * 86_400_000 + 48_123).toISOString()
    const { save } = await openExpiry({ ...order, expired_at: ends })
    await save()
    await waitFor(() =>
      expect(requestsOf(orders.extend).map(({ body }) => body)).toEqual([
        { expired_at: Date.parse(ends), ends_at: ends, message: '', email_customer: true }
      ])
    )
  })

  it.each([
    ['a lease is shortened', 20, 'Shorten this lease?', /loses \d+(\.\d)? days/],
    ['a lease would last for years', 800, 'Set an expiry this far ahead?', /\d+(\.\d)? more days/]
  ])('is asked about with both ends before %s', async (_what, days, title, figures) => {
    const ends = inDays(200).toISOString()
    const { user, set, save } = await openExpiry({ ...order, expired_at: ends })
    set(typed(inDays(days)))
    await save()
    const question = within(await screen.findByRole('dialog', { name: title }))
    expect(question.getByText(figures).textContent).toContain(momentText(ends, 'en'))
    expect(requestsOf(orders.extend)).toEqual([])
    await user.click(question.getByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(orders.extend)).toHaveLength(1))
  })

  it('is not what was entered over another one before the session ended', async () => {
    const [ends, entered, renewed] = [inDays(20).toISOString(), typed(inDays(25)), inDays(50)]
    const before = await openExpiry({ ...order, expired_at: ends })
    before.set(entered)
    await waitFor(() => expect(isUnsaved('with drafts')).toBe(true))
    cleanup()
    const same = await openExpiry({ ...order, expired_at: ends })
    await waitFor(() => expect(same.field.value).toBe(entered))
    cleanup()
    queryClient.clear()
    const after = await openExpiry({ ...order, expired_at: renewed.toISOString() })
    expect(after.field.value).toBe(typed(renewed))
  })

  it('is said as it is now, where the order was renewed while its form was open', async () => {
    const [shown, renewed] = [inDays(60).toISOString(), inDays(90).toISOString()]
    const { form, set, save } = await openExpiry({ ...order, expired_at: shown })
    answerRefused(orders.extend, 'stale', { data: { current: { ...order, expired_at: renewed }, changed: [] } })
    set(typed(inDays(61)))
    await save()
    expect((await form.findByRole('alert')).textContent).toContain(`but ${renewed.slice(0, 10)}`)
  })

  it('is what it was by Undo, where it is still as it was set, and again without an email', async () => {
    const [former, later] = [inDays(60).toISOString(), inDays(61).toISOString()]
    const { user, set, save } = await openExpiry({ ...order, expired_at: former })
    answer(orders.extend, { ...order, expired_at: later })
    set(typed(inDays(61)))
    await user.click(screen.getByRole('checkbox', { name: 'Email the customer', checked: true }))
    await save()
    await user.click(await screen.findByRole('button', { name: 'Undo' }))
    await waitFor(() =>
      expect(requestsOf(orders.extend).at(-1)).toMatchObject({
        params: { id: '7' },
        body: { expired_at: Date.parse(former), ends_at: later, email_customer: false }
      })
    )
  })
})
