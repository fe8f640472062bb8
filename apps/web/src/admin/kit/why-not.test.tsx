import { screen } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { fleet } from '../../api/routes.ts'
import { requestsOf } from '../../testing/answers.ts'
import { busy, open as openServers } from '../servers/servers.fixture.tsx'

const pausedServer = { ...busy, status: 'paused' as const }
const openMenu = async (user: ReturnType<typeof openServers>['user']) => {
  await user.click(await screen.findByRole('button', { name: 'Actions: paris' }))
  return screen.findByRole('menuitem', { name: 'Pause', description: 'The server is already paused.' })
}

describe('an action that is not possible now', () => {
  it('says why in its description, is reached by the keyboard, and does nothing', async () => {
    const { user } = openServers(undefined, [pausedServer])
    const entry = await openMenu(user)
    expect(entry.getAttribute('aria-disabled')).toBe('true')
    for (let step = 0; step < 20 && document.activeElement !== entry; step++) await user.keyboard('{ArrowDown}')
    expect(document.activeElement).toBe(entry)
    await user.keyboard('{Enter}')
    expect(requestsOf(fleet.pause)).toEqual([])
    expect(requestsOf(fleet.plan)).toEqual([])
    expect(screen.queryByRole('dialog')).toBeNull()
  })
})
