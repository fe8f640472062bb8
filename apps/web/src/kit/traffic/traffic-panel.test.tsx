import type { OrderTraffic } from '@netlet/contract'
import { act, screen, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { setLanguage } from '../../i18n/language.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { customer, noOrderTraffic, noTraffic } from '../../testing/shapes.ts'
import { TrafficPanel } from './traffic-panel.tsx'

const sums = { up: 1_500_000, down: 20_000_000_000, requests: 1234, connections: 56, refused: 7, failed: 3 }
const traffic: OrderTraffic = {
  ...noOrderTraffic,
  steps: [...noTraffic.steps, { at: '2026-06-15T09:00:00.000Z', ...sums }],
  total: sums,
  refusals: [
    { code: 'quota', count: 5 },
    { code: 'of-a-newer-agent', count: 2 }
  ],
  errors: [{ code: 'not-found', count: 3 }],
  used: 20_001_500_000,
  allowed: 100_000_000_000,
  mbps: 50
}
const open = () =>
  renderAt(<TrafficPanel query={range => read(orders.traffic, { params: { id: 7 }, query: range })} />, {
    user: customer
  })
const panel = async (name = 'Traffic') => within(await screen.findByRole('region', { name }))

describe('traffic', () => {
  it('shows what is used and left, sums, refusals and errors in words, and each step for those who see no chart', async () => {
    answer(orders.traffic, traffic)
    open()
    const shown = await panel()
    expect(await shown.findByText('80 GB left: 20 GB of 100 GB used')).toBeTruthy()
    expect(shown.getByRole('progressbar', { name: 'Traffic used' }).getAttribute('value')).toBe('20001500000')
    expect(shown.getByText('50 Mbit/s')).toBeTruthy()
    const refusals = within(shown.getByRole('list', { name: 'Refused, by reason' }))
    expect(refusals.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
      'Traffic used up 5',
      'of-a-newer-agent 2'
    ])
    expect(
      within(shown.getByRole('list', { name: 'Failed, by kind' })).getByText('Domain name does not resolve')
    ).toBeTruthy()
    // The header, and the one hour with traffic.
    expect(within(shown.getByRole('table')).getAllByRole('row')).toHaveLength(2)
    expect(within(shown.getByRole('table')).getByText('1,234')).toBeTruthy()
  })

  it('asks for another time when one is chosen', async () => {
    answer(orders.traffic, traffic)
    const { user, where } = open()
    const shown = await panel()
    await shown.findByRole('table')
    expect(requestsOf(orders.traffic)).toMatchObject([{ params: { id: '7' }, query: { by: 'hour', last: '48' } }])
    await user.selectOptions(shown.getByRole('combobox', { name: 'Time range' }), 'One year')
    await shown.findByRole('table')
    expect(requestsOf(orders.traffic).at(-1)).toMatchObject({ query: { by: 'day', last: '365' } })
    expect(where()).toContain('span=1y')
  })

  it('says that the traffic is used up, and what to do', async () => {
    answer(orders.traffic, { ...traffic, used: 101_000_000_000 })
    open()
    expect(await screen.findByText('Traffic used up: 101 GB of 100 GB. Renew the order to get more.')).toBeTruthy()
  })

  it('says that there was none, in both languages, and nothing of limits where there are none', async () => {
    answer(orders.traffic, noOrderTraffic)
    open()
    const shown = await panel()
    expect(await shown.findByText('No traffic in this period')).toBeTruthy()
    expect(shown.queryByRole('progressbar')).toBeNull()
    await act(() => setLanguage('zh-CN'))
    expect(await screen.findByText('此时间段内没有流量')).toBeTruthy()
  })
})
