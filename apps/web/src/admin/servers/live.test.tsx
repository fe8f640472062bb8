import type { LiveConnections } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { beforeEach, describe, expect, it } from 'vitest'
import { fleet } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { server } from '../../testing/shapes.ts'
import { renderScreen } from '../kit/screen.fixture.tsx'
import { HealthCell } from './cells.tsx'
import { LivePanel } from './live.tsx'
import { needsAttention } from './state.ts'

const at = '2026-06-15T12:00:00.000Z'
const live: LiveConnections = {
  total: 7,
  users: [{ user: 'uABC', count: 6, up: 1500, down: 2_500_000, since: at }],
  connections: [],
  orders: { uABC: 7 },
  refusals: { 'no-auth': 3, 'refused-port': 12, 'connect-timeout': 4, 'of-a-newer-agent': 1 },
  refusals_since: at
}
const ofUser: LiveConnections = {
  ...live,
  total: 1,
  users: [],
  connections: [
    { id: '12-9', client: '192.0.2.7', ip: '198.51.100.1', target: 'shop.test:443', up: 1, down: 2, since: at }
  ]
}
const open = () => renderScreen(<LivePanel server={server} />, { at: '/s', route: '/s' })
const press = async (user: ReturnType<typeof open>['user'], name: string) =>
  user.click(await screen.findByRole('button', { name }))

describe('what a server does now', () => {
  beforeEach(() => {
    answer(fleet.alarms, { alarms: [] })
    answer(fleet.live, ({ query }) => (query['user'] === 'uABC' ? ofUser : live))
    answer(fleet.followLog, { lines: [], next: 0, missed: 0 })
  })

  it('is loaded only on request', async () => {
    const { user } = open()
    const panel = await screen.findByRole('region', { name: 'Live activity' })
    expect(requestsOf(fleet.live)).toEqual([])
    await press(user, 'Show')
    expect(await within(panel).findByRole('button', { name: 'uABC' })).toBeTruthy()
    expect(within(panel).getByText('2.5 MB')).toBeTruthy()
    expect(within(panel).getByRole('link', { name: 'Order' }).getAttribute('href')).toBe('/dashboard/index/order/7')
    const refusals = within(within(panel).getByRole('region', { name: 'Refused since' }))
    expect(refusals.getAllByRole('listitem').map(one => one.textContent)).toEqual([
      'Destination port not allowed: 12',
      'Missing or wrong username or password: 3'
    ])
    const errors = within(within(panel).getByRole('region', { name: 'Failed since' }))
    expect(errors.getAllByRole('listitem').map(one => one.textContent)).toEqual([
      'Target did not respond in time: 4',
      'of-a-newer-agent: 1'
    ])
    expect(requestsOf(fleet.followLog)).toEqual([])
  })

  it('ends all connections of a user, or one of them, after a question', async () => {
    answer(fleet.endConnections, { ended: 6 })
    const { user } = open()
    await press(user, 'Show')
    await press(user, 'End all')
    await press(user, 'YES')
    await waitFor(() =>
      expect(requestsOf(fleet.endConnections)).toMatchObject([{ params: { id: '4' }, body: { user: 'uABC' } }])
    )
    await press(user, 'uABC')
    expect(await screen.findByText('shop.test:443')).toBeTruthy()
    await press(user, 'End')
    await press(user, 'NO')
    await press(user, 'End')
    await press(user, 'YES')
    await waitFor(() => expect(requestsOf(fleet.endConnections)).toHaveLength(2))
    expect(requestsOf(fleet.endConnections)[1]?.body).toEqual({ user: 'uABC', connection: '12-9' })
  })

  it('follows the log by a filter, and asks no more once the screen is left', async () => {
    answer(fleet.followLog, ({ query }) =>
      query['after_line'] === '0'
        ? { lines: ['one line'], next: 41, missed: 0 }
        : { lines: ['another line'], next: 42, missed: 8 }
    )
    const { user, unmount } = open()
    await press(user, 'Show')
    await user.type(screen.getByLabelText('User'), 'uABC')
    await user.type(screen.getByLabelText('Status'), '403')
    await press(user, 'Follow')
    expect(await screen.findByText(/one line/)).toBeTruthy()
    expect(requestsOf(fleet.followLog)).toMatchObject([
      { query: { after_line: '0', user: 'uABC', http_status: '403' } }
    ])
    await waitFor(() => expect(screen.getByText(/one line another line/)).toBeTruthy())
    expect(screen.getByText(/too fast to show: 8/)).toBeTruthy()
    expect(requestsOf(fleet.followLog)[1]?.query).toMatchObject({ after_line: '41' })
    unmount()
    const asked = requestsOf(fleet.followLog).length
    await new Promise(resolve => setTimeout(resolve, 0))
    expect(requestsOf(fleet.followLog)).toHaveLength(asked)
  })
})

describe('what its agent finds wrong', () => {
  const report = { at, version: '1', status: 'ok', workers: 1, uptime_seconds: 1, users: 1, connections: 1 } as const
  const sick = { ...server, agent: { ...report, rate: null, hours: [], problems: ['dns_failing', 'of_a_newer_agent'] } }

  it('is said in the list in words, and draws attention', async () => {
    renderScreen(<HealthCell server={sick} />, { at: '/s', route: '/s' })
    expect(await screen.findByText('Name servers do not respond, of_a_newer_agent')).toBeTruthy()
    expect(screen.queryByText('Up to date')).toBeNull()
    expect(needsAttention(sick)).toBe(true)
    expect(needsAttention({ ...sick, agent: { ...sick.agent, problems: [] } })).toBe(false)
  })
})
