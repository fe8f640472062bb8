import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { accounts } from '../api/routes.ts'
import { answer, requestsOf } from '../testing/answers.ts'
import { renderAt, setWidth } from '../testing/render.tsx'
import { admin, customer } from '../testing/shapes.ts'
import { Header } from './header.tsx'

const open = (user: typeof customer | null, at = '/') => renderAt(<Header isConsole={false} />, { at, user })
const linksIn = (part: HTMLElement) =>
  within(part)
    .getAllByRole('link')
    .map(link => [link.textContent, link.getAttribute('href')])
/** The element that a header button opens. */
const disclosed = (button: HTMLElement) => document.getElementById(button.getAttribute('aria-controls') ?? '')!
const button = (name: string) => screen.getByRole('button', { name })

const PAGES = [
  ['Home', '/'],
  ['Product', '/product'],
  ['Dashboard', '/dashboard']
]
const own = {
  customer: ['/dashboard/index/proxies', '/dashboard/index/setting'],
  admin: ['/dashboard/index/orders', '/dashboard/index/setting']
}

describe('the header', () => {
  it('leads to the pages of the shop, and marks the one that is shown', () => {
    open(null, '/product')
    const pages = screen.getByRole('navigation', { name: 'Main' })
    expect(linksIn(pages)).toEqual(PAGES)
    expect(pages.querySelector('[aria-current="page"]')?.textContent).toBe('Product')
  })

  it('has the questions and the contact under Support', async () => {
    const { user, where } = open(null, '/support')
    const support = button('Support')
    expect(support.getAttribute('aria-expanded')).toBe('false')
    expect(disclosed(support).hidden).toBe(true)
    await user.click(support)
    expect(linksIn(disclosed(support))).toEqual([
      ['FAQ', '/support#faq'],
      ['Contact', '/support#contact']
    ])
    await user.click(screen.getByRole('link', { name: 'Contact' }))
    expect(where()).toBe('/support#contact')
    expect(disclosed(support).hidden).toBe(true)
  })

  it.each([
    ['a customer', customer, own.customer],
    ['an administrator', admin, own.admin]
  ])('has a menu by role under the name of %s', async (_, who, paths) => {
    const { user } = open(who)
    expect(screen.queryByRole('link', { name: 'Login' })).toBeNull()
    await user.click(button(who.username))
    expect(linksIn(disclosed(button(who.username))).map(([, path]) => path)).toEqual(paths)
  })

  it('ends the session by Logout, and leads to the login', async () => {
    answer(accounts.logout, null)
    const { user, where } = open(customer)
    await user.click(button('alice'))
    await user.click(button('Logout'))
    await waitFor(() => expect(where()).toBe('/login'))
    expect(requestsOf(accounts.logout)).toHaveLength(1)
    expect(await screen.findByRole('link', { name: 'Login' })).toBeTruthy()
  })
})

describe('the menu of a phone', () => {
  const openMenu = async (who: typeof customer | null, at?: string) => {
    setWidth(390)
    const view = open(who, at)
    const burger = button('Menu')
    expect(disclosed(burger).hidden).toBe(true)
    await view.user.click(burger)
    expect(burger.getAttribute('aria-expanded')).toBe('true')
    expect(disclosed(burger).hidden).toBe(false)
    return { ...view, burger, menu: disclosed(burger) }
  }

  it.each([
    ['a customer', customer, own.customer],
    ['an administrator', admin, own.admin]
  ])('has the links and the logout of %s', async (_, who, paths) => {
    answer(accounts.logout, null)
    const { menu, user, where } = await openMenu(who)
    expect(
      linksIn(menu)
        .slice(5)
        .map(([, path]) => path)
    ).toEqual(paths)
    await user.click(within(menu).getByRole('button', { name: `Logout (${who.username})` }))
    await waitFor(() => expect(where()).toBe('/login'))
  })

  it('is closed by Escape and by its button', async () => {
    const { user, menu, burger } = await openMenu(null)
    await user.tab()
    expect(menu.contains(document.activeElement)).toBe(true)
    await user.keyboard('{Escape}')
    expect(menu.hidden).toBe(true)
    expect(document.activeElement).toBe(burger)
    expect(burger.getAttribute('aria-expanded')).toBe('false')
    await user.click(burger)
    expect(menu.hidden).toBe(false)
    await user.click(burger)
    expect(menu.hidden).toBe(true)
  })
})
