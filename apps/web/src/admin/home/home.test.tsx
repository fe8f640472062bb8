import type { DaySales, DeliveryTimes, Endings, AttentionItem, Sales, Setup, StockMap } from '@netlet/contract'
import { mayOperate, OPERATOR_ROLES } from '@netlet/contract/permissions'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { queryClient } from '../../api/query.ts'
import { home } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { admin } from '../../testing/shapes.ts'
import { renderScreen } from '../kit/screen.fixture.tsx'
import HomePage from './page.tsx'

const day = (name: string, revenue: string, paid: number): DaySales => ({ day: name, orders: paid + 1, paid, revenue })
const sales: Sales = {
  today: '2026-03-02',
  before: [day('2026-02-01', '10.10', 1), day('2026-02-02', '20.20', 2), day('2026-02-03', '1000.00', 50)],
  month: [day('2026-03-01', '0.10', 1), day('2026-03-02', '1234.20', 7)]
}
const endings: Endings = [
  { day: '2026-03-02', orders: 0 },
  { day: '2026-03-03', orders: 1200 }
]
const deliveries: DeliveryTimes = {
  day: { orders: 0, p50: null, p99: null },
  week: { orders: 40, p50: 2.34, p99: 5400 },
  slowest: [{ id: 7, order: 'NL-SLOW', delivered_at: '2026-03-01T10:00:00.000Z', seconds: 5400 }]
}
const stock: StockMap = {
  groups: [
    { id: 1, name: 'New York', family: 'ipv4' },
    { id: 1, name: 'New York', family: 'ipv6' }
  ],
  rules: [
    { id: 2, name: 'Nike' },
    { id: 3, name: 'A&B' }
  ],
  free: [
    [1500, 0],
    [7, 8]
  ],
  more: { groups: 0, rules: 3 }
}

const allDone: Setup = (['platform', 'mail', 'rule', 'server', 'group', 'product'] as const).map(step => ({
  step,
  done: true
}))

function open(
  needs: Partial<Record<AttentionItem, number | null>> = {},
  { as = admin, refused = false, setup = allDone } = {}
) {
  answer(
    home.attention,
    Object.entries(needs).map(([what, count]) => ({ what: what as AttentionItem, count }))
  )
  if (refused) answerRefused(home.sales, 'unavailable')
  else answer(home.sales, sales)
  answer(home.setup, setup)
  answer(home.endings, endings)
  answer(home.deliveries, deliveries)
  answer(home.stock, stock)
  return renderScreen(<HomePage />, { as })
}
const panel = async (name: string) => within(await screen.findByRole('region', { name }))

describe("the console's first screen", () => {
  it('says what needs attention, each with the way to exactly these rows', async () => {
    open({
      undelivered: 3,
      payments: 1,
      store_password: 1,
      webhooks: 7,
      late_events: 9,
      servers: 2,
      dead_letters: 4,
      mails: 5,
      prices: 6,
      stock: 1200,
      tickets: 8
    })
    const links = await (await panel('Needs attention now')).findAllByRole('link')
    expect(links.map(link => [link.textContent, link.getAttribute('href')])).toEqual([
      ['3Paid but undelivered orders', '/dashboard/index/orders?problem=1'],
      ['1Payments that need a decision', '/dashboard/index/payments?unresolved=1'],
      ["1Customers cannot pay at the platform's checkout", '/dashboard/index/health'],
      ['7Refused platform webhooks', '/dashboard/index/health'],
      ['9Platform events unprocessed for 1 hour', '/dashboard/index/payments?late=1'],
      ['2Servers with problems', '/dashboard/index/servers?state=trouble'],
      ['Ongoing outages', '/dashboard/index/outages?state=lasts'],
      ['4Failed jobs', '/dashboard/index/tasks?tab=dead'],
      ['5Failed emails', '/dashboard/index/mails?state=failed'],
      ['6Price mismatches', '/dashboard/index/health#prices'],
      ['1,200Products low on stock', '/dashboard/index/productManager?low_stock=1'],
      ['8Open tickets', '/dashboard/index/tickets?state=open']
    ])
  })

  it('is quiet where nothing needs attention, and calls no figure nothing that could not be counted', async () => {
    const { unmount } = open({ undelivered: 0, tickets: 0 })
    expect(await screen.findByText('Nothing needs attention.')).toBeTruthy()
    unmount()
    queryClient.clear()
    open({ undelivered: 0, tickets: null })
    await (await panel('Needs attention now')).findByText('Open tickets')
  })

  it('says what a new shop needs before it can sell, in its order, until all is there', async () => {
    open({}, { setup: allDone.map(one => ({ ...one, done: one.step === 'platform' })) })
    const links = await (await panel('Set up the shop')).findAllByRole('link')
    expect(links.map(link => link.getAttribute('href'))).toEqual([
      '/dashboard/index/WebsiteSettings?tab=shopify',
      '/dashboard/index/WebsiteSettings?tab=email',
      '/dashboard/index/AclManager?form=new',
      '/dashboard/index/servers?form=new',
      '/dashboard/index/servergroup?form=new',
      '/dashboard/index/productManager'
    ])
    expect(links.map(link => within(link).queryByLabelText('Done') !== null)).toEqual([true, ...Array(5).fill(false)])
  })

  it('shows sales in figures, and by day in a table beside the chart', async () => {
    open()
    const shown = await panel('Sales')
    const figure = async (name: string) => (await shown.findByText(name)).parentElement?.textContent
    expect(await figure('Today (UTC)')).toBe('Today (UTC)$1,234.20Paid orders: 7')
    expect(await figure('Yesterday (UTC)')).toBe('Yesterday (UTC)$0.10Paid orders: 1')
    expect(await figure('This month (UTC)')).toBe('This month (UTC)$1,234.30Paid orders: 8')
    expect(shown.getByText('Last month up to day 2').parentElement?.textContent).toContain('$30.30')
    const rows = within(shown.getByRole('table', { name: /Sales by day/ })).getAllByRole('row')
    expect(rows.map(row => row.textContent)).toContain('2026-03-02$1,234.2087')
    expect(rows).toHaveLength(6)
    const to = (name: string) => shown.getByRole('link', { name }).getAttribute('href')
    expect(to('2026-03-02')).toBe('/dashboard/index/orders?paid_on=2026-03-02')
    expect(to('$1,234.20')).toBe('/dashboard/index/orders?paid_on=2026-03-02')
    expect(to('Paid orders: 7')).toBe('/dashboard/index/orders?placed_on=2026-03-02&pay_status=1')
    expect(to('$1,234.30')).toBe('/dashboard/index/orders?paid_in=2026-03')
    expect(to('Paid orders: 8')).toBe('/dashboard/index/orders?placed_in=2026-03&pay_status=1')
    // Orders can be filtered by a day or month, not by a part of a month.
    expect(shown.queryByRole('link', { name: '$30.30' })).toBeNull()
    expect(shown.queryByRole('link', { name: 'Paid orders: 3' })).toBeNull()
  })

  it('shows stock as a table that is read and scrolled by keyboard, and says what is left out', async () => {
    open()
    const shown = await panel('Free addresses by server group and access rule')
    const row = await shown.findByRole('row', { name: /New York IPv4 address/ })
    expect(shown.getByRole('row', { name: /New York IPv6 \/64/ }).textContent).toMatch(/78$/)
    expect(
      within(row)
        .getAllByRole('cell')
        .map(cell => cell.textContent)
    ).toEqual(['1,500', '0'])
    const cell = within(row).getByRole('link', { name: /^New York, .*: 1,500 free/ })
    expect(cell.getAttribute('href')).toMatch(/^\/dashboard\/index\/CIDRManage\?group_id=\d+&sold_with=\d+$/)
    const rule = await shown.findByRole('link', { name: 'A&B' })
    expect(rule.getAttribute('href')).toBe('/dashboard/index/AclManager?search=A%26B')
    expect(row.closest('[tabindex="0"]')).toBeTruthy()
    expect(shown.getByText(/3 more rules/)).toBeTruthy()
  })

  it('shows the other panels where one cannot be read, and asks again', async () => {
    open({ tickets: 1 }, { refused: true })
    const shown = await panel('Sales')
    const again = await shown.findByRole('button', { name: 'Try again' })
    expect((await panel('Needs attention now')).getByText('Open tickets')).toBeTruthy()
    answer(home.sales, sales)
    again.click()
    expect(await (await panel('Sales')).findByText('$1,234.30')).toBeTruthy()
  })

  it.each(OPERATOR_ROLES)('shows and asks for what the role %s may see', async operator_role => {
    open({}, { as: { ...admin, operator_role } })
    const panels = [home.attention, home.sales, home.endings, home.deliveries, home.stock]
    const seen = panels.filter(({ permission }) => permission && mayOperate(operator_role, permission))
    await waitFor(() => expect(panels.filter(route => requestsOf(route).length > 0)).toEqual(seen))
    expect(screen.getAllByRole('region')).toHaveLength(seen.length)
  })
})
