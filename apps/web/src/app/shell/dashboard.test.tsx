import { screen, within } from '@testing-library/react'
import type { Collection } from '@netlet/contract'
import { describe, expect, it } from 'vitest'
import { catalog, orders, rewards } from '../../api/routes.ts'
import { answer, answerLost } from '../../testing/answers.ts'
import { renderAt, setWidth } from '../../testing/render.tsx'
import { collection, customer, order, pageOf } from '../../testing/shapes.ts'
import Dashboard from './dashboard.tsx'

const open = (at = '/dashboard/index/promoCodeList', ...shown: Collection[]) => {
  answer(catalog.collections, pageOf(...shown))
  answer(rewards.coupons, pageOf())
  return renderAt(<Dashboard />, { at, user: customer })
}
const menu = () => screen.queryByRole('navigation', { name: 'Dashboard' })
const button = (name: string) => screen.getByRole('button', { name })

describe("the customer's menu", () => {
  it('has the recent orders below Proxies, with their number', async () => {
    answer(orders.list, { ...pageOf(order), total: 1234 })
    open()
    const link = await screen.findByRole('link', { name: /^Recent orders/ })
    expect(await within(link).findByText('1,234', { exact: false })).toBeTruthy()
    expect(link.getAttribute('href')).toBe('/dashboard/index/proxies')
  })

  it.each([
    ['/dashboard/index/proxies', /^Recent orders/],
    [`/dashboard/index/proxies/${collection.id}`, new RegExp(`^${collection.collection_name}`)],
    ['/dashboard/index/promocodeUser', 'Promo code']
  ])('marks one entry as the current one at %s', async (at, name) => {
    answer(orders.list, pageOf())
    open(at, collection)
    const entry = await screen.findByRole('link', { name })
    expect(entry.getAttribute('aria-current')).toBe('page')
    expect(menu()?.querySelectorAll('[aria-current]')).toHaveLength(1)
  })

  it('shows 0 where the orders could not be counted', async () => {
    answerLost(orders.list)
    open()
    expect((await screen.findByRole('link', { name: /^Recent orders/ })).textContent).toMatch(/0$/)
  })
})

describe('the menu and the full view', () => {
  it('are in the address, beside what else is there', async () => {
    answer(orders.list, pageOf())
    const { user, where } = open('/dashboard/index/promoCodeList?page=2')
    expect(menu()).toBeTruthy()
    await user.click(button('Side menu'))
    expect(menu()).toBeNull()
    expect(where()).toBe('/dashboard/index/promoCodeList?page=2&menu=closed')
    await user.click(button('Full screen'))
    expect(where()).toBe('/dashboard/index/promoCodeList?page=2&menu=closed&full=1')
    await user.click(button('Leave full screen'))
    await user.click(button('Side menu'))
    expect(where()).toBe('/dashboard/index/promoCodeList?page=2')
  })

  it.each([
    ['?menu=closed', 1280, false],
    ['?menu=open', 390, true],
    ['?menu=%3Cscript%3E&full=yes', 1280, true],
    ['?menu=%3Cscript%3E&full=yes', 390, false]
  ])('are as %s says in a window of %i px', (query, width, isOpen) => {
    setWidth(width)
    answer(orders.list, pageOf())
    open(`/dashboard/index/promoCodeList${query}`)
    expect(menu() !== null).toBe(isOpen)
    expect(button('Full screen')).toBeTruthy()
  })
})
