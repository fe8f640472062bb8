import { fireEvent, screen } from '@testing-library/react'
import { Link } from 'react-router'
import { expect, it, vi } from 'vitest'
import { renderAt } from '../testing/render.tsx'
import { screens } from './manifest.ts'
import { Dashboard, preloadAt, watchLinks } from './preload.ts'

const nothing = { default: () => null }
const spies = () => {
  const loads = screens.flatMap(({ id, page }) =>
    page.preload ? [[id, vi.spyOn(page as Required<typeof page>, 'preload').mockResolvedValue(nothing)] as const] : []
  )
  const frame = vi.spyOn(Dashboard, 'preload').mockResolvedValue(nothing)
  return () => [...loads.flatMap(([id, { mock }]) => mock.calls.map(() => id)), ...frame.mock.calls.map(() => 'frame')]
}

it.each([
  ['/product', ['product']],
  ['/dashboard/index/setting', ['userSettings', 'frame']],
  ['/dashboard/index/proxies/3', ['Proxies', 'frame']],
  // The console has its own loader, and the landing page is in the main bundle.
  ['/dashboard/index/giftcard', []],
  ['/', []],
  ['/nowhere', []]
])('the code of %s is loaded with its frame', (path, wanted) => {
  const loaded = spies()
  preloadAt(path)
  expect(loaded()).toEqual(wanted)
})

it('a link that is pointed at or reached by keyboard loads what it leads to; one to elsewhere loads nothing', () => {
  const loaded = spies()
  const end = watchLinks(link => preloadAt(link.pathname))
  renderAt(
    <>
      <Link to="/login">log in</Link>
      <a href="https://elsewhere.example/product">elsewhere</a>
    </>
  )
  fireEvent.pointerOver(screen.getByText('elsewhere'))
  expect(loaded()).toEqual([])
  fireEvent.pointerOver(screen.getByText('log in'))
  fireEvent.focusIn(screen.getByText('log in'))
  expect(loaded()).toEqual(['login', 'login'])
  end()
  fireEvent.pointerOver(screen.getByText('log in'))
  expect(loaded()).toHaveLength(2)
})
