import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { useState } from 'react'
import { describe, expect, it } from 'vitest'
import { renderAt } from '../testing/render.tsx'
import { ask as askNote, confirm, type Question } from './confirm.ts'

const question = { title: 'Revoke the key?', body: 'It cannot be undone.' }

function ask(question: Question): Promise<boolean> {
  let answer = Promise.resolve(false)
  act(() => {
    answer = confirm(question)
  })
  return answer
}

function Work() {
  const [out, setOut] = useState(false)
  const start = async () => {
    if (await confirm(question)) setOut(true)
  }
  return (
    <>
      <h1>Keys</h1>
      <button disabled={out} onClick={() => void start()}>
        Revoke
      </button>
      <button onClick={() => setOut(false)}>Answer</button>
    </>
  )
}

it('gives the focus back to a button that waits for its call once it can have it', async () => {
  const { user } = renderAt(<Work />)
  const button = screen.getByRole('button', { name: 'Revoke' })
  await user.click(button)
  await user.click(await screen.findByRole('button', { name: 'YES' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(button).toHaveProperty('disabled', true)
  expect(screen.getByRole('heading')).not.toBe(document.activeElement)
  // Imitates how a browser blurs a button that becomes disabled.
  button.removeAttribute('disabled')
  button.blur()
  button.setAttribute('disabled', '')
  expect(document.activeElement).toBe(document.body)
  fireEvent.click(screen.getByText('Answer'))
  await waitFor(() => expect(document.activeElement).toBe(button))
})

describe('confirm', () => {
  it.each([
    ['YES', true],
    ['NO', false],
    ['Close', false]
  ])('%s answers %j and closes the dialog', async (name, answer) => {
    const { user } = renderAt(null)
    const asked = ask({ ...question, danger: true })
    await user.click(await screen.findByRole('button', { name }))
    expect(await asked).toBe(answer)
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  })

  it('has the keyboard on NO, and takes Escape for NO', async () => {
    const { user } = renderAt(null)
    const asked = ask(question)
    const no = await screen.findByRole('button', { name: 'NO' })
    await waitFor(() => expect(document.activeElement).toBe(no))
    await user.keyboard('{Escape}')
    expect(await asked).toBe(false)
  })

  it('has no YES where it would be refused: it is closed, by its button or by Escape', async () => {
    const { user } = renderAt(null)
    const asked = ask({ ...question, body: 'Keys are in use.', blocked: true })
    await screen.findByText('Keys are in use.')
    expect(screen.queryByRole('button', { name: 'YES' })).toBeNull()
    const close = screen.getByRole('button', { name: 'Close' })
    await waitFor(() => expect(document.activeElement).toBe(close))
    await user.click(close)
    expect(await asked).toBe(false)
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    const again = ask({ ...question, blocked: true })
    await screen.findByRole('button', { name: 'Close' })
    await user.keyboard('{Escape}')
    expect(await again).toBe(false)
  })

  it('counts a question that another one displaces as NO, and asks the other', async () => {
    const { user } = renderAt(null)
    const first = ask(question)
    await screen.findByText(question.title)
    const second = ask({ ...question, title: 'Delete the order?', yes: 'Delete it' })
    expect(await first).toBe(false)
    await screen.findByText('Delete the order?')
    await user.click(screen.getByRole('button', { name: 'Delete it' }))
    expect(await second).toBe(true)
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  })
})

it('asks what to tell the customer, by email unless that is unticked', async () => {
  const { user } = renderAt(null)
  const note = { message: 'Message (optional)', hint: 'Kept in the history.', email: 'Email the customer' }
  const answers: unknown[] = []
  act(() => void askNote({ ...question, note }).then(answer => answers.push(answer)))
  const message = await screen.findByRole('textbox', { name: note.message, description: note.hint })
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('button', { name: 'NO' })))
  await user.type(message, 'It leaked.')
  await user.click(screen.getByRole('checkbox', { name: note.email, checked: true }))
  await user.click(screen.getByRole('button', { name: 'YES' }))
  await waitFor(() => expect(answers).toEqual([{ message: 'It leaked.', email_customer: false }]))
})
