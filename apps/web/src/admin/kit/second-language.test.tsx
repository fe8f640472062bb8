import type { Faq } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { beforeEach, describe, expect, it } from 'vitest'
import { support } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { faq as anyFaq, pageOf } from '../../testing/shapes.ts'
import Faqs from '../faqs/page.tsx'
import { keepNothing, renderScreen } from './screen.fixture.tsx'

const faq: Faq = { ...anyFaq, answer: 'Eight' }
const translations = { 'zh-CN': { question: '什么是 /29？' } }
const title = { name: 'Chinese (简体中文)' }

beforeEach(keepNothing)

async function edit(row: Faq) {
  answer(support.faqs, pageOf(row))
  const view = renderScreen(<Faqs />)
  await view.user.click(await screen.findByRole('button', { name: /^Edit: What/ }))
  return { ...view, form: within(await screen.findByRole('dialog')) }
}

describe('the texts of a form in Chinese', () => {
  it('are asked for by who opens them, and sent beside the others', async () => {
    const { user, form } = await edit(faq)
    answer(support.updateFaq, { ...faq, translations, version: 'v2' })
    expect(form.queryByRole('textbox', { name: 'Question in Chinese' })).toBeNull()
    await user.click(form.getByRole('button', title))
    await user.type(form.getByRole('textbox', { name: 'Question in Chinese' }), '什么是 /29？')
    await user.click(form.getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(requestsOf(support.updateFaq)).toHaveLength(1))
    expect(requestsOf(support.updateFaq)[0]?.body).toEqual({
      question: faq.question,
      answer: faq.answer,
      translations: { 'zh-CN': { question: '什么是 /29？', answer: '' } },
      version: 'v1'
    })
  })

  it('stand open where there are some, and Undo sends what they were', async () => {
    const { user, form } = await edit({ ...faq, translations })
    answer(support.updateFaq, { ...faq, version: 'v2' })
    const field = form.getByRole<HTMLInputElement>('textbox', { name: 'Question in Chinese' })
    expect(field.value).toBe('什么是 /29？')
    await user.clear(field)
    await user.click(form.getByRole('button', { name: 'Save' }))
    await user.click(await screen.findByRole('button', { name: 'Undo' }))
    await waitFor(() => expect(requestsOf(support.updateFaq)).toHaveLength(2))
    expect(requestsOf(support.updateFaq).map(({ body }) => body)).toMatchObject([
      { translations: { 'zh-CN': { question: '', answer: '' } }, version: 'v1' },
      { translations: { 'zh-CN': { question: '什么是 /29？', answer: '' } }, version: 'v2' }
    ])
  })

  it('open by themselves where the server finds one wrong, say it there, and have the focus', async () => {
    const { user, form } = await edit(faq)
    await user.click(form.getByRole('button', title))
    await user.type(form.getByRole('textbox', { name: 'Answer in Chinese' }), '八个')
    await user.click(form.getByRole('button', title))
    const errors = { 'translations.zh-CN.answer': 'At most 10000 characters' }
    answerRefused(support.updateFaq, 'invalid', { data: { errors } })
    await user.click(form.getByRole('button', { name: 'Save' }))
    const field = await form.findByRole('textbox', { name: 'Answer in Chinese' })
    expect(field.getAttribute('aria-invalid')).toBe('true')
    expect(form.getByText('At most 10000 characters')).toBeTruthy()
    await waitFor(() => expect(document.activeElement).toBe(field))
    await user.keyboard('了')
    expect(form.queryByText('At most 10000 characters')).toBeNull()
    expect(document.activeElement).toBe(field)
    expect(field).toHaveProperty('value', '八个了')
    await user.click(form.getByRole('button', title))
    expect(form.queryByRole('textbox', { name: 'Answer in Chinese' })).toBeNull()
  })
})
