import { screen, waitFor, within } from '@testing-library/react'
import type { TicketThread } from '@netlet/contract'
import { describe, expect, it } from 'vitest'
import { mail, support } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { admin, pageOf, ticket as anyTicket, ticketMessage } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import TicketsPage from './page.tsx'

const ticket: TicketThread = {
  ...anyTicket,
  language: 'zh-CN',
  user: { id: 7, username: 'ada01' },
  messages: [ticketMessage]
}
const failed = { id: 9, state: 'failed', error: 'HTTP 400', error_code: 'rejected' } as const
const answered: TicketThread = {
  ...ticket,
  state: 'answered',
  answer: 'Here it is.',
  answered_by: 'boss1',
  answered_at: '2026-06-15T09:00:00.000Z',
  mail: failed,
  waiting_since: null,
  messages: [
    ticketMessage,
    { ...ticketMessage, id: 11, author: 'operator', by: 'boss1', text: 'Here it is.', mail: failed },
    { ...ticketMessage, id: 12, author: 'note', by: 'boss1', text: 'Asks <b>often</b>' }
  ]
}

function open(row = ticket, at = '/dashboard/index/tickets') {
  keepNothing()
  const { messages: _, ...listed } = row
  answer(support.tickets, pageOf(listed))
  answer(support.ticket, row)
  answer(support.assignees, [
    { id: 3, username: 'boss1' },
    { id: 2, username: 'carol' }
  ])
  answer(support.savedReplies, pageOf({ id: 5, title: 'Ports', text: 'The port is 8080.', version: 'v' }))
  return renderScreen(<TicketsPage />, { at })
}
type User = ReturnType<typeof open>['user']
async function choose(user: User, action: string) {
  await user.click(await screen.findByRole('button', { name: 'Actions: Ada' }))
  await user.click(await screen.findByRole('menuitem', { name: action }))
}
const openTicket = async () => within(await screen.findByRole('dialog', { name: 'Ticket' }))
const AT = '/dashboard/index/tickets?open=4'

describe('the tickets', () => {
  it('open in a dialog with username, email and message, and lead to the user who has the address', async () => {
    const { user, asked } = open()
    await choose(user, 'View')
    const dialog = await openTicket()
    for (const text of ['Ada', 'ada@example.com', 'Where is my proxy?'])
      expect(await dialog.findByText(text)).toBeTruthy()
    expect(dialog.getByRole('link', { name: 'ada01' }).getAttribute('href')).toBe('/dashboard/index/users/7')
    expect(dialog.getByRole('link', { name: 'Audit entries' }).getAttribute('href')).toContain(
      'target_type=ticket&target_id=4'
    )
    expect(asked()).toMatchObject({ open: '4' })
  })

  it('are answered by mail, in the language of the sender unless another is chosen, with a saved reply', async () => {
    const { user } = open()
    answer(support.answerTicket, answered)
    await choose(user, 'Reply by email')
    const dialog = await openTicket()
    const field = await dialog.findByRole<HTMLTextAreaElement>('textbox', { name: 'Reply' })
    expect(dialog.getByLabelText<HTMLSelectElement>('Language').value).toBe('zh-CN')
    const send = dialog.getByRole('button', { name: 'Reply by email' })
    await user.click(send)
    expect(await dialog.findByText('Please enter answer')).toBeTruthy()
    expect(requestsOf(support.answerTicket)).toEqual([])
    await user.type(field, 'Hello.')
    await user.click(dialog.getByRole('button', { name: 'Saved replies' }))
    await user.click(await screen.findByRole('menuitem', { name: 'Ports' }))
    expect(field.value).toBe('Hello.\n\nThe port is 8080.')
    await user.click(send)
    expect(await screen.findByText('Sending the reply.')).toBeTruthy()
    expect(requestsOf(support.answerTicket)).toMatchObject([
      { params: { id: '4' }, body: { answer: 'Hello.\n\nThe port is 8080.', language: 'zh-CN', after: 0 } }
    ])
    expect(field.value).toBe('')
  })

  it('keep a reply that a newer message overtook, and say so', async () => {
    const { user } = open(answered, AT)
    answerRefused(support.answerTicket, 'ticket_moved')
    const dialog = await openTicket()
    const field = await dialog.findByRole<HTMLTextAreaElement>('textbox', { name: 'Reply' })
    await user.type(field, 'As I said.')
    await user.click(dialog.getByRole('button', { name: 'Reply by email' }))
    expect((await dialog.findByRole('alert')).textContent).toMatch(/newer message/)
    expect(field.value).toBe('As I said.')
    // The note is no message to the customer.
    expect(requestsOf(support.answerTicket)).toMatchObject([{ body: { after: 11 } }])
  })

  it('show all messages as text, that the mail of one failed and why, and send it again', async () => {
    const { user } = open(answered, AT)
    const dialog = await openTicket()
    const thread = await dialog.findByRole('list', { name: 'Messages' })
    expect([...thread.children].map(one => one.querySelector('strong')?.textContent)).toEqual([
      'Ada (customer)',
      'boss1',
      'Internal note · boss1'
    ])
    expect(within(thread).getByText('Asks <b>often</b>')).toBeTruthy()
    expect(within(thread).getByText('The email service refused this email')).toBeTruthy()
    answer(mail.sendAgain, null)
    await user.click(dialog.getByRole('button', { name: 'Resend' }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(mail.sendAgain)).toMatchObject([{ params: { id: '9' } }]))
  })

  it('take internal notes, also when closed, but then no reply until reopened', async () => {
    const { user } = open({ ...answered, state: 'closed' }, AT)
    const dialog = await openTicket()
    expect(await dialog.findByText('This ticket is closed. Reopen it to reply.')).toBeTruthy()
    expect(dialog.queryByRole('textbox')).toBeNull()
    await user.click(dialog.getByRole('tab', { name: 'Internal note' }))
    await user.type(await dialog.findByRole('textbox', { name: 'Internal note' }), 'Seen')
    answer(support.addNote, answered)
    await user.click(dialog.getByRole('button', { name: 'Add note' }))
    await waitFor(() =>
      expect(requestsOf(support.addNote)).toMatchObject([{ params: { id: '4' }, body: { text: 'Seen' } }])
    )
    answer(support.reopenTicket, { ...anyTicket, changes: 2 })
    await user.click(dialog.getByRole('button', { name: 'Reopen' }))
    expect(await screen.findByText('Ticket reopened.')).toBeTruthy()
  })

  it('are assigned to oneself, to another operator, or to none', async () => {
    const { user } = open({ ...ticket, assignee: { id: 3, username: 'boss1' } }, AT)
    answer(support.assignTicket, ticket)
    const dialog = await openTicket()
    await user.click(await dialog.findByRole('button', { name: 'Assign to me' }))
    for (const name of ['carol', 'Remove assignee']) {
      await user.click(dialog.getByRole('button', { name: 'Assign' }))
      await user.click(await screen.findByRole('menuitem', { name }))
    }
    await waitFor(() =>
      expect(requestsOf(support.assignTicket).map(({ body }) => body)).toEqual([
        { assignee: admin.id },
        { assignee: 2 },
        { assignee: null }
      ])
    )
  })

  it('are closed and deleted; NO deletes nothing', async () => {
    const { user } = open()
    answer(support.closeTicket, { ...anyTicket, state: 'closed', changes: 1 })
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

  it('are chosen by queue; those who wait longest come first', async () => {
    const { user, asked } = open()
    await user.click(await screen.findByRole('tab', { name: 'Waiting for us' }))
    await waitFor(() =>
      expect(requestsOf(support.tickets).at(-1)?.query).toMatchObject({
        queue: 'waiting',
        sort_by: 'waiting_since',
        sort_order: 'asc'
      })
    )
    await user.click(screen.getByRole('tab', { name: 'Mine' }))
    await waitFor(() => expect(requestsOf(support.tickets).at(-1)?.query).toMatchObject({ queue: 'mine' }))
    expect(asked()).toEqual({ queue: 'mine' })
    // The tabs choose it, so it is none of the filters.
    await user.click(screen.getByRole('button', { name: 'Filters' }))
    await user.selectOptions(screen.getByLabelText('State'), 'Replied')
    expect(screen.queryByLabelText('Queue')).toBeNull()
    await user.click(await screen.findByRole('button', { name: 'Clear filters (1)' }))
    await waitFor(() => expect(asked()).toEqual({ queue: 'mine' }))
    await user.click(screen.getByRole('tab', { name: 'All' }))
    await waitFor(() => expect(asked()).toEqual({}))
  })

  it('have saved replies beside them, which are added and deleted', async () => {
    const { user } = open(ticket, '/dashboard/index/tickets?tab=replies')
    expect(await screen.findByText('The port is 8080.')).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Add' }))
    const form = within(await screen.findByRole('dialog'))
    await user.type(form.getByRole('textbox', { name: /^Title/ }), 'Hours')
    await user.type(form.getByRole('textbox', { name: /^Text/ }), 'From 9 to 5.')
    answer(support.createSavedReply, { id: 6, title: 'Hours', text: 'From 9 to 5.', version: 'v' })
    await user.click(form.getByRole('button', { name: 'Add' }))
    await waitFor(() =>
      expect(requestsOf(support.createSavedReply)).toMatchObject([{ body: { title: 'Hours', text: 'From 9 to 5.' } }])
    )
  })
})
