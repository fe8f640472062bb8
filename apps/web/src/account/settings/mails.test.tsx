import { screen, waitFor } from '@testing-library/react'
import { expect, it } from 'vitest'
import { mail } from '../../api/routes.ts'
import { answer, answerLost, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { customer } from '../../testing/shapes.ts'
import { Mails } from './page.tsx'

it('keeps each choice at once, and shows what is kept', async () => {
  answer(mail.choices, { payments: true, proxies: true, expiry: false, blocked: null })
  answer(mail.saveChoices, ({ body }) => body as { payments: boolean; proxies: boolean; expiry: boolean })
  const { user } = renderAt(<Mails />, { user: customer })
  const box = () => screen.getByRole<HTMLInputElement>('checkbox', { name: 'Orders and payments' })
  await waitFor(() => expect(box().disabled).toBe(false))
  expect(screen.getByRole<HTMLInputElement>('checkbox', { name: 'Expiry and renewal' }).checked).toBe(false)
  await user.click(box())
  await waitFor(() => expect(box().checked).toBe(false))
  expect(requestsOf(mail.saveChoices)).toMatchObject([{ body: { payments: false, proxies: true, expiry: false } }])
  // A change that was not saved is not shown.
  await waitFor(() => expect(box().disabled).toBe(false))
  answerLost(mail.saveChoices)
  await user.click(box())
  // By its text, because the previous message may still be shown.
  await screen.findByText(/Cannot reach the shop/)
  expect(box().checked).toBe(false)
})

it('says that the address is not written to, and what to do', async () => {
  answer(mail.choices, { payments: true, proxies: true, expiry: true, blocked: 'bounced' })
  renderAt(<Mails />, { user: customer })
  expect((await screen.findByRole('alert')).textContent).toContain('Change your address')
})
