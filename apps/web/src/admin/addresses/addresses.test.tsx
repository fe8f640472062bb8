import type { AddressLease, ReplyOf, inventory as calls } from '@netlet/contract'
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { inventory } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { pageOf } from '../../testing/shapes.ts'
import { renderScreen } from '../kit/screen.fixture.tsx'
import AddressesPage from './page.tsx'

const ROUTE = '/dashboard/index/addresses'
const lease: AddressLease = {
  id: 11,
  address: '192.0.2.0/29',
  order_id: 7,
  order: 'NL-seven',
  user_id: 2,
  username: 'alice',
  acls: [{ id: 1, name: 'Shoes' }],
  leased_at: '2026-03-01T12:00:00.000Z',
  active_from: '2026-03-01T12:00:05.000Z',
  released_at: '2026-03-05T12:00:00.000Z',
  stopped_at: '2026-03-05T12:00:00.000Z',
  delivered_at: '2026-03-01T12:01:00.000Z',
  expired_at: '2026-03-05T12:01:00.000Z',
  proof: { state: 'proved', answer: 'refused', at: '2026-03-05T12:00:02.000Z' }
}
const found: ReplyOf<typeof calls.addressHolders> = {
  address: '192.0.2.3',
  at: '2026-03-03T12:00:00.000Z',
  range: { id: 1, cidr: '192.0.2.0/24' },
  server: { id: 1, name: 'edge' },
  held: [lease],
  before: null,
  after: {
    ...lease,
    id: 12,
    order: 'NL-eight',
    username: 'bob',
    active_from: null,
    released_at: null,
    stopped_at: null
  },
  texts: { en: 'Hello, reference NL-seven', 'zh-CN': '您好，编号 NL-seven' }
}

function open(query = '', told = found) {
  answer(inventory.addressHolders, told)
  answer(inventory.addressLeases, pageOf(lease))
  return renderScreen(<AddressesPage />, { at: ROUTE + query, route: ROUTE })
}

describe('who had an address', () => {
  it('is told for the address and the instant of the link', async () => {
    open('?address=192.0.2.3&at=2026-03-03T12:00:00Z')
    const answered = within(await screen.findByRole('region', { name: 'Who had it' }))
    const order = await answered.findByRole('link', { name: 'NL-seven' })
    expect(order.getAttribute('href')).toBe('/dashboard/index/order/7')
    expect(answered.getByRole('link', { name: 'alice' }).getAttribute('href')).toBe(
      '/dashboard/index/userList?search=alice'
    )
    expect(answered.getByText('Shoes')).toBeTruthy()
    expect(answered.getByText('Before:').closest('p')?.textContent).toContain('none')
    expect(answered.getByText('After:').closest('p')?.textContent).toContain('NL-eight · bob')
    expect(answered.getByText('After:').closest('p')?.textContent).toContain('Reserved, unpaid')
    expect(requestsOf(inventory.addressHolders)).toMatchObject([
      { query: { address: '192.0.2.3', at: '2026-03-03T12:00:00.000Z' } }
    ])
  })

  it('says of a moment before the delivery that the address was reserved only', async () => {
    open('?address=192.0.2.3&at=2026-03-01T12:00:02Z', { ...found, at: '2026-03-01T12:00:02.000Z' })
    expect(await screen.findByText('Reserved only')).toBeTruthy()
    expect(screen.getByText(/^Delivered from /)).toBeTruthy()
  })

  it('says of a moment after the end of the order that the address was held only', async () => {
    const ended = { ...lease, released_at: null, stopped_at: '2026-03-02T12:00:00.000Z' }
    open('?address=192.0.2.3&at=2026-03-03T12:00:00Z', { ...found, held: [ended] })
    expect(await screen.findByText('Reserved only')).toBeTruthy()
    expect(screen.getByText(/^Proxies stopped /)).toBeTruthy()
    expect(screen.queryByText('Leased')).toBeNull()
  })

  it('is asked by a form, which the address then names', async () => {
    const { user, asked } = open()
    await user.type(await screen.findByRole('textbox', { name: 'Address or range' }), ' 192.0.2.3 ')
    fireEvent.change(screen.getByLabelText(/^At/), { target: { value: '2026-03-03T12:00:00' } })
    await user.click(screen.getByRole('button', { name: 'Look up' }))
    const at = new Date('2026-03-03T12:00:00').toISOString()
    await waitFor(() => expect(asked()).toEqual({ address: '192.0.2.3', at }))
    await waitFor(() =>
      expect(requestsOf(inventory.addressHolders).at(-1)?.query).toEqual({ address: '192.0.2.3', at })
    )
  })

  it('has an answer to a complaint in both languages, to be copied', async () => {
    const { user } = open('?address=192.0.2.3')
    const reply = within(await screen.findByRole('region', { name: 'Reply to a complaint' }))
    expect(reply.getByRole<HTMLTextAreaElement>('textbox', { name: 'English' }).value).toBe(found.texts.en)
    expect(reply.getByRole<HTMLTextAreaElement>('textbox', { name: 'Chinese' }).value).toBe(found.texts['zh-CN'])
    await user.click(reply.getByRole('button', { name: 'Copy: Chinese' }))
    expect(await navigator.clipboard.readText()).toBe(found.texts['zh-CN'])
  })

  it('says what is wrong with an address', async () => {
    const params = { problem: 'x is not an address range' }
    answerRefused(inventory.addressHolders, 'invalid_lines', { params })
    answerRefused(inventory.addressLeases, 'invalid_lines', { params })
    renderScreen(<AddressesPage />, { at: `${ROUTE}?address=x`, route: ROUTE })
    expect((await screen.findAllByText('x is not an address range')).length).toBeGreaterThan(0)
  })
})

describe('who had addresses of a range', () => {
  it('is a list for a span of time, and a file of the same', async () => {
    open('?address=192.0.2.0/24&from=2026-03-01T00:00:00Z&to=2026-03-31T00:00:00Z')
    const history = within(await screen.findByRole('region', { name: 'History' }))
    expect(await history.findByRole('link', { name: 'NL-seven' })).toBeTruthy()
    expect(requestsOf(inventory.addressLeases)[0]?.query).toMatchObject({
      address: '192.0.2.0/24',
      from: '2026-03-01T00:00:00.000Z',
      to: '2026-03-31T00:00:00.000Z'
    })
    const file = new URL(history.getByRole('link', { name: 'CSV' }).getAttribute('href') ?? '', 'http://x')
    expect(Object.fromEntries(file.searchParams)).toEqual({
      address: '192.0.2.0/24',
      from: '2026-03-01T00:00:00.000Z',
      to: '2026-03-31T00:00:00.000Z',
      format: 'csv'
    })
    expect(requestsOf(inventory.addressHolders)).toEqual([])
  })

  it('is of those who held them at an instant where one is asked for', async () => {
    open('?address=192.0.2.0/24&at=2026-03-03T12:00:00Z')
    await waitFor(() => expect(requestsOf(inventory.addressLeases)).toHaveLength(1))
    expect(requestsOf(inventory.addressLeases)[0]?.query).toMatchObject({
      from: '2026-03-03T12:00:00.000Z',
      to: '2026-03-03T12:00:00.001Z'
    })
  })
})
