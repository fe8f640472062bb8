import { screen } from '@testing-library/react'
import { beforeEach, expect, it } from 'vitest'
import { support } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { pageOf } from '../../testing/shapes.ts'
import { Faq } from './faq.tsx'

const field = () => screen.getByRole<HTMLInputElement>('searchbox')

beforeEach(() =>
  answer(support.faqs, ({ query }) =>
    pageOf({ id: 1, question: `About ${query.search ?? 'all'}`, answer: 'Yes.', version: 'v' })
  )
)

it('searches for what the address says, and says it in the field', async () => {
  renderAt(<Faq />, { at: '/support?q=%20refund%20' })
  expect(await screen.findByText('About refund')).toBeTruthy()
  expect(field().value).toBe('refund')
  expect(requestsOf(support.faqs).map(({ query }) => query)).toEqual([{ limit: '10', search: 'refund' }])
})

it('writes a search into the address, keeps the focus, and takes it out again', async () => {
  const { user, where } = renderAt(<Faq />, { at: '/support?utm=1' })
  expect(await screen.findByText('About all')).toBeTruthy()
  await user.type(field(), 'port 25{Enter}')
  expect(await screen.findByText('About port 25')).toBeTruthy()
  expect(where()).toBe('/support?utm=1&q=port+25')
  expect(document.activeElement).toBe(field())
  await user.click(screen.getByRole('button', { name: 'Show all' }))
  expect(await screen.findByText('About all')).toBeTruthy()
  expect(where()).toBe('/support?utm=1')
  expect(field().value).toBe('')
})
