import type { Server } from '@netlet/contract'
import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { fleet, settings } from '../../api/routes.ts'
import { answer, hold } from '../../testing/answers.ts'
import { pageOf, server } from '../../testing/shapes.ts'
import { busy, choose, open, ROUTE, say } from '../servers/servers.fixture.tsx'
import TasksPage from '../tasks/page.tsx'
import { renderScreen } from './screen.fixture.tsx'

type User = ReturnType<typeof open>['user']

const closed = () => waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
const focusIsOn = (find: () => HTMLElement | null) => waitFor(() => expect(document.activeElement).toBe(find()))
const actionsOf = (name: string) => () => screen.getByRole('button', { name: `Actions: ${name}` })

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
    // Enter in a form also presses its button.
    expect(fireEvent.click(button)).toBe(false)
    await act(async () => done({ asked: true }))
    await waitFor(() => expect(button.getAttribute('aria-busy')).toBe('false'))
    expect(document.activeElement).toBe(button)
  })
})
