import { act, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { settings } from '../api/routes.ts'
import { registerPaletteSource } from '../kit/palette.ts'
import { answer } from '../testing/answers.ts'
import { renderAt } from '../testing/render.tsx'
import { admin, customer } from '../testing/shapes.ts'
import { Layout } from './layout.tsx'

async function open(user = admin) {
  answer(settings.social, { discord: '', twitter: '' })
  const view = renderAt(<Layout />, { user })
  // The palette's code comes after the page's.
  await waitFor(async () => {
    await view.user.keyboard('{Control>}k{/Control}')
    screen.getByRole('dialog', { name: 'Go to a screen, or search' })
  })
  return view
}
const choices = () => within(screen.getByRole('dialog')).queryAllByRole('button')

describe('the command palette', () => {
  it('leads to a screen by its name, with the keyboard alone', async () => {
    const { user, where } = await open()
    await user.keyboard('orde{Enter}')
    expect(where()).toBe('/dashboard/index/orders')
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  })

  it('offers to search where a list can be searched', async () => {
    const { user, where } = await open()
    await user.keyboard('#1007 &')
    await user.click(await screen.findByRole('button', { name: 'Orders: search “#1007 &”' }))
    expect(where()).toBe('/dashboard/index/orders?search=%231007+%26')
  })

  it('shows what registered sources find, and leaves out one that fails', async () => {
    const find = vi.fn((term: string) => [{ id: '1', label: `Card ${term}`, to: '/found' }])
    const failing = { id: 'failing', title: () => 'Broken', find: () => Promise.reject(new Error('no')) }
    const { user, where } = await open()
    let remove: (() => void)[] = []
    act(() => {
      remove = [registerPaletteSource({ id: 'cards', title: () => 'Cards', find }), registerPaletteSource(failing)]
    })
    await user.keyboard('ABC')
    await user.click(await screen.findByRole('button', { name: 'Card ABC' }))
    expect(where()).toBe('/found')
    // Asked once, when the typing paused, not for every letter.
    expect(find.mock.calls.map(([term]) => term)).toEqual(['ABC'])
    act(() => remove.forEach(one => one()))
  })

  it('opens with the screens, and closes with Escape', async () => {
    const { user } = await open()
    expect(choices().length).toBeGreaterThan(0)
    await user.keyboard('{Escape}')
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  })

  it('is not there for customers', async () => {
    answer(settings.social, { discord: '', twitter: '' })
    const { user } = renderAt(<Layout />, { user: customer })
    await screen.findAllByText('alice')
    await user.keyboard('{Control>}k{/Control}')
    expect(screen.queryByRole('dialog')).toBeNull()
  })
})
