import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { queryClient } from '../../api/query.ts'
import { isUnsaved } from '../../kit/leaving.ts'
import { openProducts, PATH, product } from './products.fixture.tsx'

const AT = `${PATH}/7`
const field = (name: string) => screen.findByRole<HTMLInputElement>('textbox', { name })
const valueOf = async (name: string) => (await field(name)).value
/** Like an expired session: the cache is empty. */
const end = ({ unmount }: ReturnType<typeof openProducts>) => {
  unmount()
  queryClient.clear()
}

describe('what is entered into a product', () => {
  it('is there again after the session ended, with the variant that was open, until it is given up', async () => {
    const before = openProducts(AT)
    await before.user.type(await field('Name'), ' mine')
    await before.user.click(screen.getByRole('button', { name: 'Edit: New York / 8' }))
    await before.user.type(await field('Location'), ' 1')
    await before.user.click(screen.getByRole('button', { name: 'Apply' }))
    await before.user.click(screen.getByRole('button', { name: 'Edit: New York / 8' }))
    await before.user.type(await field('Location'), '2')
    expect([isUnsaved('with drafts'), isUnsaved('without drafts')]).toEqual([true, false])
    end(before)
    const after = openProducts(`${AT}?variant=1100`)
    await waitFor(async () => expect(await valueOf('Location')).toBe('US East 12'))
    const dialog = within(screen.getByRole('dialog', { name: 'New York / 8' }))
    await after.user.click(dialog.getByRole('button', { name: 'Cancel' }))
    await after.user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(await valueOf('Name')).toBe('Residential mine')
    expect(screen.getByRole('cell', { name: 'US East 1' })).toBeTruthy()
    await after.user.click(screen.getByRole('button', { name: 'Back' }))
    await after.user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(window.location.pathname).toBe(PATH))
    after.unmount()
    openProducts(AT)
    expect(await valueOf('Name')).toBe('Residential')
  })

  it('is not entered over a product that was changed since', async () => {
    const before = openProducts(AT)
    await before.user.type(await field('Name'), ' mine')
    end(before)
    openProducts(AT, { ...product, product_name: 'Theirs', version: 'v8' })
    expect(await valueOf('Name')).toBe('Theirs')
  })
})
