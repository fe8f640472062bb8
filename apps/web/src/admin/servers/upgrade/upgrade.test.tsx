import type { Server, Upgrade, UpgradePlan } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { fleet } from '../../../api/routes.ts'
import { answer, requestsOf } from '../../../testing/answers.ts'
import { admin } from '../../../testing/shapes.ts'
import { busy, dialog, open, ROUTE } from '../servers.fixture.tsx'

const version = '0.1.0+5eed0001'
const none = { reason: null, params: {}, msg: null }
const upgrade: Upgrade = {
  id: 5,
  state: 'stopped',
  version,
  username: 'ann',
  created_at: '2026-06-15T08:00:00.000Z',
  ended_at: null,
  servers: { waiting: 1, installing: 0, upgraded: 1, failed: 1, left_out: 1 },
  reason: 'upgrade_failed',
  params: { message: 'It broke' },
  msg: 'It broke'
}
const rows: Server[] = [busy, { ...busy, id: 7, name: 'tokyo', agent: busy.agent && { ...busy.agent, version } }]
const plan: UpgradePlan = {
  version,
  servers: [
    { id: 7, name: 'tokyo', version: '0.0.9', orders: 0, effect: 'hands_over', connections: 12 },
    { id: 4, name: 'paris', version: null, orders: 3, effect: 'restarts', connections: 1234 }
  ],
  left_out: [{ id: 8, name: 'rome', reason: 'upgrade_paused', params: {}, msg: 'The server is paused' }],
  is_free: true
}

describe('the upgrade of servers', () => {
  it('begins with the server that is chosen, after what is upgraded and what is not was shown', async () => {
    const { user, asked } = open(ROUTE, rows)
    answer(fleet.planUpgrade, plan)
    answer(fleet.startUpgrade, { ...upgrade, state: 'running', ...none })
    expect(await screen.findAllByText('Older version')).toHaveLength(1)
    for (const box of (await screen.findAllByRole('checkbox', { name: /paris|tokyo/ })).slice(0, 2))
      await user.click(box)
    await user.click(screen.getByRole('button', { name: /Batch/ }))
    await user.click(await screen.findByRole('menuitem', { name: 'Upgrade agents' }))
    const shown = within(await dialog('Upgrade agents'))
    expect(asked()['upgrade']).toContain('"ids":[4,7]')
    expect(await shown.findByText(`2 servers get version ${version}.`)).toBeTruthy()
    expect(shown.getByText('The server is paused')).toBeTruthy()
    expect(shown.getByText(/hand over: 1\. Their open connections \(12\) continue/)).toBeTruthy()
    expect(shown.getByText(/restart: 1\. Their open connections \(1,234\) close/)).toBeTruthy()
    const each = within(shown.getByRole('list', { name: 'Effect on open connections' }))
    expect(each.getAllByRole('listitem').map(row => row.textContent)).toEqual([
      'tokyoHands overOpen connections: 12',
      'parisRestartsOpen connections: 1,234'
    ])
    await user.selectOptions(shown.getByRole('combobox', { name: 'First server' }), '4')
    await user.click(shown.getByRole('button', { name: 'Upgrade' }))
    await waitFor(() =>
      expect(requestsOf(fleet.startUpgrade)).toMatchObject([{ body: { ids: [7, 4], first_id: 4, version } }])
    )
    await waitFor(() => expect(asked()['upgrade']).toBeUndefined())
  })

  it('does not begin beside another one, or where an address makes no sense', async () => {
    answer(fleet.planUpgrade, { ...plan, is_free: false })
    const { unmount } = open(`${ROUTE}?upgrade=${encodeURIComponent('{"query":{"state":"older"}}')}`, rows)
    const shown = within(await dialog('Upgrade agents'))
    expect(await shown.findByText('Another upgrade is running.')).toBeTruthy()
    expect(shown.queryByRole('button', { name: 'Upgrade' })).toBeNull()
    expect(requestsOf(fleet.planUpgrade)).toMatchObject([{ body: { selection: { query: { state: 'older' } } } }])
    unmount()
    open(`${ROUTE}?upgrade=nonsense`, rows)
    await screen.findByText('tokyo')
    expect(screen.queryByRole('dialog')).toBeNull()
  })

  it('that stopped says why, server by server, and goes on or ends by a click of those who may', async () => {
    answer(fleet.upgradeServers, [
      {
        id: 4,
        name: 'paris',
        state: 'failed',
        from_version: '0.0.9',
        reason: 'upgrade_failed',
        params: { message: 'It broke' },
        msg: 'It broke'
      },
      { id: 7, name: 'tokyo', state: 'waiting', from_version: '0.0.9', ...none }
    ])
    answer(fleet.continueUpgrade, { ...upgrade, state: 'running', ...none })
    const { user, unmount } = open(ROUTE, rows, admin, [upgrade])
    const panel = within(await screen.findByRole('region', { name: 'Server upgrade' }))
    expect(panel.getByRole('alert').textContent).toContain('It broke')
    expect(within(await panel.findByRole('list', { name: 'Servers in the upgrade' })).getByText('Failed')).toBeTruthy()
    await user.click(panel.getByRole('button', { name: 'Continue' }))
    await waitFor(() => expect(requestsOf(fleet.continueUpgrade)).toMatchObject([{ params: { id: '5' } }]))
    unmount()
    open(ROUTE, rows, { ...admin, operator_role: 'viewer' }, [upgrade])
    await screen.findByRole('region', { name: 'Server upgrade' })
    expect(screen.queryByRole('button', { name: 'Continue' })).toBeNull()
  })
})
