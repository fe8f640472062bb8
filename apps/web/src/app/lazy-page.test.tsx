import { MantineProvider } from '@mantine/core'
import { onlineManager } from '@tanstack/react-query'
import { act, render, screen } from '@testing-library/react'
import { Suspense } from 'react'
import { afterEach, describe, expect, it } from 'vitest'
import { Boundary } from './boundary.tsx'
import { lazyPage } from './lazy-page.ts'

afterEach(() => onlineManager.setOnline(true))

/** A page whose code can be loaded while there is a connection. */
const show = () => {
  const Page = lazyPage(() =>
    onlineManager.isOnline()
      ? Promise.resolve({ default: () => <p>the page</p> })
      : Promise.reject(new TypeError('Failed to fetch dynamically imported module'))
  )
  return render(
    <Boundary>
      <Suspense fallback={<p>waiting</p>}>
        <Page />
      </Suspense>
    </Boundary>
  )
}

describe('the code of a page', () => {
  it('is waited for without a connection, and shown when there is one again', async () => {
    onlineManager.setOnline(false)
    show()
    await act(() => Promise.resolve())
    expect(screen.getByText('waiting')).toBeTruthy()
    act(() => onlineManager.setOnline(true))
    expect(await screen.findByText('the page')).toBeTruthy()
  })

  it('that is gone while there is a connection says so', async () => {
    const Page = lazyPage(() => Promise.reject(new TypeError('Failed to fetch dynamically imported module')))
    render(
      <MantineProvider env="test">
        <Boundary>
          <Suspense>
            <Page />
          </Suspense>
        </Boundary>
      </MantineProvider>
    )
    expect(await screen.findByRole('alert')).toBeTruthy()
  })
})
