import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { orders } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { customer, noOrderTraffic, order, pageOf } from '../../testing/shapes.ts'
import ProxiesPage from './page.tsx'
import { show } from './proxies.fixture.tsx'
import { searchOf } from './use-orders.ts'

const PATH = '/dashboard/index/proxies'
const older = { ...order, id: 6, order_id: '20260614-AAAAAAAA', product_name: 'Metro ISP' }

/** Opens the page with two orders; a search for anything but 'metro' finds none, and one of them expires soon. */
function open(at = PATH, expiring = [older]) {
  show(order)
  answer(orders.traffic, noOrderTraffic)
  answer(orders.credits, [])
  answer(orders.list, ({ query }) => {
    if (query['search'] && query['search'] !== 'metro') return pageOf()
    if (query['expiring']) return pageOf(...expiring)
    return query['search'] ? pageOf(older) : pageOf(order, older)
  })
  return renderAt(<ProxiesPage />, { at, route: `${PATH}/:id?`, user: customer })
}
/** The queries of the list itself, without the count of the tab. */
const asked = () => requestsOf(orders.list).flatMap(({ query }) => (query['limit'] === '5' ? [query] : []))
const find = () => screen.findByRole('searchbox', { name: 'Search by order, label, plan or IP' })
const rows = async (count: number) =>
  waitFor(() => expect(within(screen.getByRole('table')).getAllByRole('row')).toHaveLength(count + 1))

describe("a customer's search", () => {
  it('is in the address and starts at the first page with the first order that it finds', async () => {
    const { user, where } = open(`${PATH}?order=7&page=2&proxy_q=x`)
    await user.type(await find(), ' metro')
    await rows(1)
    expect(where()).toBe(`${PATH}?q=metro`)
    expect(asked().at(-1)).toEqual({ limit: '5', offset: '0', search: 'metro' })
    await waitFor(() => expect(requestsOf(orders.proxyDetail).at(-1)?.params).toEqual({ id: '6' }))
  })

  it('that finds nothing says so and is cleared, with the focus in the field', async () => {
    const { user, where } = open(`${PATH}?q=oslo&state=failed`)
    expect(await screen.findByText('No orders match')).toBeTruthy()
    expect(screen.queryByRole('region', { name: 'Proxies' })).toBeNull()
    await user.click(within(screen.getByText('No orders match').parentElement ?? document.body).getByRole('button'))
    await rows(2)
    expect(where()).toBe(PATH)
    expect(document.activeElement).toBe(await find())
  })

  it.each([
    ['203.0.113.5:3128:user:s3cret', '203.0.113.5'],
    ['http://user:s3cret@203.0.113.5:3128', '203.0.113.5'],
    ['user:s3cret@[2001:db8::5]:3128', '2001:db8::5'],
    ['[2001:db8::5]:3128:user:s3cret', '2001:db8::5'],
    ['203.0.113.5', '203.0.113.5'],
    [' NL-7QK2 ', 'NL-7QK2'],
    ['Scraper 1.2.3', 'Scraper 1.2.3']
  ])('for %s asks for %s, without a password', (typed, search) => {
    expect(searchOf(typed)).toBe(search)
  })
})

describe('filters', () => {
  it('are asked of the server by whole days of this time zone, and each is a step back', async () => {
    const { user, where, goBack } = open()
    await user.selectOptions(await screen.findByRole('combobox', { name: 'State' }), 'Active')
    expect(where()).toBe(`${PATH}?state=delivered`)
    const day = screen.getByLabelText<HTMLInputElement>('Placed until')
    await user.type(day, '2026-03-31')
    await waitFor(() => expect(where()).toBe(`${PATH}?state=delivered&until=2026-03-31`))
    expect(asked().at(-1)).toEqual({
      limit: '5',
      offset: '0',
      state: 'delivered',
      placed_until: new Date(2026, 3, 1).toISOString()
    })
    goBack()
    await waitFor(() => expect(day.value).toBe(''))
    expect(where()).toBe(`${PATH}?state=delivered`)
  })

  it.each(['state=gone', 'from=2026-02-30&until=0001-01-01', 'sort=password', 'show=mine', 'sort=expires'])(
    'that are not offered are ignored: %s',
    async text => {
      open(`${PATH}?${text}`)
      await rows(2)
      expect(asked()).toEqual([{ limit: '5', offset: '0' }])
    }
  )
})

describe('orders that expire soon', () => {
  it('are counted in their tab, and listed there by their end', async () => {
    const { user, where } = open(`${PATH}?page=1&sort=amount`)
    await user.click(await screen.findByRole('button', { name: 'Expiring soon 1', pressed: false }))
    await rows(1)
    expect(where()).toBe(`${PATH}?show=expiring`)
    expect(asked().at(-1)).toMatchObject({ expiring: '1', sort_by: 'expired_at', sort_order: 'asc' })
    await user.selectOptions(screen.getByRole('combobox', { name: 'Sort by' }), 'Newest first')
    expect(where()).toBe(`${PATH}?show=expiring&sort=newest`)
    await user.click(screen.getByRole('button', { name: 'All', pressed: false }))
    await rows(2)
    expect(where()).toBe(PATH)
  })

  it('may be none, which the list says', async () => {
    const { user, where } = open(`${PATH}?show=expiring`, [])
    await user.click(await screen.findByRole('button', { name: 'Show all orders' }))
    await rows(2)
    expect(where()).toBe(PATH)
  })
})

it('a shop without orders shows neither tabs nor filters', async () => {
  answer(orders.list, pageOf())
  renderAt(<ProxiesPage />, { at: PATH, route: PATH, user: customer })
  expect(await screen.findByText('No orders yet')).toBeTruthy()
  expect(screen.queryByRole('search')).toBeNull()
  expect(requestsOf(orders.list)).toHaveLength(1)
})
