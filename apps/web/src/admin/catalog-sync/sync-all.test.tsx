import type { CatalogPreview, LastSync } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { catalog } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import { Products } from '../products/list.tsx'

const plan: CatalogPreview = {
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
  offered: [{ id: '9', name: 'Brand new' }],
  version: 'plan-1'
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

function open(last: LastSync | null = null, shown: CatalogPreview = plan) {
  keepNothing()
  const none = { data: [], total: 0, total_exact: true, limit: 10, offset: 0, next: null }
  for (const list of [catalog.products, catalog.collections, catalog.tags]) answer(list, none)
  answer(catalog.previewSync, shown)
  answer(catalog.lastSync, last)
  return renderScreen(<Products />, { at: '/list?sync=true' })
}
const texts = (list: HTMLElement) =>
  within(list)
    .getAllByRole('listitem')
    .map(item => item.textContent)

describe('the sync of everything', () => {
  it('shows by part what it would add, change and hide, what is internal by which rule, and what it does not add', async () => {
    open()
    const prices = await screen.findByRole('region', { name: 'Prices' })
    expect(texts(within(prices).getByRole('list'))).toEqual(['ChangedMetro: LondonPrice: was 2.20, is now 2.50'])
    expect(within(prices).getByText('And 200 more.')).toBeTruthy()
    const tags = screen.getByRole('region', { name: 'Tags' })
    expect(texts(within(tags).getByRole('list'))).toEqual(['NewaclVisitors: was –, is now hidden, internal'])
    expect(screen.queryByRole('region', { name: 'Product types' })).toBeNull()
    const internal = screen.getByRole('region', { name: 'Internal, hidden from visitors' })
    expect(texts(within(internal).getByRole('list'))).toEqual([
      'Access rules holds access rules',
      'acl only carried by Access rules, which holds access rules'
    ])
    expect(screen.getByText('Brand new')).toBeTruthy()
    expect(screen.queryByRole('region', { name: 'Last sync' })).toBeNull()
  })

  it('applies what was seen, and shows the plan again where that has changed', async () => {
    answerRefused(catalog.sync, 'stale')
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Apply' }))
    expect((await screen.findByRole('alert')).textContent).toContain('This was changed meanwhile')
    await waitFor(() => expect(requestsOf(catalog.previewSync)).toHaveLength(2))
    answer(catalog.sync, { created: 1, updated: 201, removed: 1 })
    await user.click(await screen.findByRole('button', { name: 'Apply' }))
    expect(await screen.findByText('successfully')).toBeTruthy()
    expect(requestsOf(catalog.sync).map(one => one.body)).toEqual([{ plan: 'plan-1' }, { plan: 'plan-1' }])
  })

  it('undoes the last one after a question', async () => {
    answer(catalog.undoSync, null)
    const { user } = open(done, { ...plan, parts: [], products: 0 })
    expect(await screen.findByText('Nothing to do')).toBeTruthy()
    const last = await screen.findByRole('region', { name: 'Last sync' })
    expect(last.textContent).toContain('Last sync of everything by boss')
    await user.click(within(last).getByRole('button', { name: 'Undo the last sync' }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(catalog.undoSync)).toMatchObject([{ params: { id: '5' } }]))
  })

  it('says what has changed since where it cannot be undone', async () => {
    const { user } = open({ ...done, changed: ['Metro: London'], changed_count: 1 })
    const last = await screen.findByRole('region', { name: 'Last sync' })
    await user.click(within(last).getByRole('button', { name: /Undo the last sync/ }))
    expect((await screen.findAllByText('1 of it changed since: Metro: London')).length).toBeGreaterThan(0)
    expect(requestsOf(catalog.undoSync)).toEqual([])
  })
})
