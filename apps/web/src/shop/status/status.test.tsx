import type { LocationDay, PublicIncident, StatusPage as Status } from '@netlet/contract'
import { fireEvent, screen, within } from '@testing-library/react'
import { expect, it } from 'vitest'
import { status } from '../../api/routes.ts'
import { setLanguage } from '../../i18n/language.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import StatusPage from './page.tsx'

const fine: LocationDay = { state: 'up', up: 100, degraded: 0, down: 0, maintenance: 0 }
const nothing: LocationDay = { state: 'unknown', up: null, degraded: 0, down: 0, maintenance: 0 }
const incident: PublicIncident = {
  id: 7,
  title: 'Tokyo does not answer',
  severity: 'critical',
  state: 'identified',
  started_at: '2026-06-15T08:00:00.000Z',
  ends_at: null,
  resolved_at: null,
  locations: ['Tokyo'],
  updates: [
    { id: 2, state: 'identified', text: 'A router.\nIt is replaced.', at: '2026-06-15T08:30:00.000Z' },
    { id: 1, state: 'investigating', text: 'We look.', at: '2026-06-15T08:05:00.000Z' }
  ]
}
const over: PublicIncident = {
  ...incident,
  id: 6,
  title: 'New switches',
  severity: 'maintenance',
  state: 'completed',
  ends_at: '2026-06-10T09:00:00.000Z',
  resolved_at: '2026-06-10T09:00:00.000Z',
  updates: [{ id: 3, state: 'completed', text: '', at: '2026-06-10T09:00:00.000Z' }]
}
const page: Status = {
  at: '2026-06-15T09:00:00.000Z',
  from: '2026-03-18',
  state: 'down',
  locations: [
    {
      id: 3,
      name: 'Tokyo',
      state: 'down',
      up: 99.93,
      days: [
        ...Array.from({ length: 88 }, () => nothing),
        fine,
        { state: 'degraded', up: 97.5, degraded: 0, down: 36, maintenance: 0 }
      ]
    }
  ],
  current: [incident],
  past: [over]
}

function open(at = '/status', reply = page) {
  answer(status.page, reply)
  return renderAt(<StatusPage />, { at, user: null })
}

it('shows locations with a bar a day, which are read out and picked by keys and fingers', async () => {
  const { user, container } = open()
  const tokyo = within(await screen.findByRole('article', { name: 'Tokyo' }))
  expect(tokyo.getByText('Down')).toBeTruthy()
  expect(tokyo.getByText('99.93% uptime, days on record: 2')).toBeTruthy()
  expect(screen.getByText('Some locations are down')).toBeTruthy()
  expect(container.querySelectorAll('rect')).toHaveLength(90)
  const bars = tokyo.getByRole('slider', { name: 'Tokyo, by day' })
  const said = () => bars.getAttribute('aria-valuetext')
  expect(said()).toBe('Jun 15, 2026: 97.5% uptime, down for 36 min')
  expect(tokyo.queryByRole('tooltip', { hidden: true })).toBeNull()
  bars.focus()
  await user.keyboard('{ArrowLeft}')
  expect(said()).toBe('Jun 14, 2026: 100% uptime')
  expect(bars.textContent).toBe('Jun 14, 2026: 100% uptime')
  await user.keyboard('{Home}{ArrowLeft}')
  expect([said(), bars.getAttribute('aria-valuenow')]).toEqual(['Mar 18, 2026: unknown', '1'])
  bars.getBoundingClientRect = () => ({ left: 0, width: 360 }) as DOMRect
  fireEvent.pointerDown(bars, { clientX: 355 })
  expect(bars.textContent).toBe('Jun 14, 2026: 100% uptime')
  fireEvent.pointerLeave(bars)
  expect(bars.textContent).toBe('')
})

it('shows what goes on, what is over and what was said of it, in Chinese too', async () => {
  open()
  const now = within(await screen.findByRole('article', { name: 'Tokyo does not answer' }))
  expect(now.getByText('Critical')).toBeTruthy()
  expect(now.getAllByRole('listitem').map(item => item.querySelector('p')?.textContent)).toEqual([
    'A router.\nIt is replaced.',
    'We look.'
  ])
  const past = within(screen.getByRole('article', { name: 'New switches' }))
  expect(past.getByText('The planned time is over.')).toBeTruthy()
  await setLanguage('zh-CN')
  expect(await screen.findByText('部分地区无法使用')).toBeTruthy()
  expect(await screen.findByText('紧急')).toBeTruthy()
})

it('leads to one incident, however old; one that is gone is said to be', async () => {
  answer(status.publicIncident, { ...over, id: 1, title: 'Long ago' })
  const { unmount } = open('/status?incident=1')
  expect(await screen.findByRole('article', { name: 'Long ago' })).toBeTruthy()
  expect(requestsOf(status.publicIncident)[0]?.params).toEqual({ id: '1' })
  unmount()
  answerRefused(status.publicIncident, 'not_found')
  open('/status?incident=2')
  expect(await screen.findByText('This incident no longer exists.')).toBeTruthy()
})

it('takes an address, and says the same of each', async () => {
  answer(status.subscribe, null)
  const { user } = open()
  const field = screen.getByRole('textbox', { name: 'Email' })
  await user.type(field, 'nobody')
  await user.click(screen.getByRole('button', { name: 'Subscribe' }))
  expect(await screen.findByText('Please input correct email format')).toBeTruthy()
  expect(document.activeElement).toBe(field)
  expect(requestsOf(status.subscribe)).toEqual([])
  await user.clear(field)
  await user.type(field, 'anna@example.com')
  await user.click(screen.getByRole('button', { name: 'Subscribe' }))
  expect((await screen.findByRole('status')).textContent).toContain('We sent an email')
  expect(requestsOf(status.subscribe)[0]?.body).toEqual({ email: 'anna@example.com', language: 'en' })
  answerRefused(status.subscribe, 'too_many')
  await user.type(field, 'anna@example.com')
  await user.click(screen.getByRole('button', { name: 'Subscribe' }))
  expect((await screen.findByRole('alert')).textContent).toContain('Too many requests')
})

it('asks before it follows a link of a mail', async () => {
  answer(status.confirm, null)
  const first = open('/status?confirm=abc')
  expect(requestsOf(status.confirm)).toEqual([])
  await first.user.click(screen.getByRole('button', { name: 'Confirm' }))
  expect(await screen.findByText(/^Done\. We email you/)).toBeTruthy()
  expect(requestsOf(status.confirm)[0]?.body).toEqual({ token: 'abc' })
  first.unmount()
  answer(status.unsubscribe, null)
  const second = open('/status?unsubscribe=xyz')
  await second.user.click(screen.getByRole('button', { name: 'Unsubscribe' }))
  expect(await screen.findByText('Done. We deleted the address.')).toBeTruthy()
  expect(requestsOf(status.unsubscribe)).toMatchObject([{ query: { token: 'xyz' } }])
})
