import type { SyncPlan, SyncRun } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { catalog } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { collection, pageOf, tag } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import ProductTags from '../product-tags/page.tsx'
import ProductTypes from '../product-types/page.tsx'
import { answerSync } from './syncs.fixture.ts'

const type = { ...collection, collection_name: 'Residential', product_count: 4 }
const plan: Extract<SyncPlan, { what: 'collections' | 'tags' }> = {
  what: 'collections',
  created: 1,
  updated: 1,
  removed: 1,
  products: 2,
  changes: [
    { kind: 'created', name: 'Mobile', fields: [] },
    { kind: 'updated', name: 'Residential', fields: [{ field: 'name', was: 'Homes', is: 'Residential' }] },
    { kind: 'removed', name: 'Old', fields: [] }
  ]
}

function openTypes(at = '/list', run?: SyncRun, shown = plan) {
  keepNothing()
  answer(catalog.collections, pageOf(type))
  answerSync(shown, run)
  return renderScreen(<ProductTypes />, { at })
}
function openTags(at = '/list') {
  keepNothing()
  answer(catalog.tags, pageOf(tag))
  answerSync({ ...plan, what: 'tags' })
  return renderScreen(<ProductTags />, { at })
}

describe('the product types', () => {
  it('are edited, and offer no Undo: no sync changes their name from then on', async () => {
    answer(catalog.updateCollection, type)
    const { user } = openTypes('/list?form=edit.3')
    const name = await screen.findByRole('textbox', { name: 'Name' })
    await user.clear(name)
    await user.type(name, 'Homes')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('successfully')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull()
    expect(requestsOf(catalog.updateCollection)).toMatchObject([{ body: { collection_name: 'Homes', version: 'v3' } }])
  })

  it('say before they are deleted how many products they have', async () => {
    answer(catalog.deleteCollection, null)
    const { user } = openTypes()
    await user.click(await screen.findByRole('button', { name: 'Delete: Residential' }))
    const question = await screen.findByRole('dialog', { name: 'Confirm deletion' })
    expect(question.textContent).toContain('Delete ? Residential, with 4 products')
    await user.click(within(question).getByRole('button', { name: 'YES' }))
    expect(await screen.findByText('successfully')).toBeTruthy()
  })

  it('are taken from the platform after what that changes was shown, and as it was shown', async () => {
    const { user, asked } = openTypes()
    await user.click(await screen.findByRole('button', { name: 'Sync' }))
    const dialog = await screen.findByRole('dialog', { name: 'Sync product types from the platform' })
    expect(asked()).toEqual({ sync: 'true' })
    expect(await within(dialog).findByText('New: 1. Changed: 1. Removed: 1. Affected products: 2.')).toBeTruthy()
    const list = within(dialog).getByRole('list', { name: 'Changes' })
    expect(
      within(list)
        .getAllByRole('listitem')
        .map(item => item.textContent)
    ).toEqual(['NewMobile', 'ChangedResidentialName: was Homes, is now Residential', 'RemovedOld'])
    expect(requestsOf(catalog.startSync)).toMatchObject([{ body: { what: 'collections' } }])
    expect(requestsOf(catalog.applySync)).toEqual([])
    await user.click(within(dialog).getByRole('button', { name: 'Apply' }))
    expect(await screen.findByText('successfully')).toBeTruthy()
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(requestsOf(catalog.applySync)).toMatchObject([{ params: { id: '4' } }])
  })
})

describe('the product tags', () => {
  it('are deleted after a question, and taken from the platform after a look at what that changes', async () => {
    answer(catalog.deleteTag, null)
    const { user } = openTags()
    await user.click(await screen.findByRole('button', { name: 'Delete: Fast' }))
    expect((await screen.findByRole('dialog', { name: 'Confirm deletion' })).textContent).toContain('Delete ?')
    await user.click(screen.getByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(catalog.deleteTag)).toHaveLength(1))
    await user.click(await screen.findByRole('button', { name: 'Sync' }))
    await user.click(await screen.findByRole('button', { name: 'Apply' }))
    await waitFor(() => expect(requestsOf(catalog.applySync)).toHaveLength(1))
    expect(requestsOf(catalog.startSync)).toMatchObject([{ body: { what: 'tags' } }])
  })
})
