import { act, fireEvent, render, screen } from '@testing-library/react'
import { lazy, Suspense, type ComponentType } from 'react'
import { BrowserRouter, Link, Route, Routes } from 'react-router'
import { afterEach, expect, it } from 'vitest'
import { useNavigationIndicator } from './pages.tsx'

const isGoing = () => document.body.hasAttribute('data-going')
let come: (code: { default: ComponentType }) => void = () => {}
const Second = lazy(() => new Promise<{ default: ComponentType }>(done => (come = done)))

function App() {
  useNavigationIndicator()
  return (
    <Suspense fallback={<p>nothing yet</p>}>
      <Routes>
        <Route
          path="/first"
          element={
            <>
              <Link to="/second">on</Link>
              <Link to="/first#part">down</Link>
              <button>stays</button>
            </>
          }
        />
        <Route path="/second" element={<Second />} />
      </Routes>
    </Suspense>
  )
}
const open = () => {
  window.history.replaceState(null, '', '/first')
  return render(<App />, { wrapper: BrowserRouter })
}
afterEach(() => window.history.replaceState(null, '', '/'))

it('a click on a link is answered before the place is there, and no longer', async () => {
  open()
  expect(isGoing()).toBe(false)
  fireEvent.click(screen.getByText('stays'))
  expect(isGoing()).toBe(false)
  fireEvent.click(screen.getByText('on'))
  expect(window.location.pathname).toBe('/second')
  // The router renders in a transition, which waits for the code.
  expect(screen.getByText('stays')).toBeTruthy()
  expect(isGoing()).toBe(true)
  await act(async () => come({ default: () => <p>the second</p> }))
  expect(screen.getByText('the second')).toBeTruthy()
  expect(isGoing()).toBe(false)
})

it('a part of the same page is no other place', () => {
  open()
  fireEvent.click(screen.getByText('down'))
  expect(isGoing()).toBe(false)
})
