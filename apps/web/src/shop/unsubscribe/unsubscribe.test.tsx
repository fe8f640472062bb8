import { screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import { mail } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import UnsubscribePage from './page.tsx'

it('asks before it switches mails off, and needs no login', async () => {
  answer(mail.unsubscribe, { kind: 'expiry' })
  const { user } = renderAt(<UnsubscribePage />, { at: '/unsubscribe?token=abc', user: null })
  expect(requestsOf(mail.unsubscribe)).toEqual([])
  await user.click(screen.getByRole('button', { name: 'Turn off emails' }))
  expect((await screen.findByRole('status')).textContent).toContain('Done')
  expect(requestsOf(mail.unsubscribe)).toMatchObject([{ query: { token: 'abc' } }])
})

it('says so where the link is not one of ours', async () => {
  answerRefused(mail.unsubscribe, 'wrong_unsubscribe_token')
  const { user } = renderAt(<UnsubscribePage />, { at: '/unsubscribe', user: null })
  await user.click(screen.getByRole('button', { name: 'Turn off emails' }))
  expect((await screen.findByRole('alert')).textContent).toContain('This link is not valid')
})
