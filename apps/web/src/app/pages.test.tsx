import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { statistics } from '../admin/orders/order.fixture.ts'
import { accounts, bulk, catalog, fleet, orders, secondFactor, settings, status } from '../api/routes.ts'
import { answer } from '../testing/answers.ts'
import { renderAt } from '../testing/render.tsx'
import { admin, customer, pageOf } from '../testing/shapes.ts'
import { dashboardPath, pathOf, screenAt, screens, type MenuScreenId } from './manifest.ts'
import { Pages } from './pages.tsx'
import { icons } from './shell/icons.ts'
import { itemAt, menuOf } from './shell/menu.ts'

function open(at: string, user: typeof admin | null) {
  answer(settings.social, { discord: '', twitter: '' })
  answer(bulk.runs, pageOf())
  answer(catalog.syncRuns, [])
  answer(accounts.preferences, null)
  answer(fleet.upgrades, pageOf())
  answer(fleet.servers, pageOf())
  answer(accounts.logout, null)
  answer(catalog.collections, pageOf())
  answer(orders.list, pageOf())
  answer(orders.statistics, statistics)
  return renderAt(<Pages />, { at, user })
}
function openAccount() {
  answer(secondFactor.secondFactors, { factors: [], recovery_codes_left: 0, required: true, passkeys: true })
  answer(accounts.sessions, [])
  answer(accounts.apiKeys, [])
}
const linksOf = (menu: HTMLElement) =>
  within(menu)
    .queryAllByRole('link')
    .map(link => link.textContent)

describe('the manifest', () => {
  it('names each screen and each path once', () => {
    expect(new Set(screens.map(screen => screen.id)).size).toBe(screens.length)
    expect(new Set(screens.map(screen => pathOf(screen.id))).size).toBe(screens.length)
  })

  it('finds each screen as the router does: with and without parameters, in any case, with a slash at the end', () => {
    for (const { id, path } of screens) {
      const whole = path.replaceAll(/:\w+\??/g, '7')
      for (const address of [whole, `${whole}/`, whole.toUpperCase()]) expect(screenAt(address)?.id).toBe(id)
      if (!/:\w+$/.test(path)) expect(screenAt(pathOf(id))?.id).toBe(id)
    }
    expect(screenAt('/nowhere')).toBeUndefined()
    expect(screenAt('/dashboard/index/users')).toBeUndefined()
  })

  it('gives every entry of a menu its icon, and no icon to anything else', () => {
    const entries = [...menuOf('customer'), ...menuOf('admin')].flatMap(section => section.items)
    expect(entries.map(item => item.id).toSorted()).toEqual((Object.keys(icons) as MenuScreenId[]).toSorted())
  })

  it('finds the entry of a path by its pattern', () => {
    const menu = menuOf('customer')
    expect(itemAt(menu, '/dashboard/index/proxies/3')?.id).toBe('Proxies')
    expect(itemAt(menu, '/dashboard/index/proxies/3/4')).toBeUndefined()
  })
})

describe('the dashboards', () => {
  it("shows a customer the customer's menu and title", async () => {
    open('/dashboard/index/proxies', customer)
    expect(await screen.findByRole('heading', { name: 'Proxies', level: 1 })).toBeTruthy()
    await expect.poll(() => document.title).toBe('Proxies · Netlet')
    const links = linksOf(screen.getByRole('navigation', { name: 'Dashboard' }))
    expect(links).toContain('Receipts')
    expect(links).not.toContain('Audit log')
  })

  it('marks the entry that a page below it belongs to, and warns at the foot of the page as the shop does', async () => {
    open('/dashboard/index/users/2', admin)
    const menu = await screen.findByRole('navigation', { name: 'Dashboard' })
    expect(menu.querySelector('[aria-current="page"]')?.textContent).toBe('User Manage')
    // The footer's warning, without the shop's links.
    expect(screen.getByText(/All sales are final/)).toBeTruthy()
    expect(within(screen.getByRole('contentinfo')).queryAllByRole('link')).toEqual([])
  })

  it.each([
    [admin, 'Orders'],
    [customer, 'Proxies']
  ])('leads everyone from /dashboard to where theirs begins', async (user, title) => {
    const { where } = open('/dashboard', user)
    expect(await screen.findByRole('heading', { name: title, level: 1 })).toBeTruthy()
    expect(where()).toBe(dashboardPath(user.is_superuser))
  })

  it.each([
    ['invite', admin],
    ['audit', customer]
  ] as const)('does not show %s to who it is not for', async (id, other) => {
    const { where } = open(pathOf(id), other)
    await screen.findByRole('navigation', { name: 'Dashboard' })
    await waitFor(() => expect(where()).toBe(dashboardPath(other.is_superuser)))
  })

  it("shows operators their account under the console's menu, without what only customers have", async () => {
    openAccount()
    const { where } = open('/dashboard/index/setting', admin)
    expect(await screen.findByRole('region', { name: 'Login and security' })).toBeTruthy()
    expect(where()).toBe('/dashboard/index/setting')
    expect(screen.getByRole('heading', { name: 'Settings', level: 1 })).toBeTruthy()
    const parts = screen.getAllByRole('region').map(region => region.getAttribute('aria-label'))
    for (const name of ['Change password', 'Notices', 'Where you are logged in']) expect(parts).toContain(name)
    for (const name of ['API keys', 'Billing', 'Mails']) expect(parts).not.toContain(name)
    expect(linksOf(screen.getByRole('navigation', { name: 'Dashboard' }))).toContain('Audit log')
  })

  it('leads an operator who must add a second factor to where it is added, and nowhere else', async () => {
    openAccount()
    const { where } = open('/dashboard/index/userList', { ...admin, must_add_second_factor: true })
    expect((await screen.findByText(/Add an authenticator app or a passkey to continue/)).getAttribute('role')).toBe(
      'alert'
    )
    expect(where()).toBe('/dashboard/index/setting')
    expect(screen.queryByRole('region', { name: 'Change password' })).toBeNull()
    expect(within(screen.getByRole('navigation', { name: 'Dashboard' })).queryAllByRole('link')).toEqual([])
  })

  it('tells an operator in the console by when a second factor is needed', async () => {
    open('/dashboard/index/orders', { ...admin, second_factor_due: '2026-06-22T08:00:00.000Z' })
    const said = within(await screen.findByRole('complementary', { name: 'Login and security' }))
    expect(
      said.getByText(
        'Operators must use two-factor authentication. Add an authenticator app or a passkey by Jun 22, 2026.'
      )
    ).toBeTruthy()
    expect(said.getByRole('link', { name: 'Add one now' }).getAttribute('href')).toBe('/dashboard/index/setting')
  })

  it('leads an administrator who views the shop as a user out of the console, home, and back again', async () => {
    answer(catalog.products, pageOf())
    answer(catalog.tags, pageOf())
    answer(status.figures, { countries: [], addresses: 0, networks: 0, delivery_seconds: null, uptime: null })
    const { user, where } = open('/dashboard/index/userList', { ...customer, impersonated_by: 'admin' })
    expect(await screen.findByText('admin, you are viewing the shop as alice.')).toBeTruthy()
    expect(where()).toBe('/')
    answer(accounts.switchBack, admin)
    await user.click(screen.getByRole('button', { name: 'Back to admin' }))
    await waitFor(() => expect(where()).toBe(dashboardPath(true)))
    await waitFor(() => expect(screen.queryByText(/you are viewing the shop as/)).toBeNull())
  })

  it('leads a visitor to the login and back', async () => {
    const { where } = open('/dashboard/index/invite', null)
    expect(where()).toBe('/login?return=%2Fdashboard%2Findex%2Finvite')
    await screen.findByRole('heading', { name: 'Login' })
  })

  it('says so where there is no such page', () => {
    open('/dashboard/index/nothing', customer)
    expect(screen.getByRole('heading', { name: 'Page not found' })).toBeTruthy()
  })
})
