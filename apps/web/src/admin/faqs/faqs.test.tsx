import { screen, waitFor, within } from '@testing-library/react'
import type { Faq } from '@netlet/contract'
import { describe, expect, it } from 'vitest'
import { support } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { pageOf } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import FaqsPage from './page.tsx'

const faq: Faq = { id: 3, question: 'What is a /29?', answer: 'Eight addresses.', version: 'v1' }

function open() {
  keepNothing()
  answer(support.faqs, pageOf(faq))
  return renderScreen(<FaqsPage />, { at: '/dashboard/index/QA' })
}

describe('the questions and answers', () => {
  it('are ten to a page, with a search', async () => {
    const { user } = open()
    expect(await screen.findByText('What is a /29?')).toBeTruthy()
    expect(screen.getByText('Eight addresses.')).toBeTruthy()
    await user.type(screen.getByRole('searchbox'), 'eight{Enter}')
    await waitFor(() => expect(requestsOf(support.faqs).at(-1)?.query).toMatchObject({ search: 'eight', limit: '10' }))
  })

  it('are added in a dialog that asks for both', async () => {
    const { user } = open()
    answer(support.createFaq, faq)
    await user.click(await screen.findByRole('button', { name: 'Add' }))
    const form = within(await screen.findByRole('dialog', { name: 'Add' }))
    await user.click(form.getByRole('button', { name: 'Add' }))
    expect(await form.findByText('Please enter question')).toBeTruthy()
    expect(form.getByText('Please enter answer')).toBeTruthy()
    await user.type(form.getByLabelText(/Question/), 'How?')
    await user.type(form.getByLabelText(/Answer/), 'So.')
    await user.click(form.getByRole('button', { name: 'Add' }))
    await waitFor(() =>
      expect(requestsOf(support.createFaq)).toMatchObject([{ body: { question: 'How?', answer: 'So.' } }])
    )
  })

  it('are edited with their version, and deleted after a question', async () => {
    const { user } = open()
    answer(support.updateFaq, faq)
    answer(support.deleteFaq, null)
    await user.click(await screen.findByRole('button', { name: 'Edit: What is a /29?' }))
    await user.type(await screen.findByRole('textbox', { name: /Answer/ }), ' Yours.')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await waitFor(() =>
      expect(requestsOf(support.updateFaq)).toMatchObject([
        { body: { answer: 'Eight addresses. Yours.', version: 'v1' } }
      ])
    )
    await user.click(await screen.findByRole('button', { name: 'Delete: What is a /29?' }))
    const question = await screen.findByRole('dialog', { name: 'Confirm deletion' })
    expect(question.textContent).toContain(
      'Delete ?\nWhat is a /29?\nCustomers can no longer find it on the help page.'
    )
    await user.click(screen.getByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(support.deleteFaq)).toMatchObject([{ params: { id: '3' } }]))
  })
})
