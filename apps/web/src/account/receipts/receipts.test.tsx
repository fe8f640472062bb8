import type { Receipt, Receipts } from '@netlet/contract'
import { act, screen, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { orders } from '../../api/routes.ts'
import { pagePaths } from '@netlet/contract/pages'
import { setLanguage } from '../../i18n/language.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { customer, order, pageOf } from '../../testing/shapes.ts'
import ReceiptsPage from './page.tsx'

const purchase: Receipt = {
  id: 1,
  kind: 'purchase',
  platform_order: '#1007',
  paid_at: '2026-06-15T08:00:00.000Z',
  days: 30,
  lines: [
    { title: 'Residential US', variant: 'New York', quantity: 8, unit_price: '2.00', amount: '16.00' },
    { title: 'Rule: Video', variant: null, quantity: 8, unit_price: '0.50', amount: '4.00' }
  ],
  currency: 'USD',
  discount: '1.50',
  total: '18.50',
  refunds: [
    { at: '2026-06-20T08:00:00.000Z', amount: '3.00' },
    { at: '2026-06-21T08:00:00.000Z', amount: '0.25' }
  ],
  refunded: '3.25'
}
/** From before lines were stored. */
const renewal: Receipt = {
  ...purchase,
  id: 2,
  kind: 'renewal',
  platform_order: '#1009',
  days: null,
  lines: [],
  currency: 'EUR',
  discount: '0.00',
  total: '1234.50',
  refunds: [],
  refunded: '0.00'
}
const receipts: Receipts = {
  shop: 'Netlet',
  order_id: '20260615-7QK2M9XA',
  username: 'alice',
  email: 'alice@example.com',
  product: 'Residential US',
  variant: 'New York / /29',
  rules: ['Video'],
  quantity: 8,
  receipts: [purchase, renewal],
  uncounted: []
}

const open = (at: string) => renderAt(<ReceiptsPage />, { at, route: pagePaths.receipts, user: customer })
const rowsOf = (name: string) =>
  within(screen.getByRole('article', { name }))
    .getAllByRole('row')
    .map(row => [...row.children].map(cell => cell.textContent).join('|'))

describe('the receipts', () => {
  it.each([
    { total: '22.48', row: 'Taxes, shipping and tips|$3.98' },
    { total: '17.00', row: 'Other reductions|-$1.50' },
    { total: '18.50', row: null }
  ])('add up to a total of $total', async ({ total, row }) => {
    answer(orders.receipts, { ...receipts, receipts: [{ ...purchase, total }] })
    open('/dashboard/index/receipts/7')
    await screen.findByRole('article', { name: 'Receipt #1007' })
    const between = rowsOf('Receipt #1007').slice(3, -4)
    expect(between).toEqual(['Discount|-$1.50', ...(row === null ? [] : [row])])
  })

  it('show each payment with its lines, discount, total and refunds', async () => {
    answer(orders.receipts, receipts)
    open('/dashboard/index/receipts/7')
    const sheet = within(await screen.findByRole('article', { name: 'Receipt #1007' }))
    expect(requestsOf(orders.receipts)).toMatchObject([{ params: { id: '7' } }])
    for (const text of ['Netlet', 'Purchase', '20260615-7QK2M9XA', '#1007', '30'])
      expect(sheet.getByText(text)).toBeTruthy()
    expect(sheet.getByText(/alice@example.com/)).toBeTruthy()
    expect(rowsOf('Receipt #1007').map(row => row.replace(/Refund on .*\|/, 'Refund|'))).toEqual([
      'Item|Quantity|Unit price|Amount',
      'Residential US · New York|8|$2.00|$16.00',
      'Rule: Video|8|$0.50|$4.00',
      'Discount|-$1.50',
      'Total|$18.50',
      'Refund|-$3.00',
      'Refund|-$0.25',
      'Paid after refunds|$15.25'
    ])
  })

  it('say what was bought where the lines were not kept, in the currency of the payment', async () => {
    answer(orders.receipts, receipts)
    open('/dashboard/index/receipts/7')
    await screen.findByRole('article', { name: 'Receipt #1009' })
    expect(rowsOf('Receipt #1009')).toEqual([
      'Item|Quantity|Unit price|Amount',
      'Residential US · New York / /29|8|–|1,234.50 EUR',
      'Total|1,234.50 EUR'
    ])
    await act(() => setLanguage('zh-CN'))
    expect(rowsOf('收据 #1009').at(-1)).toBe('合计|1,234.50 EUR')
  })

  it('name the plan and its rules in the reader’s language, and what else was bought as the platform does', async () => {
    const lines = [
      { title: 'Residential US', variant: 'New York / /29', quantity: 8, unit_price: '2.00', amount: '16.00' },
      { title: 'Access rules', variant: 'Video', quantity: 8, unit_price: '0.50', amount: '4.00' },
      { title: 'Tip', variant: null, quantity: 1, unit_price: '1.00', amount: '1.00' }
    ]
    const translations = { 'zh-CN': { product_name: '美国住宅', variant_name: '纽约 / /29', acl_names: ['视频'] } }
    answer(orders.receipts, { ...receipts, translations, receipts: [{ ...purchase, lines }] })
    await act(() => setLanguage('zh-CN'))
    open('/dashboard/index/receipts/7')
    await screen.findByRole('article', { name: '收据 #1007' })
    expect(rowsOf('收据 #1007').slice(1, 4)).toEqual([
      '美国住宅 · 纽约 / /29|8|$2.00|$16.00',
      '访问规则 · 视频|8|$0.50|$4.00',
      'Tip|1|$1.00|$1.00'
    ])
  })

  it('are listed by paid order', async () => {
    answer(orders.list, pageOf(order))
    open('/dashboard/index/receipts')
    const link = await screen.findByRole('link', { name: 'Open: Receipts of 20260615-7QK2M9XA' })
    expect(link.getAttribute('href')).toBe('/dashboard/index/receipts/7')
    expect(requestsOf(orders.list)[0]?.query).toMatchObject({ pay_status: '1' })
  })

  it('have none for what does not count, and say what becomes of it', async () => {
    const one = { kind: 'renewal', paid_at: '2026-06-16T08:00:00.000Z', currency: 'USD', total: '12.32' } as const
    const uncounted = (['held', 'ignored', 'refunded'] as const).map((state, at) => ({
      ...one,
      state,
      id: 10 + at,
      platform_order: `#104${at}`
    }))
    answer(orders.receipts, { ...receipts, receipts: [], uncounted })
    open('/dashboard/index/receipts/7')
    const part = within(await screen.findByRole('region', { name: 'Payments not counted' }))
    expect(part.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
      '#1040 Renewal, Jun 16, 2026$12.32We are reviewing this payment. We will count it or refund it.',
      '#1041 Renewal, Jun 16, 2026$12.32We decided not to count this payment. If that is wrong, contact support.',
      '#1042 Renewal, Jun 16, 2026$12.32Refunded.'
    ])
    expect(screen.queryByText('No payments yet')).toBeNull()
  })

  it('say that there are none, and that an order is not there', async () => {
    answer(orders.receipts, { ...receipts, receipts: [] })
    const { unmount } = open('/dashboard/index/receipts/7')
    expect(await screen.findByText('No payments yet')).toBeTruthy()
    expect(screen.getByRole('link', { name: 'Browse products' }).getAttribute('href')).toBe('/product')
    expect(screen.queryByRole('button', { name: 'Print' })).toBeNull()
    unmount()
    answerRefused(orders.receipts, 'not_found')
    open('/dashboard/index/receipts/8')
    expect((await screen.findByRole('alert')).textContent).toContain('Not found')
  })
})
