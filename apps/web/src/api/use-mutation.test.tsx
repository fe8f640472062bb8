import { Button } from '@mantine/core'
import { act, screen, waitFor } from '@testing-library/react'
import { expect, it } from 'vitest'
import { hold, requestsOf } from '../testing/answers.ts'
import { renderAt } from '../testing/render.tsx'
import { call } from './client.ts'
import { accounts } from './routes.ts'
import { useMutation } from './use-mutation.ts'

function Form() {
  const send = useMutation({ mutationFn: () => call(accounts.logout) })
  return (
    <>
      <Button loading={send.isPending} onClick={() => send.mutate()}>
        Send
      </Button>
      <button>Another</button>
    </>
  )
}
const button = () => screen.getByRole('button', { name: 'Send' })

async function press() {
  const answered = hold(accounts.logout)
  const before = requestsOf(accounts.logout).length
  const { user } = renderAt(<Form />)
  await user.click(button())
  await waitFor(() => expect(requestsOf(accounts.logout)).toHaveLength(before + 1))
  expect((button() as HTMLButtonElement).disabled).toBe(true)
  // Imitates how a browser blurs a button that becomes disabled.
  screen.getByText('Another').focus()
  screen.getByText('Another').blur()
  return { user, answer: () => act(async () => answered(null)) }
}

it('a button that waited has the focus again with the answer', async () => {
  const { answer } = await press()
  expect(document.activeElement).toBe(document.body)
  await answer()
  await waitFor(() => expect(document.activeElement).toBe(button()))
})

it('keeps a focus that the user has moved', async () => {
  const { user, answer } = await press()
  await user.click(screen.getByText('Another'))
  await answer()
  await waitFor(() => expect((button() as HTMLButtonElement).disabled).toBe(false))
  expect(document.activeElement).toBe(screen.getByText('Another'))
})

it('a pressed button shows it at once, until it is drawn as one that waits', async () => {
  const answered = hold(accounts.logout)
  renderAt(<Form />)
  button().focus()
  // Nothing renders within the click itself.
  button().click()
  expect(button().hasAttribute('data-going')).toBe(true)
  await waitFor(() => expect((button() as HTMLButtonElement).disabled).toBe(true))
  await waitFor(() => expect(button().hasAttribute('data-going')).toBe(false))
  await act(async () => answered(null))
  expect(button().hasAttribute('data-going')).toBe(false)
})
