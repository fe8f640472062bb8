import { screen, waitFor } from '@testing-library/react'
import { expect, it } from 'vitest'
import { answer, answerRefused, requestsOf } from '../testing/answers.ts'
import { renderAt } from '../testing/render.tsx'
import { customer } from '../testing/shapes.ts'
import { call } from './client.ts'
import { accounts } from './routes.ts'
import { useSession } from './session.ts'

function Who() {
  return <p>{useSession().user?.username ?? 'nobody'}</p>
}

it('asks who is signed in before it believes that the session is over', async () => {
  answer(accounts.whoIsSignedIn, customer)
  answerRefused(accounts.sessions, 'unauthorized')
  renderAt(<Who />, { user: customer })
  // The call left with a cookie that a password change then replaced.
  await expect(call(accounts.sessions)).rejects.toMatchObject({ status: 401 })
  await waitFor(() => expect(requestsOf(accounts.whoIsSignedIn)).toHaveLength(1))
  expect(screen.getByText(customer.username)).toBeTruthy()

  answer(accounts.whoIsSignedIn, null)
  await expect(call(accounts.sessions)).rejects.toMatchObject({ status: 401 })
  expect(await screen.findByText('nobody')).toBeTruthy()
  expect(requestsOf(accounts.whoIsSignedIn)).toHaveLength(2)
})
