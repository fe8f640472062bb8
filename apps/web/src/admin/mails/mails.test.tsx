import { screen, waitFor, within } from '@testing-library/react'
import { MAIL_FAILURES, type MailDetail, type MailPreview, type SentMail } from '@netlet/contract'
import { describe, expect, it } from 'vitest'
import { accounts, mail } from '../../api/routes.ts'
import en from '../../i18n/admin.en.json'
import { answer, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { admin, pageOf } from '../../testing/shapes.ts'
import { renderScreen } from '../kit/screen.fixture.tsx'
import MailsPage from './page.tsx'

const skipped: SentMail = {
  id: 3,
  to: 'alice@example.com',
  template: 'order-expired',
  kind: 'expiry',
  language: 'en',
  state: 'skipped',
  error: 'turned off by its recipient',
  error_code: 'switched_off',
  provider_id: null,
  created_at: '2026-06-15T08:00:00.000Z',
  sent_at: null,
  send_again: 'needless'
}
const preview = (language: MailPreview['language'], subject: string): MailPreview => ({
  template: 'order-expired',
  kind: 'expiry',
  language,
  subject,
  html: `<h1>${subject}</h1><script>parent.stolen = true</script>`,
  text: subject
})

function open() {
  answer(accounts.preferences, null)
  answer(mail.mails, pageOf(skipped))
  answer(mail.templates, [preview('en', 'Your proxies have expired'), preview('zh-CN', '您的代理已到期')])
  return renderAt(<MailsPage />, { at: '/dashboard/index/mails', user: admin })
}

describe('the mails of the shop', () => {
  it('say why one was not sent, and what the mail service said', async () => {
    answer(accounts.preferences, null)
    const said = 'SendGrid refused the email (HTTP 400): the sender is not verified'
    const refused: SentMail = { ...skipped, id: 4, state: 'failed', error_code: 'rejected', error: said }
    answer(mail.mails, pageOf(refused))
    renderAt(<MailsPage />, { at: '/dashboard/index/mails', user: admin })
    expect(await screen.findByText('The email service refused this email')).toBeTruthy()
    expect(screen.getByText(said)).toBeTruthy()
    for (const code of MAIL_FAILURES) expect(`mails.why.${code}` in en, code).toBe(true)
  })

  it('are shown as templates in both languages, in a frame that can do nothing', async () => {
    const { user, where } = open()
    await user.click(screen.getByRole('tab', { name: 'Templates' }))
    expect(where()).toBe('/dashboard/index/mails?tab=preview')
    const list = within(await screen.findByRole('list', { name: 'Templates' }))
    const frame = await screen.findByTitle<HTMLIFrameElement>('Preview of order-expired en')
    expect(frame.getAttribute('sandbox')).toBe('')
    expect(frame.getAttribute('srcdoc')).toContain('Your proxies have expired')
    await user.click(list.getByRole('button', { name: /您的代理已到期/ }))
    expect(await screen.findByTitle('Preview of order-expired zh-CN')).toBeTruthy()
    expect(where()).toBe('/dashboard/index/mails?tab=preview&template=order-expired+zh-CN')
  })

  it('of the log are shown as they were sent, read once each time they are opened', async () => {
    const shown = openMail({
      content: { subject: 'Your proxies have expired', text: 'They have expired.', html: '<h1>Expired</h1>' }
    })
    const dialog = within(await screen.findByRole('dialog'))
    const frame = await dialog.findByTitle<HTMLIFrameElement>('Your proxies have expired')
    expect(frame.getAttribute('sandbox')).toBe('')
    expect(frame.getAttribute('srcdoc')).toBe('<h1>Expired</h1>')
    expect(dialog.getByText('English')).toBeTruthy()
    await shown.user.click(dialog.getByText('Text'))
    expect(dialog.getByText('They have expired.').tagName).toBe('PRE')
    expect(requestsOf(mail.mail)).toMatchObject([{ params: { id: '3' } }])
  })
})

it.each([
  ['sent', '2026-06-15T08:00:00.000Z', 'The content of this email has been deleted.'],
  ['skipped', null, 'This email was never created, so it has no content.'],
  ['waiting', null, 'This email has not reached the email service yet.']
] as const)('say why nothing is shown of one that is %s', async (state, sent_at, words) => {
  openMail({ state, sent_at, content: null })
  expect(await screen.findByText(words)).toBeTruthy()
})

it('are sent again where that is possible, after a question; otherwise the menu says why not', async () => {
  answer(accounts.preferences, null)
  answer(mail.sendAgain, null)
  const sent: SentMail = { ...skipped, id: 4, to: 'bob@example.com', state: 'sent', error: null, error_code: null }
  answer(mail.mails, pageOf(skipped, { ...sent, send_again: 'possible' }))
  const { user } = renderScreen(<MailsPage />, { at: '/dashboard/index/mails' })
  const off = {
    name: 'Resend: alice@example.com',
    description: 'This email was turned off, not needed, or undeliverable.'
  }
  expect((await screen.findByRole('button', off)).getAttribute('aria-disabled')).toBe('true')
  await user.click(screen.getByRole('button', { name: 'Resend: bob@example.com' }))
  const dialog = within(await screen.findByRole('dialog'))
  expect(dialog.getByText(/The same email goes to bob@example.com again/)).toBeTruthy()
  await user.click(dialog.getByRole('button', { name: /^yes$/i }))
  await waitFor(() => expect(requestsOf(mail.sendAgain)).toMatchObject([{ params: { id: '4' } }]))
  expect(await screen.findByText('Resending the email.')).toBeTruthy()
})

function openMail(more: Partial<MailDetail>) {
  answer(accounts.preferences, null)
  answer(mail.mails, pageOf(skipped))
  answer(mail.mail, { ...skipped, content: null, ...more })
  return renderScreen(<MailsPage />, { at: '/dashboard/index/mails?open=3' })
}

it('addresses that are not written to stand in a tab of their own, and are written to again on demand', async () => {
  const block = {
    id: 7,
    address: 'gone@example.com',
    cause: 'complained',
    reason: '550 no such user',
    source: 'sendgrid',
    at: '2026-06-15T08:00:00.000Z'
  } as const
  answer(accounts.preferences, null)
  answer(mail.blocks, pageOf(block))
  answer(mail.liftBlock, null)
  const { user } = renderScreen(<MailsPage />, { at: '/dashboard/index/mails?tab=blocked' })
  expect(await screen.findByText('gone@example.com')).toBeTruthy()
  expect(screen.getByText('550 no such user')).toBeTruthy()
  await user.click(screen.getByRole('button', { name: /Unblock/ }))
  const dialog = within(await screen.findByRole('dialog'))
  expect(dialog.getByText(/reported an email as spam/)).toBeTruthy()
  await user.click(dialog.getByRole('button', { name: /^yes$/i }))
  await waitFor(() => expect(requestsOf(mail.liftBlock)).toMatchObject([{ params: { id: '7' } }]))
})
