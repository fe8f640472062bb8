import { screen, waitFor, within } from '@testing-library/react'
import type { OwnTicketThread } from '@netlet/contract'
import { beforeEach, describe, expect, it } from 'vitest'
import { accounts, settings, support } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { customer, ownTicket, pageOf } from '../../testing/shapes.ts'
import SupportPage from './page.tsx'

const at = ownTicket.created_at
const reply = { id: 8, author: 'operator', text: 'Try <b>port</b> 8080.', created_at: at } as const
const thread: OwnTicketThread = {
  ...ownTicket,
  state: 'answered',
  last: reply,
  messages: [ownTicket.last, reply]
}

beforeEach(() => {
  answer(support.faqs, pageOf())
  answer(settings.social, { discord: '', twitter: '' })
  answer(accounts.captcha, {
    captcha_id: '0197f0a0-0000-7000-8000-000000000001',
    captcha_image_base: 'data:image/png;base64,AAAA'
  })
  answer(support.ownTicket, thread)
})
const open = (path = '/support', user: typeof customer | null = customer) =>
  renderAt(<SupportPage />, { at: path, route: '/support', user })

describe('a customer’s tickets', () => {
  it('are listed beside a form that knows who writes', async () => {
    answer(support.ownTickets, pageOf({ ...ownTicket, state: 'answered', last: reply }))
    const { user, where } = open()
    const list = within(await screen.findByRole('region', { name: 'Your tickets' }))
    for (const text of ['Replied', 'Try <b>port</b> 8080.']) expect(list.getByText(text)).toBeTruthy()
    const field = (name: string) => screen.getByRole<HTMLInputElement>('textbox', { name }).value
    expect([field('Username'), field('Email'), field('Phone')]).toEqual([customer.username, customer.email, ''])
    await user.click(list.getByRole('link', { name: 'Ticket #4' }))
    expect(where()).toBe('/support?ticket=4')
    await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('heading', { name: 'Ticket #4' })))
  })

  it('are listed three at a time, and more on demand', async () => {
    answer(support.ownTickets, ({ query }) => ({ ...pageOf(ownTicket), total: query['limit'] === '3' ? 4 : 1 }))
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Show more' }))
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Show more' })).toBeNull())
  })

  it('are not asked for without an account', async () => {
    open('/support', null)
    expect((await screen.findByRole<HTMLInputElement>('textbox', { name: 'Email' })).value).toBe('')
    expect(screen.queryByText('Your tickets')).toBeNull()
    expect(requestsOf(support.ownTickets)).toEqual([])
  })

  it('show who wrote what, and take a message', async () => {
    const { user } = open('/support?ticket=4')
    const messages = await screen.findByRole('list', { name: 'Messages' })
    expect([...messages.children].map(one => one.querySelector('strong')?.textContent)).toEqual(['You', 'Support'])
    expect(within(messages).getByText('Try <b>port</b> 8080.')).toBeTruthy()
    const field = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Your message' })
    await user.click(screen.getByRole('button', { name: 'Send' }))
    expect(requestsOf(support.writeInTicket)).toEqual([])
    await user.type(field, 'It works.')
    answer(support.writeInTicket, thread)
    await user.click(screen.getByRole('button', { name: 'Send' }))
    expect(await screen.findByText('Message sent.')).toBeTruthy()
    expect(requestsOf(support.writeInTicket)).toMatchObject([{ params: { id: '4' }, body: { text: 'It works.' } }])
    expect(field.value).toBe('')
  })

  it('keep what was written when they were closed meanwhile, and then take no more', async () => {
    const { user } = open('/support?ticket=4')
    const field = await screen.findByRole<HTMLTextAreaElement>('textbox', { name: 'Your message' })
    await user.type(field, 'Wait')
    answerRefused(support.writeInTicket, 'ticket_closed')
    await user.click(screen.getByRole('button', { name: 'Send' }))
    expect((await screen.findByRole('alert')).textContent).toBe('This ticket is closed. Please send a new one.')
    expect(field.value).toBe('Wait')
  })

  it('take no message when closed, and lead to the form', async () => {
    answer(support.ownTicket, { ...thread, state: 'closed' })
    open('/support?ticket=4')
    expect(await screen.findByText('This ticket is closed.')).toBeTruthy()
    expect(screen.queryByRole('textbox')).toBeNull()
    expect(screen.getByRole('link', { name: 'Send a new ticket' }).getAttribute('href')).toBe('/support#contact')
  })

  it('ask a visitor to log in, and come back after it', async () => {
    open('/support?ticket=4', null)
    const link = await screen.findByRole('link', { name: 'Log in' })
    expect(link.getAttribute('href')).toBe(`/login?return=${encodeURIComponent('/support?ticket=4')}`)
  })

  it('say when there is no such ticket', async () => {
    answerRefused(support.ownTicket, 'not_found')
    open('/support?ticket=5')
    expect(await screen.findByText('Ticket not found')).toBeTruthy()
  })
})
