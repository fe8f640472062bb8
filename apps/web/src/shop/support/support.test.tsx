import { screen, waitFor } from '@testing-library/react'
import { beforeEach, describe, expect, it } from 'vitest'
import { accounts, settings, support } from '../../api/routes.ts'
import { answer, answerRefused, hold, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { pageOf } from '../../testing/shapes.ts'
import SupportPage from './page.tsx'

const pictures = ['AAAA', 'BBBB', 'CCCC'].map((data, at) => ({
  captcha_id: `0197f0a0-0000-7000-8000-00000000000${at}`,
  captcha_image_base: `data:image/png;base64,${data}`
}))
const open = (discord = 'https://chat.example/netlet') => {
  answer(settings.social, { discord, twitter: '' })
  return renderAt(<SupportPage />, { at: '/support', route: '/support', user: null })
}
const field = (name: string) => screen.getByRole<HTMLInputElement>('textbox', { name })
const shown = () => screen.findByRole<HTMLImageElement>('img', { name: 'A picture with a calculation' })
const submit = (user: ReturnType<typeof open>['user']) => user.click(screen.getByRole('button', { name: 'Submit' }))

async function fillIn(user: ReturnType<typeof open>['user']) {
  await user.type(field('Username'), 'alice')
  await user.type(field('Email'), 'alice@example.com')
  await user.type(field('Phone'), '555 0100')
  await user.type(field('Message'), 'Where is it?')
  await user.type(field('Result of the calculation'), '12')
}

beforeEach(() => {
  answer(support.faqs, pageOf())
  answer(accounts.captcha, () => pictures[requestsOf(accounts.captcha).length - 1]!)
})

describe('the support page', () => {
  it('leads to the chat of the community, in a tab of its own', async () => {
    open()
    const chat = await screen.findByRole<HTMLAnchorElement>('link', { name: 'Join the chat' })
    expect(chat).toMatchObject({ href: 'https://chat.example/netlet', target: '_blank', rel: 'noopener noreferrer' })
  })

  it.each(['', 'javascript:alert(1)'])('has no chat at %j', async address => {
    open(address)
    await waitFor(() => expect(requestsOf(settings.social)).toHaveLength(1))
    await screen.findByText('No questions yet')
    expect(screen.queryByRole('link', { name: 'Join the chat' })).toBeNull()
  })

  it('keeps the focus at the button for another picture, which asks for one at a time', async () => {
    const { user } = open()
    await shown()
    const arrive = hold(accounts.captcha)
    const another = screen.getByRole('button', { name: 'New picture' })
    await user.click(another)
    await waitFor(() => expect(another.getAttribute('aria-disabled')).toBe('true'))
    expect(another).toHaveProperty('disabled', false)
    await user.click(another)
    expect(requestsOf(accounts.captcha)).toHaveLength(2)
    arrive(pictures[1]!)
    expect((await shown()).src).toBe(pictures[1]?.captcha_image_base)
    expect(document.activeElement).toBe(another)
  })

  it('sends a ticket, says so, and asks for another picture', async () => {
    answer(support.createTicket, null)
    const { user } = open()
    expect((await shown()).src).toBe(pictures[0]?.captcha_image_base)
    await fillIn(user)
    await submit(user)
    expect(await screen.findByText('Sending succeeded')).toBeTruthy()
    expect(requestsOf(support.createTicket).map(({ body }) => body)).toEqual([
      {
        username: 'alice',
        email: 'alice@example.com',
        phone: '555 0100',
        message: 'Where is it?',
        captcha: 12,
        captcha_id: pictures[0]?.captcha_id
      }
    ])
    for (const name of ['Username', 'Email', 'Phone', 'Message', 'Result of the calculation'])
      expect(field(name).value, name).toBe('')
    await waitFor(async () => expect((await shown()).src).toBe(pictures[1]?.captcha_image_base))
  })

  it('says of the form and at each field what is missing, and sends nothing', async () => {
    const { user } = open()
    await shown()
    await submit(user)
    expect(await screen.findByText('Please fill out the form first!')).toBeTruthy()
    const described = document.getElementById(
      field('Result of the calculation').getAttribute('aria-describedby')?.split(' ')[0] ?? ''
    )
    expect(described?.textContent).toBe('Please input the calculation results in the picture first!')
    expect(requestsOf(support.createTicket)).toEqual([])
  })

  it('keeps a ticket that was refused, but for its answer, and asks for another picture', async () => {
    answerRefused(support.createTicket, 'wrong_captcha')
    const { user } = open()
    await shown()
    await fillIn(user)
    await submit(user)
    await waitFor(async () => expect((await shown()).src).toBe(pictures[1]?.captcha_image_base))
    expect(screen.queryByText('Sending succeeded')).toBeNull()
    expect(field('Message').value).toBe('Where is it?')
    expect(field('Result of the calculation').value).toBe('')
    answer(support.createTicket, null)
    await user.type(field('Result of the calculation'), '7')
    await submit(user)
    await screen.findByText('Sending succeeded')
    expect(requestsOf(support.createTicket)[1]?.body).toMatchObject({ captcha: 7, captcha_id: pictures[1]?.captcha_id })
    await waitFor(() => expect(requestsOf(accounts.captcha)).toHaveLength(3))
  })
})
