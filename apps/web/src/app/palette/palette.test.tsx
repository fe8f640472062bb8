import { act, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Found, Schedule } from '@netlet/contract'
import { singleKeys } from '../../admin/kit/keyboard.ts'
import { home, settings } from '../../api/routes.ts'
import { guardLeaving } from '../../kit/leaving.ts'
import { registerPaletteActions } from '../../kit/palette.ts'
import { answer, answerRefused, hold, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { admin, customer } from '../../testing/shapes.ts'
import { Layout } from '../pages.tsx'

const nothing: Found = { orders: [], users: [], servers: [], products: [], address: null }
const found: Found = {
  orders: [
    { id: 7, order_id: 'NL-SEVEN', product_name: 'Plan', username: 'alice', state: 'delivered', exact: true },
    { id: 8, order_id: 'NL-SEVENTEEN', product_name: 'Plan', username: 'bob', state: 'failed', exact: false }
  ],
  users: [{ id: 2, username: 'seven', email: 'seven@example.com', exact: false }],
  servers: [{ id: 4, name: 'seven-1', ip: '192.0.2.4', status: 'paused', exact: false }],
  products: [{ id: 3, product_name: 'Seven', active: false, exact: false }],
  address: null
}

const schedule: Schedule = {
  queue: 'orders.expire',
  purpose: 'Ends orders whose time is over',
  cron: '* * * * *',
  next_run: null,
  last: { at: null, result: 'none', error: null },
  asked: false
}

async function open(user = admin) {
  answer(settings.social, { discord: '', twitter: '' })
  answer(settings.tasks, { schedules: [], queues: [] })
  answer(home.search, nothing)
  const view = renderAt(<Layout />, { user })
  // The palette's code loads after the page's.
  await waitFor(async () => {
    await view.user.keyboard('{Control>}k{/Control}')
    screen.getByRole('dialog', { name: 'Go to a screen, or search' })
  })
  return view
}
const choices = () => within(screen.getByRole('dialog')).queryAllByRole('option')

describe('the command palette', () => {
  it('leads to a screen by its name, with the keyboard alone', async () => {
    const { user, where } = await open()
    await user.keyboard('orde{Enter}')
    expect(where()).toBe('/dashboard/index/orders')
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  })

  it('switches the keys of lists off and on', async () => {
    const { user } = await open()
    await user.keyboard('keys j')
    await user.click(await screen.findByRole('option', { name: 'Turn off the shortcut keys j, k, x and / in lists' }))
    await waitFor(() => expect(singleKeys.current()).toBe(false))
    await user.keyboard('{Control>}k{/Control}')
    await screen.findByRole('dialog', { name: 'Go to a screen, or search' })
    await user.keyboard('keys j')
    await user.click(await screen.findByRole('option', { name: 'Turn on the shortcut keys j, k, x and / in lists' }))
    await waitFor(() => expect(singleKeys.current()).toBe(true))
  })

  it.each([
    ['quartz special', [], ['Payments', 'Cidr Manage', 'Emails']],
    ['alice@example.com', ['Emails'], ['Cidr Manage', 'Payments']],
    ['NL-ABCDEFGH', ['Payments', 'Emails'], ['Cidr Manage']],
    ['192.0.2.0/24', ['Cidr Manage', 'Payments'], []]
  ])('offers to search for “%s” only where it can be', async (text, offered, not) => {
    const { user } = await open()
    await user.keyboard(text)
    await screen.findByRole('option', { name: `Orders: search “${text}”` })
    for (const list of offered) screen.getByRole('option', { name: `${list}: search “${text}”` })
    for (const list of not) expect(screen.queryByRole('option', { name: `${list}: search “${text}”` })).toBeNull()
  })

  it('finds rows by one call when the typing pauses, the one named exactly so first', async () => {
    const { user, where } = await open()
    answer(home.search, found)
    await user.keyboard('NL-SEVEN')
    await screen.findByRole('option', { name: /^NL-SEVENTEEN/ })
    const names = choices().map(choice => choice.textContent)
    expect(names[0]).toBe('NL-SEVENalice · Plan · Active')
    expect(names).toEqual(
      expect.arrayContaining([
        'NL-SEVENTEENbob · Plan · Failed',
        'sevenseven@example.com',
        'seven-1192.0.2.4 · Paused',
        'SevenNot on sale'
      ])
    )
    expect(requestsOf(home.search).map(({ query }) => query['q'])).toContain('NL-SEVEN')
    expect(requestsOf(home.search).length).toBeLessThan(8)
    await user.keyboard('{Enter}')
    expect(where()).toBe('/dashboard/index/order/7')
  })

  it.each([
    [/^NL-SEVENTEEN/, '/dashboard/index/order/8'],
    [/^seven.?seven@/, '/dashboard/index/users/2'],
    [/^seven-1/, '/dashboard/index/servers?open=4'],
    [/^Seven.?Not/, '/dashboard/index/productManager/3']
  ])('leads from %s to its own page or view', async (name, to) => {
    const { user, where } = await open()
    answer(home.search, found)
    await user.keyboard('seven')
    await user.click(await screen.findByRole('option', { name }))
    expect(where()).toBe(to)
  })

  it('leads from an address to its holder, to who had it and to its range', async () => {
    const { user, where } = await open()
    const holders = [{ id: 9, order_id: 'NL-NINE', username: 'carol' }]
    answer(home.search, {
      ...nothing,
      address: { address: '192.0.2.9', range: { id: 5, cidr: '192.0.2.0/24' }, holders }
    })
    await user.keyboard('192.0.2.9')
    await screen.findByRole('option', { name: /NL-NINE.*carol holds 192.0.2.9 now/ })
    await screen.findByRole('option', { name: 'Range 192.0.2.0/24' })
    await user.click(screen.getByRole('option', { name: 'Who had 192.0.2.9' }))
    expect(where()).toBe('/dashboard/index/addresses?address=192.0.2.9')
  })

  it('opens forms, syncs and changes the look as far as the role may', async () => {
    const { user, where } = await open()
    await user.keyboard('new gift card{Enter}')
    expect(where()).toBe('/dashboard/index/giftcard?form=new')
  })

  it('offers no action that the role may not do', async () => {
    const { user } = await open({ ...admin, operator_role: 'viewer' })
    await user.keyboard('new')
    expect(choices().map(choice => choice.textContent)).not.toContain('New gift card')
    expect(requestsOf(settings.tasks)).toEqual([])
  })

  it('runs a job now', async () => {
    const { user } = await open()
    answer(settings.tasks, { schedules: [schedule], queues: [] })
    answer(settings.runNow, { asked: true })
    await user.keyboard('run expire')
    await user.click(await screen.findByRole('option', { name: /^Run now: orders.expire/ }))
    await screen.findByText('Queued.')
    expect(requestsOf(settings.runNow)).toMatchObject([{ body: { queue: 'orders.expire' } }])
  })

  it('offers what the page that is shown can do, and does it once the palette is gone', async () => {
    const run = vi.fn(() => expect(screen.queryByRole('dialog')).toBeNull())
    const { user } = await open()
    let remove = () => {}
    act(() => {
      const actions = () => [{ id: 'reset', label: 'Reset password', run }]
      remove = registerPaletteActions({ id: 'order.7', title: () => 'NL-SEVEN', actions })
    })
    expect(screen.getByRole('group', { name: 'NL-SEVEN' })).toBeTruthy()
    await user.keyboard('reset{Enter}')
    await waitFor(() => expect(run).toHaveBeenCalledOnce())
    act(remove)
  })

  it('opens with recent pages, which the next user does not see', async () => {
    sessionStorage.setItem(
      'netlet-recent',
      JSON.stringify({ user: admin.id, visits: [{ to: '/dashboard/index/order/7', label: 'NL-SEVEN' }] })
    )
    const { user, where, unmount } = await open()
    expect(choices()[0]?.textContent).toBe('NL-SEVEN')
    await user.keyboard('{ArrowDown}{Enter}')
    expect(where()).toBe('/dashboard/index/order/7')
    unmount()
    await open({ ...admin, id: 99 })
    expect(choices()[0]?.textContent).toBe('Home')
  })

  it('keeps the chosen entry when rows appear above it', async () => {
    const { user, where } = await open()
    const reply = hold(home.search)
    await user.keyboard('tickets{ArrowDown}')
    await waitFor(() => expect(requestsOf(home.search).length).toBeGreaterThan(0))
    const chosen = choices()[1]?.textContent
    act(() => reply(found))
    await screen.findByRole('option', { name: /^NL-SEVEN.?alice/ })
    expect(screen.getByRole('option', { selected: true }).textContent).toBe(chosen)
    await user.keyboard('{Enter}')
    expect(where()).toBe('/dashboard/index/userList?search=tickets')
  })

  it('leads nowhere where what is not saved is to stay, and says that rows could not be searched', async () => {
    const { user, where } = await open()
    const here = where()
    onTestFinished(guardLeaving({ ask: async () => false, isUnsaved: () => true }))
    answerRefused(home.search, 'internal')
    await user.keyboard('orders')
    await screen.findByText('Could not search orders, users, servers and products.')
    await user.keyboard('{Enter}')
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(where()).toBe(here)
  })

  it('is not there for customers', async () => {
    answer(settings.social, { discord: '', twitter: '' })
    const { user } = renderAt(<Layout />, { user: customer })
    await screen.findAllByText('alice')
    await user.keyboard('{Control>}k{/Control}')
    expect(screen.queryByRole('dialog')).toBeNull()
  })
})
