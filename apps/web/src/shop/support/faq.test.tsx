import { act, screen } from '@testing-library/react'
import { beforeEach, expect, it } from 'vitest'
import { support } from '../../api/routes.ts'
import { setLanguage } from '../../i18n/language.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { pageOf } from '../../testing/shapes.ts'
import { Faq } from './faq.tsx'

const field = () => screen.getByRole<HTMLInputElement>('searchbox')
const describedBy = (one: HTMLElement) =>
  document.getElementById(one.getAttribute('aria-describedby') ?? '')?.textContent

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

it('asks for a question where nothing is typed, at the field, until something is', async () => {
  const { user, where } = renderAt(<Faq />, { at: '/support' })
  await screen.findByText('About all')
  await user.click(screen.getByRole('button', { name: 'Search' }))
  expect(screen.getByRole('alert').textContent).toBe('Please enter a question')
  expect(field().getAttribute('aria-invalid')).toBe('true')
  expect(describedBy(field())).toBe('Please enter a question')
  expect(document.activeElement).toBe(field())
  expect(where()).toBe('/support')
  await act(() => setLanguage('zh-CN'))
  expect(describedBy(field())).toBe('请输入问题')
  await act(() => setLanguage('en'))
  await user.type(field(), 'p')
  expect(screen.queryByRole('alert')).toBeNull()
  expect(field().getAttribute('aria-invalid')).not.toBe('true')
})
