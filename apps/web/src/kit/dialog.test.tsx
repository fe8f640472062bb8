import { MantineProvider } from '@mantine/core'
import { fireEvent, screen, waitFor } from '@testing-library/react'
import { useState } from 'react'
import { describe, expect, it, vi } from 'vitest'
import { renderAt } from '../testing/render.tsx'
import { Dialog } from './dialog.tsx'

function Page({ isKept = false }) {
  const [open, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <>
      <h1>Page</h1>
      <button onClick={() => setOpen(true)}>open</button>
      {(open || isKept) && (
        <Dialog opened={isKept ? open : true} onClose={close} title="Rules">
          <button onClick={close}>done</button>
        </Dialog>
      )}
    </>
  )
}

describe.each([
  ['that is drawn only while it is open', false],
  ['that is always drawn', true]
])('a dialog %s', (_, isKept) => {
  it.each(['its close button', 'its own button', 'Escape'])('gives the focus back when it closes by %s', async way => {
    const { user } = renderAt(<Page isKept={isKept} />)
    const opener = screen.getByRole('button', { name: 'open' })
    opener.focus()
    await user.keyboard('{Enter}')
    const dialog = await screen.findByRole('dialog', { name: 'Rules' })
    await waitFor(() => expect(dialog.contains(document.activeElement)).toBe(true))
    if (way === 'Escape') await user.keyboard('{Escape}')
    else await user.click(screen.getByRole('button', { name: way === 'its own button' ? 'done' : 'Close' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(document.activeElement).toBe(opener)
  })
})

it('gives the focus back if it is closed before it got the focus', async () => {
  // With transitions: the dialog stays in the page while it fades out.
  renderAt(
    <MantineProvider withCssVariables={false} env="default">
      <Page isKept />
    </MantineProvider>
  )
  const opener = screen.getByRole('button', { name: 'open' })
  opener.focus()
  const shown = new Promise<Element>(resolve => {
    new MutationObserver((_, observer) => {
      const dialog = document.querySelector('[role="dialog"]')
      if (!dialog) return
      observer.disconnect()
      resolve(dialog)
    }).observe(document.body, { childList: true, subtree: true })
  })
  fireEvent.click(opener)
  const dialog = await shown
  expect(document.activeElement).toBe(opener)
  const focused = new Promise(done => dialog.addEventListener('focusin', done, { once: true }))
  fireEvent.keyDown(opener, { key: 'Escape' })
  await focused
  expect(document.activeElement).toBe(opener)
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(document.activeElement).toBe(opener)
})

function Nested() {
  const [step, setStep] = useState(0)
  return (
    <>
      <div data-row={7} tabIndex={-1} />
      <Dialog onClose={() => setStep(0)} title="Order">
        <input aria-label="note" />
        {step === 0 && <button onClick={() => setStep(1)}>act</button>}
      </Dialog>
      {step === 1 && (
        <Dialog onClose={() => setStep(2)} row={7} title="Question">
          <button onClick={() => setStep(2)}>yes</button>
        </Dialog>
      )}
    </>
  )
}

it('leaves the focus to the dialog below it, even if the button that opened it is gone', async () => {
  const { user } = renderAt(<Nested />)
  await user.click(await screen.findByRole('button', { name: 'act' }))
  await user.click(await screen.findByRole('button', { name: 'yes' }))
  await waitFor(() => expect(screen.queryByRole('dialog', { name: 'Question' })).toBeNull())
  const note = screen.getByLabelText('note')
  note.focus()
  expect(document.activeElement).toBe(note)
})

it('closes by a click beside it, but not by the second one of the double click that opened it', async () => {
  const { user } = renderAt(<Page />)
  await user.click(screen.getByRole('button', { name: 'open' }))
  await screen.findByRole('dialog', { name: 'Rules' })
  const beside = document.querySelector('.mantine-Modal-overlay') as HTMLElement
  const clock = vi.spyOn(performance, 'now')
  const opened = performance.now()
  clock.mockReturnValue(opened)
  fireEvent.click(beside)
  expect(screen.getByRole('dialog', { name: 'Rules' })).toBeTruthy()
  clock.mockReturnValue(opened + 1000)
  fireEvent.click(beside)
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
})
