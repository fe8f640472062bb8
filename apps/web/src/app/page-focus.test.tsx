import { act, screen, waitFor } from '@testing-library/react'
import { useState } from 'react'
import { Link, useLocation, useNavigate } from 'react-router'
import { describe, expect, it } from 'vitest'
import { useTitle } from '../kit/use-title.ts'
import { renderAt } from '../testing/render.tsx'
import { CONTENT, PageFocus } from './page-focus.tsx'

let show = () => {}

/** A page whose content appears when `show` is called, like a lazy page. */
function Page({ name }: { name: string }) {
  const [there, setThere] = useState(name === 'First')
  show = () => setThere(true)
  useTitle(name)
  return there ? <h1>{name}</h1> : null
}

function App() {
  const { pathname, search } = useLocation()
  const navigate = useNavigate()
  const name = pathname === '/first' ? 'First' : 'Second'
  return (
    <>
      <PageFocus />
      <Link to="/second">on</Link>
      <button onClick={() => void navigate('?page=2')}>next page</button>
      <input aria-label="field" />
      <main id={CONTENT}>
        <Page key={name} name={name} />
        {!search.includes('id') && <button onClick={() => void navigate('?id=7')}>one of a list</button>}
      </main>
    </>
  )
}
const open = () => renderAt(<App />, { at: '/first' })

describe('the focus', () => {
  it('stays where it is on the first page, and where only a parameter changes', async () => {
    const { user, where } = open()
    expect(document.activeElement).toBe(document.body)
    expect(screen.getByRole('status').textContent).toBe('')
    await user.click(screen.getByRole('button', { name: 'next page' }))
    expect(where()).toBe('/first?page=2')
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'next page' }))
  })

  it('goes to the heading where what had it is gone with the parameter', async () => {
    const { user } = open()
    await user.click(screen.getByRole('button', { name: 'one of a list' }))
    await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('heading')))
  })

  it('goes to the heading of another page once that is there, and its title is told', async () => {
    const { user } = open()
    await user.click(screen.getByRole('link'))
    expect(document.activeElement).toBe(screen.getByRole('link'))
    act(() => show())
    await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('heading')))
    expect(screen.getByRole('status').textContent).toBe('Second')
  })

  it('stays where the user has moved it', async () => {
    const { user } = open()
    await user.click(screen.getByRole('link'))
    screen.getByRole('textbox').focus()
    act(() => show())
    await screen.findByRole('heading', { name: 'Second' })
    expect(document.activeElement).toBe(screen.getByRole('textbox'))
  })
})
