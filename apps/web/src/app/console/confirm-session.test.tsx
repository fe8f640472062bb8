import type { SecondFactors } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { expect, it } from 'vitest'
import { call } from '../../api/client.ts'
import { accounts, secondFactor } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { failureText } from '../../i18n/failures.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { notify } from '../../kit/notify.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { admin } from '../../testing/shapes.ts'
import { ConfirmSession } from './confirm-session.tsx'

const none: SecondFactors = { factors: [], recovery_codes_left: 0, required: false, passkeys: true }
const phone = { id: 1, method: 'totp' as const, name: 'Phone', created_at: admin.created_at, last_used_at: null }
const needed = { data: { minutes: 10 } }

function Work() {
  const ban = useMutation({
    mutationFn: () => Promise.all([7, 8].map(id => call(accounts.ban, { params: { id } }))),
    onSuccess: () => notify('good', 'Banned'),
    onError: error => notify('bad', failureText(error))
  })
  return (
    <Dialog title="Users" onClose={() => {}}>
      <button onClick={() => ban.mutate()}>Ban</button>
      <ConfirmSession />
    </Dialog>
  )
}

function open(data = none) {
  answer(secondFactor.secondFactors, data)
  answerRefused(accounts.ban, 'confirmation_needed', needed)
  answer(secondFactor.confirmSession, () => {
    answer(accounts.ban, null)
    return null
  })
  return renderAt(<Work />, { user: admin })
}
const dialog = async () => within(await screen.findByRole('dialog', { name: 'Confirm that it is you' }))
const password = 'Enter your password again'

it('asks once for calls that are refused together, and repeats them', async () => {
  const { user } = open()
  await user.click(await screen.findByRole('button', { name: 'Ban' }))
  const shown = await dialog()
  expect(shown.getByText(/will not ask again for 10 minutes/)).toBeTruthy()
  const field = shown.getByLabelText(password, { selector: 'input' })
  await waitFor(() => expect(document.activeElement).toBe(field))
  await user.keyboard('Secret#123{Enter}')
  expect(await screen.findByText('Banned')).toBeTruthy()
  expect(requestsOf(secondFactor.confirmSession)).toMatchObject([{ body: { password: 'Secret#123' } }])
  expect(requestsOf(accounts.ban).map(({ params }) => params['id'])).toEqual(['7', '8', '7', '8'])
  await waitFor(() => expect(screen.queryByRole('dialog', { name: 'Confirm that it is you' })).toBeNull())
})

it('asks for the second factor beside the password, and shows which one was wrong', async () => {
  const { user } = open({ ...none, factors: [phone], recovery_codes_left: 9 })
  await user.click(await screen.findByRole('button', { name: 'Ban' }))
  const shown = await dialog()
  const code = await shown.findByLabelText('Code from your authenticator app')
  await user.type(shown.getByLabelText(password, { selector: 'input' }), 'Secret#123{Enter}')
  expect(requestsOf(secondFactor.confirmSession)).toEqual([])
  answerRefused(secondFactor.confirmSession, 'wrong_second_factor', { data: { errors: { code: 'Wrong code' } } })
  await user.type(code, '123456{Enter}')
  expect(await shown.findByText('Wrong code')).toBeTruthy()
  expect(code).toHaveProperty('value', '')
  await user.click(shown.getByRole('button', { name: 'Use a recovery code' }))
  answer(secondFactor.confirmSession, () => {
    answer(accounts.ban, null)
    return null
  })
  await user.type(await shown.findByLabelText('Recovery code'), 'abcde-fghij{Enter}')
  expect(await screen.findByText('Banned')).toBeTruthy()
  expect(requestsOf(secondFactor.confirmSession)).toMatchObject([
    { body: { password: 'Secret#123', second_factor: { method: 'totp', code: '123456' } } },
    { body: { password: 'Secret#123', second_factor: { method: 'recovery' } } }
  ])
})

it('given up by Escape, says that nothing has changed and leaves the dialog below open', async () => {
  const { user } = open()
  await user.click(await screen.findByRole('button', { name: 'Ban' }))
  await (await dialog()).findByLabelText(password, { selector: 'input' })
  await user.keyboard('{Escape}')
  expect(await screen.findByText('Please confirm that it is you. Nothing has changed.')).toBeTruthy()
  await waitFor(() => expect(screen.queryByRole('dialog', { name: 'Confirm that it is you' })).toBeNull())
  expect(screen.getByRole('dialog', { name: 'Users' })).toBeTruthy()
  expect(requestsOf(accounts.ban)).toHaveLength(2)
})
