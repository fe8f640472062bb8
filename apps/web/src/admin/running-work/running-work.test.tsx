import type { BulkRun, Server, Upgrade } from '@netlet/contract'
import { screen, waitFor } from '@testing-library/react'
import { beforeEach, describe, expect, it } from 'vitest'
import { refresh } from '../../api/query.ts'
import { bulk, catalog, fleet } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { admin, bulkRun, pageOf, server } from '../../testing/shapes.ts'
import { readyRun, syncRun } from '../catalog-sync/syncs.fixture.ts'
import { renderScreen } from '../kit/screen.fixture.tsx'
import RunningWork from './running-work.tsx'

const run: BulkRun = {
  ...bulkRun,
  action: 'order.change',
  total: 40,
  done: 12,
  succeeded: 11,
  refused: 1,
  username: 'ann'
}
const upgrade: Upgrade = {
  id: 5,
  state: 'running',
  version: '0.1.0+5eed0001',
  username: 'ann',
  created_at: '2026-06-15T08:00:00.000Z',
  ended_at: null,
  servers: { waiting: 2, installing: 2, upgraded: 3, failed: 1, left_out: 1 },
  reason: null,
  params: {},
  msg: null
}
const step = { status: 'done' as const, message: '', output: '', started_at: run.created_at, ended_at: run.created_at }
const provisioning: NonNullable<Server['provisioning']> = {
  status: 'running',
  cancelling: false,
  step: 'upload',
  message: '',
  at: run.created_at,
  run_init: true,
  steps: [
    { ...step, step: 'connect' },
    { ...step, step: 'upload', status: 'running', ended_at: null }
  ]
}
const installing: Server = { ...server, id: 7, name: 'paris', provisioning }
const ofAnUpgrade = { ...provisioning, as_applied: true }
const ended: BulkRun = { ...run, id: 8, state: 'done', done: 40 }

describe('work that runs', () => {
  beforeEach(() => {
    answer(fleet.upgrades, pageOf())
    answer(fleet.servers, pageOf())
    answer(catalog.syncRuns, [])
  })

  it('is shown with its progress on every screen, for every operator, and links to its rows', async () => {
    answer(bulk.runs, pageOf(run, ended))
    renderScreen(<RunningWork />, { at: '/dashboard/index/tickets' })
    expect(await screen.findByText('12 of 40 done, 1 refused')).toBeTruthy()
    expect(screen.getByText('ann')).toBeTruthy()
    expect(screen.getAllByRole('progressbar').map(bar => bar.getAttribute('aria-valuenow'))).toEqual(['30'])
    expect(screen.getByRole('link', { name: 'Show' }).getAttribute('href')).toBe('/dashboard/index/orders?run=9')
    answer(bulk.runs, pageOf({ ...run, state: 'done', done: 40 }, ended))
    await refresh(bulk.runs)
    await waitFor(() => expect(screen.queryByRole('region')).toBeNull())
  })

  it('is cancelled from there, by those who may do what it does', async () => {
    answer(bulk.runs, pageOf(run))
    answer(bulk.cancel, null)
    const { user, unmount } = renderScreen(<RunningWork />, { at: '/dashboard/index/tickets' })
    await user.click(await screen.findByRole('button', { name: /^Cancel/ }))
    await waitFor(() => expect(requestsOf(bulk.cancel)).toMatchObject([{ params: { id: '9' } }]))
    unmount()
    renderScreen(<RunningWork />, { at: '/dashboard/index/tickets', as: { ...admin, operator_role: 'viewer' } })
    expect(await screen.findByText('12 of 40 done, 1 refused')).toBeTruthy()
    expect(screen.queryByRole('button', { name: /^Cancel/ })).toBeNull()
  })

  it('is an installation over SSH, too, which is cancelled from there, but not where its steps are shown', async () => {
    answer(bulk.runs, pageOf())
    answer(fleet.servers, pageOf(installing, { ...installing, id: 8, name: 'rome', provisioning: ofAnUpgrade }))
    answer(fleet.cancelProvision, { ...installing, provisioning: { ...provisioning, cancelling: true } })
    const { user, unmount } = renderScreen(<RunningWork />, { at: '/dashboard/index/tickets' })
    expect(await screen.findByText('Installation on paris')).toBeTruthy()
    expect(requestsOf(fleet.servers)[0]?.query).toMatchObject({ state: 'installing' })
    expect(screen.queryByText('Installation on rome')).toBeNull()
    expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('33')
    expect(screen.getByRole('link', { name: 'Show' }).getAttribute('href')).toBe('/dashboard/index/servers?open=7')
    await user.click(screen.getByRole('button', { name: /^Cancel/ }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(fleet.cancelProvision)).toMatchObject([{ params: { id: '7' } }]))
    unmount()
    renderScreen(<RunningWork />, { at: '/dashboard/index/servers?open=7' })
    await waitFor(() => expect(requestsOf(fleet.servers).length).toBeGreaterThan(1))
    expect(screen.queryByText('Installation on paris')).toBeNull()
  })

  it('is an upgrade of servers, too, but on the screen that shows it whole', async () => {
    answer(bulk.runs, pageOf())
    answer(fleet.upgrades, pageOf(upgrade))
    answer(fleet.endUpgrade, { ...upgrade, state: 'ending' })
    const { user, unmount } = renderScreen(<RunningWork />, { at: '/dashboard/index/tickets' })
    expect(await screen.findByText('3 of 8 upgraded, 1 failed')).toBeTruthy()
    expect(screen.getByRole('link', { name: 'Show' }).getAttribute('href')).toBe('/dashboard/index/servers')
    await user.click(screen.getByRole('button', { name: 'End' }))
    await waitFor(() => expect(requestsOf(fleet.endUpgrade)).toMatchObject([{ params: { id: '5' } }]))
    unmount()
    renderScreen(<RunningWork />, { at: '/dashboard/index/servers' })
    await waitFor(() => expect(requestsOf(fleet.upgrades).length).toBeGreaterThan(1))
    expect(screen.queryByText('3 of 8 upgraded, 1 failed')).toBeNull()
  })

  it('includes a sync until its plan is decided, except where its dialog is open', async () => {
    answer(bulk.runs, pageOf())
    answer(catalog.syncRuns, [syncRun(), readyRun({ id: 5, what: 'tags', username: 'bob' })])
    answer(catalog.cancelSync, null)
    const { user, unmount } = renderScreen(<RunningWork />, { at: '/dashboard/index/tickets' })
    expect((await screen.findByText(/^Reading products/)).textContent).toBe('Reading products 20 of 80')
    expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('25')
    expect(screen.getByText('Comparison done: review the changes')).toBeTruthy()
    expect(screen.getAllByRole('link', { name: 'Show' }).map(link => link.getAttribute('href'))).toEqual([
      '/dashboard/index/productManager?sync=true',
      '/dashboard/index/productTag?sync=true'
    ])
    await user.click(screen.getByRole('button', { name: 'Cancel: Sync tags from the platform' }))
    await waitFor(() => expect(requestsOf(catalog.cancelSync)).toMatchObject([{ params: { id: '5' } }]))
    unmount()
    renderScreen(<RunningWork />, { at: '/dashboard/index/productTag?sync=true' })
    expect(await screen.findByText('ann')).toBeTruthy()
    expect(screen.queryByText('bob')).toBeNull()
  })

  it('is a sync that others may only watch: how far it is, and no plan that they cannot apply', async () => {
    answer(bulk.runs, pageOf())
    answer(catalog.syncRuns, [syncRun(), readyRun({ id: 5, what: 'tags', username: 'bob' })])
    renderScreen(<RunningWork />, { at: '/dashboard/index/tickets', as: { ...admin, operator_role: 'viewer' } })
    expect(await screen.findByText('ann')).toBeTruthy()
    expect(screen.queryByText('bob')).toBeNull()
    expect(screen.queryByRole('button', { name: /^Cancel/ })).toBeNull()
  })
})
