import type { LastSync, SyncPlan, SyncRun } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { catalog } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { refresh } from '../../api/query.ts'
import { admin } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import { Products } from '../products/list.tsx'
import { answerSync, failedRun, readyRun, syncRun } from './syncs.fixture.ts'

const plan: Extract<SyncPlan, { what: 'catalogue' }> = {
  what: 'catalogue',
  parts: [
    {
      part: 'products',
      created: 0,
      updated: 0,
      removed: 1,
      changes: [{ kind: 'removed', name: 'Old plan', fields: [] }]
    },
    {
      part: 'prices',
      created: 0,
      updated: 201,
      removed: 0,
      changes: [{ kind: 'updated', name: 'Metro: London', fields: [{ field: 'price', was: '2.20', is: '2.50' }] }]
    },
    { part: 'collections', created: 0, updated: 0, removed: 0, changes: [] },
    {
      part: 'tags',
      created: 1,
      updated: 0,
      removed: 0,
      changes: [{ kind: 'created', name: 'acl', fields: [{ field: 'visibility', was: '', is: 'internal' }] }]
    }
  ],
  products: 2,
  internal: [
    { kind: 'product', name: 'Access rules', because: [] },
    { kind: 'tag', name: 'acl', because: ['Access rules'] }
  ],
  offered: [{ id: '9', name: 'Brand new' }]
}
const done: LastSync = {
  id: 5,
  what: 'catalogue',
  username: 'boss',
  created_at: '2026-06-15T08:00:00.000Z',
  created: 1,
  updated: 2,
  removed: 3,
  undone_at: null,
  changed: [],
  changed_count: 0
}

type Shown = { last?: LastSync | null; shown?: typeof plan; run?: SyncRun | null; at?: string; as?: typeof admin }

function open({ last = null, shown = plan, run = readyRun(), at = '/list?sync=true', as = admin }: Shown = {}) {
  keepNothing()
  const none = { data: [], total: 0, total_exact: true, limit: 10, offset: 0, next: null }
  for (const list of [catalog.products, catalog.collections, catalog.tags]) answer(list, none)
  const sync = answerSync(shown, run ?? undefined)
  answer(catalog.lastSync, last)
  return { ...renderScreen(<Products />, { at, as }), sync }
}
const texts = (list: HTMLElement) =>
  within(list)
    .getAllByRole('listitem')
    .map(item => item.textContent)

describe('the sync of everything', () => {
  it('shows by part what it would add, change and hide, what is internal and why, and what it does not add', async () => {
    open()
    const prices = await screen.findByRole('region', { name: 'Prices' })
    expect(texts(within(prices).getByRole('list'))).toEqual(['ChangedMetro: LondonPrice: was 2.20, is now 2.50'])
    expect(within(prices).getByText('And 200 more.')).toBeTruthy()
    const tags = screen.getByRole('region', { name: 'Tags' })
    expect(texts(within(tags).getByRole('list'))).toEqual(['NewaclVisibility: was –, is now hidden, internal'])
    expect(screen.queryByRole('region', { name: 'Product types' })).toBeNull()
    const internal = screen.getByRole('region', { name: 'Internal, hidden from visitors' })
    expect(texts(within(internal).getByRole('list'))).toEqual([
      'Access rules sells access rules',
      'acl used only by Access rules, which sells access rules'
    ])
    expect(screen.getByText('Brand new')).toBeTruthy()
    expect(screen.queryByRole('region', { name: 'Last sync' })).toBeNull()
  })

  it('begins with the button and shows how far it is, in every tab and after a reload, until it is ready', async () => {
    const { user, sync } = open({ at: '/list', run: null })
    answer(catalog.startSync, () => (sync.now = syncRun({ step: 'waiting', done: 0, total: null })))
    await user.click(await screen.findByRole('button', { name: 'Sync' }))
    const dialog = await screen.findByRole('dialog')
    expect(await within(dialog).findByText('Waiting to start')).toBeTruthy()
    expect(requestsOf(catalog.startSync)).toMatchObject([{ body: { what: 'catalogue' } }])
    sync.now = syncRun()
    await refresh(catalog.syncRuns)
    expect((await within(dialog).findByText(/^Reading products/)).textContent).toBe('Reading products 20 of 80')
    expect(within(dialog).getByRole('progressbar').getAttribute('aria-valuenow')).toBe('25')
    expect(dialog.textContent).toContain('Started by ann')
    sync.now = readyRun()
    await refresh(catalog.syncRuns)
    expect(await within(dialog).findByRole('button', { name: 'Apply' })).toBeTruthy()
    expect(requestsOf(catalog.startSync)).toHaveLength(1)
  })

  it.each([
    ['that goes on', syncRun()],
    ['that is ready', readyRun()]
  ])('shows the one %s, of whoever asked for it, and begins no other', async (_which, run) => {
    const { user } = open({ at: '/list', run })
    await user.click(await screen.findByRole('button', { name: 'Sync' }))
    expect((await screen.findByRole('dialog')).textContent).toContain('ann')
    expect(requestsOf(catalog.startSync)).toEqual([])
  })

  it('starts again if a plan is too old to be applied', async () => {
    const { user } = open({ at: '/list', run: readyRun({ ready_at: '2026-01-01T00:00:00.000Z' }) })
    await user.click(await screen.findByRole('button', { name: 'Sync' }))
    await waitFor(() => expect(requestsOf(catalog.startSync)).toHaveLength(1))
  })

  it('is cancelled while it reads; a link to it begins none', async () => {
    const { user } = open({ run: syncRun() })
    await user.click(await screen.findByRole('button', { name: 'Cancel' }))
    expect(await screen.findByText('No changes were made.')).toBeTruthy()
    expect(requestsOf(catalog.cancelSync)).toMatchObject([{ params: { id: '4' } }])
    expect(requestsOf(catalog.startSync)).toEqual([])
    // The focused element is gone, and the dialog has the focus.
    expect(screen.getByRole('dialog').contains(document.activeElement)).toBe(true)
    await user.click(screen.getByRole('button', { name: 'Compare now' }))
    expect(await screen.findByRole('button', { name: 'Apply' })).toBeTruthy()
  })

  it('applies what was seen, says how far that is, and what came of it', async () => {
    const { user, sync } = open()
    answer(catalog.applySync, () => (sync.now = syncRun({ state: 'applying', step: 'applying', done: 5, total: 10 })))
    await user.click(await screen.findByRole('button', { name: 'Apply' }))
    expect((await screen.findByText(/^Changing products/)).textContent).toBe('Changing products 5 of 10')
    sync.now = { ...syncRun(), state: 'applied', counts: { created: 1, updated: 201, removed: 1 } }
    await refresh(catalog.syncRuns)
    expect(await screen.findByText('successfully')).toBeTruthy()
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(requestsOf(catalog.applySync)).toMatchObject([{ params: { id: '4' } }])
  })

  it('says that the plan is not true any more, and compares again', async () => {
    const { user, sync } = open()
    answer(catalog.applySync, () => (sync.now = failedRun()))
    await user.click(await screen.findByRole('button', { name: 'Apply' }))
    expect((await screen.findByRole('alert')).textContent).toContain('This has changed since you opened it')
    await user.click(screen.getByRole('button', { name: 'Try again' }))
    expect(await screen.findByRole('button', { name: 'Apply' })).toBeTruthy()
  })

  it('says at once why it cannot be applied, or asked for', async () => {
    const { user } = open()
    answerRefused(catalog.applySync, 'stale')
    await user.click(await screen.findByRole('button', { name: 'Apply' }))
    expect((await screen.findByRole('alert')).textContent).toContain('This has changed since you opened it')
    answerRefused(catalog.startSync, 'role_not_allowed')
    await user.click(screen.getByRole('button', { name: 'Compare again' }))
    expect(await screen.findByText(/role does not allow/)).toBeTruthy()
  })

  it('undoes the last one after a question', async () => {
    answer(catalog.undoSync, null)
    const { user } = open({ last: done, shown: { ...plan, parts: [], products: 0 } })
    expect(await screen.findByText('No changes')).toBeTruthy()
    const last = await screen.findByRole('region', { name: 'Last sync' })
    expect(last.textContent).toContain('Last full sync by boss')
    await user.click(within(last).getByRole('button', { name: 'Undo the last sync' }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(catalog.undoSync)).toMatchObject([{ params: { id: '5' } }]))
  })

  it('says what has changed since where it cannot be undone', async () => {
    const { user } = open({ last: { ...done, changed: ['Metro: London'], changed_count: 1 } })
    const last = await screen.findByRole('region', { name: 'Last sync' })
    await user.click(within(last).getByRole('button', { name: /Undo the last sync/ }))
    expect((await screen.findAllByText('1 entry has changed since: Metro: London')).length).toBeGreaterThan(0)
    expect(requestsOf(catalog.undoSync)).toEqual([])
  })
})
