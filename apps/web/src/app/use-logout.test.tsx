import { useQuery } from '@tanstack/react-query'
import { act, screen, waitFor } from '@testing-library/react'
import { useState, type ReactNode } from 'react'
import { Route, Routes } from 'react-router'
import { expect, it, vi } from 'vitest'
import { read } from '../api/query.ts'
import { accounts, bulk, orders } from '../api/routes.ts'
import { onLogout } from '../api/session.ts'
import { useLeaveGuard } from '../kit/leave-guard.ts'
import { isUnsaved } from '../kit/leaving.ts'
import { answer, answerRefused, hold, holdRefused, requestsOf } from '../testing/answers.ts'
import { renderAt } from '../testing/render.tsx'
import { admin, order, pageOf } from '../testing/shapes.ts'
import { useLogout } from './header.tsx'

function Screen() {
  const { mutate } = useLogout()
  const [more, setMore] = useState(false)
  const { data } = useQuery(read(orders.list))
  return (
    <>
      <p>{data ? `${data.total} in total` : 'asking'}</p>
      <button onClick={() => mutate()}>Logout</button>
      <button onClick={() => setMore(true)}>More</button>
      {more && <More />}
    </>
  )
}
/** A part of the screen whose code loads late. */
function More() {
  useQuery(read(bulk.runs))
  return null
}
/** A form with unsaved input. */
function Unsaved() {
  useLeaveGuard(true)
  return null
}
const open = (form: ReactNode = null) =>
  renderAt(
    <Routes>
      <Route path="/login" element={<p>login page</p>} />
      <Route
        path="*"
        element={
          <>
            <Screen />
            {form}
          </>
        }
      />
    </Routes>,
    { at: '/dashboard/index/orders', user: admin }
  )

it('asks for nothing once the session ends, and takes back what it has asked for', async () => {
  const arrive = hold(orders.list)
  const loggedOut = hold(accounts.logout)
  const { user } = open()
  await user.click(screen.getByText('Logout'))
  await waitFor(() => expect(requestsOf(accounts.logout)).toHaveLength(1))
  await user.click(screen.getByText('More'))
  act(() => arrive(pageOf(order)))
  expect(await screen.findByText('asking')).toBeTruthy()
  act(() => loggedOut(null))
  await screen.findByText('login page')
  expect(requestsOf(bulk.runs)).toEqual([])
})

it('goes on as before where the session did not end', async () => {
  hold(orders.list)
  answer(bulk.runs, pageOf())
  const refuse = holdRefused(accounts.logout, 'internal')
  const { user } = open()
  await user.click(screen.getByText('Logout'))
  await waitFor(() => expect(requestsOf(accounts.logout)).toHaveLength(1))
  await user.click(screen.getByText('More'))
  answer(orders.list, pageOf(order))
  act(() => refuse())
  expect(await screen.findByText('1 in total')).toBeTruthy()
  await waitFor(() => expect(requestsOf(bulk.runs)).not.toEqual([]))
})

it('asks before what is not saved is lost', async () => {
  answer(orders.list, pageOf(order))
  answer(accounts.logout, null)
  const { user } = open(<Unsaved />)
  await user.click(screen.getByText('Logout'))
  await screen.findByText('Discard changes?')
  expect(isUnsaved('without drafts')).toBe(true)
  await user.click(screen.getByRole('button', { name: 'NO' }))
  await waitFor(() => expect(screen.queryByText('Discard changes?')).toBeNull())
  expect(requestsOf(accounts.logout)).toEqual([])
  await user.click(screen.getByText('Logout'))
  await user.click(await screen.findByRole('button', { name: 'YES' }))
  await screen.findByText('login page')
})

it('is reported as a logout once it has happened', async () => {
  const listener = vi.fn()
  onLogout(listener)
  answer(orders.list, pageOf(order))
  answerRefused(accounts.logout, 'internal')
  const { user } = open()
  await user.click(screen.getByText('Logout'))
  await screen.findByText(/please try again/i)
  expect(listener).not.toHaveBeenCalled()
  answer(accounts.logout, null)
  await user.click(screen.getByText('Logout'))
  await screen.findByText('login page')
  await waitFor(() => expect(listener).toHaveBeenCalledOnce())
})
