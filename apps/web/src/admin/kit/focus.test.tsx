import type { Server } from '@netlet/contract'
import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { bulk, fleet, orders, settings } from '../../api/routes.ts'
import { answer, answerRefused, hold } from '../../testing/answers.ts'
import { order, pageOf, server } from '../../testing/shapes.ts'
import { openProducts, PATH } from '../products/products.fixture.tsx'
import OrdersPage from '../orders/page.tsx'
import { busy, choose, open, plan, ROUTE, say } from '../servers/servers.fixture.tsx'
import TasksPage from '../tasks/page.tsx'
import { keepNothing, renderScreen } from './screen.fixture.tsx'

const ORDERS = '/dashboard/index/orders'
type User = ReturnType<typeof open>['user']

const closed = () => waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
const focusIsOn = (find: () => HTMLElement | null) => waitFor(() => expect(document.activeElement).toBe(find()))
const actionsOf = (name: string) => () => screen.getByRole('button', { name: `Actions: ${name}` })
const rowOf = (id: number) => () => document.querySelector<HTMLElement>(`[data-row="${id}"]`)

function openOrders() {
  keepNothing()
  answer(orders.statistics, {
    total: 1,
    paid: 1,
    unpaid: 0,
    today: 1,
    totalAmount: '1.00',
    monthlyAmount: '1.00',
    dailyAmount: '0.00'
  })
  answer(orders.list, pageOf(order))
  return renderScreen(<OrdersPage />, { at: ORDERS, route: `${ORDERS}/:username?` })
}

describe('the focus', () => {
  it.each([
    ['Cancel', async (user: User) => user.click(screen.getByRole('button', { name: 'Cancel' }))],
    ['Escape', async (user: User) => user.keyboard('{Escape}')],
    ['Save', async (user: User) => user.click(screen.getByRole('button', { name: 'Save' }))]
  ])('goes back to the button of the menu when a form that it opened is closed by %s', async (_, close) => {
    answer(fleet.updateServer, server)
    answer(fleet.planEdit, { added: [], removed: [], agent: false, proxy_port: null, stock: [] })
    const { user } = open()
    await choose(user, 'Edit')
    const name = await screen.findByRole('textbox', { name: 'Name' })
    await waitFor(() => expect(document.activeElement).toBe(name))
    await close(user)
    await closed()
    await focusIsOn(actionsOf('paris'))
  })

  it('goes back there from the form of an action, and from a question that is answered NO', async () => {
    const { user } = open()
    await choose(user, 'Enter an outage')
    await screen.findByRole('dialog')
    await user.keyboard('{Escape}')
    await closed()
    await focusIsOn(actionsOf('paris'))
    await choose(user, 'Drain')
    await say(user, 'NO')
    await closed()
    await focusIsOn(actionsOf('paris'))
  })

  it('goes to the row of a form that was opened by its address', async () => {
    const { user } = open(`${ROUTE}?form=edit.${busy.id}`)
    await screen.findByRole('textbox', { name: 'Name' })
    await user.keyboard('{Escape}')
    await closed()
    await focusIsOn(rowOf(busy.id))
  })

  it('goes to the row of a drawer that was opened by its address', async () => {
    const { user } = open(`${ROUTE}?open=${busy.id}`)
    await screen.findByRole('dialog')
    await user.keyboard('{Escape}')
    await closed()
    await focusIsOn(rowOf(busy.id))
  })

  it('goes on to the heading when the row it came back to leaves the list', async () => {
    const heading = document.createElement('h1')
    document.body.append(heading)
    let rows: Server[] = [
      { ...busy, orders: 0 },
      { ...server, id: 5, name: 'rome' }
    ]
    answer(fleet.deleteServer, null)
    const { user } = open(ROUTE, rows)
    answer(fleet.servers, () => pageOf(...rows))
    await choose(user, 'Delete')
    rows = rows.slice(1)
    await say(user, 'YES')
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Actions: paris' })).toBeNull())
    await focusIsOn(() => heading)
    heading.remove()
  })

  it('goes back to Batch from its question', async () => {
    const { user } = openOrders()
    answer(bulk.plan, { rows: 1, version: 'of 1', outcomes: { effects: [], refusals: [] } })
    await user.click(await screen.findByRole('checkbox', { name: 'Select this page' }))
    await user.click(screen.getByRole('button', { name: 'Batch' }))
    await user.click(await screen.findByRole('menuitem', { name: 'Deliver' }))
    await say(user, 'NO')
    await closed()
    await focusIsOn(() => screen.getByRole('button', { name: 'Batch' }))
  })

  it('stays with the menu of a row whose deletion could not be planned', async () => {
    const { user } = open(ROUTE, [{ ...busy, orders: 0 }])
    answerRefused(fleet.plan, 'unavailable')
    await choose(user, 'Delete')
    await screen.findByRole('alert')
    await focusIsOn(actionsOf('paris'))
  })

  it("goes back to the Edit button of a product's variant", async () => {
    const { user } = openProducts(`${PATH}/7`)
    const edit = await screen.findByRole('button', { name: 'Edit: New York / 8' })
    await user.click(edit)
    await screen.findByRole('dialog', { name: 'New York / 8' })
    await user.keyboard('{Escape}')
    await closed()
    await focusIsOn(() => edit)
  })

  it('stays on a button that works, which does nothing more until it has done', async () => {
    const row = {
      queue: 'expire-orders',
      purpose: '',
      cron: '* * * * *',
      next_run: null,
      last: { at: null, result: 'none' as const, error: null },
      asked: false
    }
    answer(settings.tasks, { schedules: [row], queues: [] })
    const done = hold(settings.runNow)
    const { user } = renderScreen(<TasksPage />, { at: '/dashboard/index/tasks' })
    const button = await screen.findByRole<HTMLButtonElement>('button', { name: /^Run/ })
    await user.click(button)
    await waitFor(() => expect(button.getAttribute('aria-busy')).toBe('true'))
    expect(button.disabled).toBe(false)
    expect(document.activeElement).toBe(button)
    // A form that is sent by the Enter key presses its button, too.
    expect(fireEvent.click(button)).toBe(false)
    await act(async () => done({ asked: true }))
    await waitFor(() => expect(button.getAttribute('aria-busy')).toBe('false'))
    expect(document.activeElement).toBe(button)
  })
})

describe('a question about many orders', () => {
  it('names the first of them, and says how many more there are', async () => {
    const staying = Array.from({ length: 20 }, (_, index) => ({ order_id: `NL-${index + 1}`, addresses: 8 }))
    const { user } = open()
    answer(fleet.plan, { ...plan, orders: 28, stays: { orders: 20, addresses: 160 }, staying })
    await choose(user, 'Drain')
    const question = await screen.findByRole('dialog')
    expect(question.textContent).toContain('NL-8, and 12 more')
    expect(question.textContent).not.toContain('NL-9')
  })
})
