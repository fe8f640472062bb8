import { screen, waitFor, within } from '@testing-library/react'
import type { Ticket } from '@netlet/contract'
import { describe, expect, it } from 'vitest'
import { mail, support } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { pageOf, ticket as anyTicket } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import TicketsPage from './page.tsx'

const ticket: Ticket = { ...anyTicket, language: 'zh-CN', user: { id: 7, username: 'ada01' } }
const answered: Ticket = {
  ...ticket,
  state: 'answered',
  answer: 'Here it is.',
  answered_by: 'boss1',
  answered_at: '2026-06-15T09:00:00.000Z',
  mail: { id: 9, state: 'failed', error: 'HTTP 400', error_code: 'rejected' }
}

function open(row = ticket, at = '/dashboard/index/tickets') {
  keepNothing()
  answer(support.tickets, pageOf(row))
  answer(support.ticket, ({ params }) => (params['id'] === '4' ? row : { ...row, id: 99, message: 'An old question' }))
  return renderScreen(<TicketsPage />, { at })
}
type User = ReturnType<typeof open>['user']
async function choose(user: User, action: string) {
  await user.click(await screen.findByRole('button', { name: 'Actions: Ada' }))
  await user.click(await screen.findByRole('menuitem', { name: action }))
}

describe('the tickets', () => {
  it('open in a dialog with username, email and message, and lead to the user who has the address', async () => {
    const { user, asked } = open()
    await choose(user, 'View')
    const dialog = within(await screen.findByRole('dialog', { name: 'Ticket' }))
    for (const text of ['Ada', 'ada@example.com', 'Where is my proxy?']) expect(dialog.getByText(text)).toBeTruthy()
    expect(dialog.getByRole('link', { name: 'ada01' }).getAttribute('href')).toBe('/dashboard/index/users/7')
    expect(dialog.getByRole('link', { name: 'Audit entries' }).getAttribute('href')).toContain(
      'target_type=ticket&target_id=4'
    )
    expect(asked()).toMatchObject({ open: '4' })
  })

  it('are answered by mail, in the language of the sender unless another is chosen', async () => {
    const { user } = open()
    answer(support.answerTicket, answered)
    await choose(user, 'Reply by email')
    const form = within(await screen.findByRole('dialog', { name: 'Reply by email: Ada' }))
    expect(form.getByLabelText<HTMLSelectElement>(/Language/).value).toBe('zh-CN')
    await user.click(form.getByRole('button', { name: 'Reply by email' }))
    expect(await form.findByText('Please enter answer')).toBeTruthy()
    expect(requestsOf(support.answerTicket)).toEqual([])
    await user.type(form.getByRole('textbox', { name: /^Reply/ }), 'Here it is.')
    await user.click(form.getByRole('button', { name: 'Reply by email' }))
    expect(await screen.findByText('Sending the reply.')).toBeTruthy()
    expect(requestsOf(support.answerTicket)).toMatchObject([
      { params: { id: '4' }, body: { answer: 'Here it is.', language: 'zh-CN' } }
    ])
  })

  it('show the answer, that its mail failed and why, and send it again', async () => {
    const { user } = open(answered, '/dashboard/index/tickets?open=4')
    const dialog = within(await screen.findByRole('dialog', { name: 'Ticket' }))
    expect(await dialog.findByText('Here it is.')).toBeTruthy()
    expect(dialog.getByText('The email service refused this email')).toBeTruthy()
    expect(dialog.queryByRole('button', { name: 'Reply by email' })).toBeNull()
    answer(mail.sendAgain, null)
    await user.click(dialog.getByRole('button', { name: 'Resend' }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(mail.sendAgain)).toMatchObject([{ params: { id: '9' } }]))
  })

  it('are closed and deleted; NO deletes nothing', async () => {
    const { user } = open()
    answer(support.closeTicket, { ...ticket, state: 'closed', changes: 1 })
    await choose(user, 'Close')
    expect(await screen.findByText('Ticket closed.')).toBeTruthy()
    answer(support.deleteTicket, null)
    await choose(user, 'Delete')
    const question = within(await screen.findByRole('dialog', { name: 'Confirm deletion' }))
    expect(question.getByText(/^Delete \?/)).toBeTruthy()
    await user.click(question.getByRole('button', { name: 'NO' }))
    expect(requestsOf(support.deleteTicket)).toEqual([])
    await choose(user, 'Delete')
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(support.deleteTicket)).toMatchObject([{ params: { id: '4' } }]))
  })
})
