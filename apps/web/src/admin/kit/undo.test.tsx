import { act, fireEvent, screen } from '@testing-library/react'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { support } from '../../api/routes.ts'
import { paletteActions } from '../../kit/palette.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { faq as anyFaq, pageOf, ticket as anyTicket } from '../../testing/shapes.ts'
import Faqs from '../faqs/page.tsx'
import Tickets from '../tickets/page.tsx'
import { keepNothing, renderScreen } from './screen.fixture.tsx'

const faq = { ...anyFaq, answer: 'Eight' }
const ticket = { ...anyTicket, id: 5, username: 'mia' }

beforeEach(() => {
  keepNothing()
  answer(support.faqs, pageOf(faq))
  answer(support.tickets, pageOf(ticket))
})

const press = async (user: ReturnType<typeof renderScreen>['user'], name: string | RegExp) =>
  user.click(await screen.findByRole('button', { name }))
const undo = () => screen.findByRole('button', { name: 'Undo' })
const pass = (ms: number) => act(() => void vi.advanceTimersByTime(ms))
const says = (text: string) => screen.findByText(text)

async function editFaq() {
  answer(support.updateFaq, { ...faq, answer: 'Nine', version: 'v2' })
  const view = renderScreen(<Faqs />)
  await press(view.user, /^Edit: What/)
  const field = await screen.findByRole('textbox', { name: /Answer/ })
  fireEvent.change(field, { target: { value: 'Nine' } })
  await press(view.user, 'Save')
  return view
}

describe('an action that can be undone', () => {
  it('says what was done to what, and takes an edit back by the former values with the new version', async () => {
    const { user } = await editFaq()
    expect((await undo()).closest('[role="alert"]')?.textContent).toContain('What is a /29?')
    await user.click(await undo())
    await says('Undone')
    const translations = { 'zh-CN': { question: '', answer: '' } }
    expect(requestsOf(support.updateFaq).map(({ body }) => body)).toEqual([
      { question: 'What is a /29?', answer: 'Nine', translations, version: 'v1' },
      { question: 'What is a /29?', answer: 'Eight', translations, version: 'v2' }
    ])
  })

  it('changes nothing if the row has changed since, and says so', async () => {
    const { user } = await editFaq()
    const button = await undo()
    answerRefused(support.updateFaq, 'stale', { data: { current: faq, changed: ['answer'] } })
    await user.click(button)
    await says('Cannot undo: another operator has changed this since.')
  })

  it('brings a deleted row back', async () => {
    answer(support.deleteFaq, null)
    answer(support.restoreFaq, faq)
    const { user } = renderScreen(<Faqs />)
    await press(user, /^Delete: What/)
    await press(user, 'YES')
    await user.click(await undo())
    await says('Undone')
    expect(requestsOf(support.restoreFaq)).toMatchObject([{ params: { id: '3' } }])
  })

  it('reverts a state only if it has not changed since', async () => {
    answer(support.closeTicket, { ...ticket, state: 'closed', changes: 3 })
    answer(support.reopenTicket, { ...ticket, changes: 4 })
    const { user } = renderScreen(<Tickets />)
    await press(user, /Actions.*mia|mia.*actions/i)
    await user.click(await screen.findByRole('menuitem', { name: 'Close' }))
    await user.click(await undo())
    await says('Undone')
    expect(requestsOf(support.reopenTicket)).toMatchObject([
      { params: { id: '5' }, body: { expected: 'closed', changes: 3 } }
    ])
  })

  it('offers no Undo if the row already had the state', async () => {
    answer(support.closeTicket, { ...ticket, state: 'closed', changes: null })
    const { user } = renderScreen(<Tickets />)
    await press(user, /Actions.*mia|mia.*actions/i)
    await user.click(await screen.findByRole('menuitem', { name: 'Close' }))
    expect(await screen.findByRole('alert')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull()
  })

  it('offers no Undo for an edit that changed nothing, and none for what adds a row', async () => {
    answer(support.updateFaq, faq)
    const { user } = renderScreen(<Faqs />)
    await press(user, /^Edit: What/)
    await press(user, 'Save')
    await says('successfully')
    expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull()
  })

  it('stays while the keyboard is on it, is gone ten seconds later, and stands in the palette as long', async () => {
    await editFaq()
    const button = await undo()
    const offered = () => paletteActions.current().flatMap(({ actions }) => actions().map(({ label }) => label))
    expect(offered()).toEqual(['Undo: successfully (What is a /29?)'])
    vi.useFakeTimers()
    act(() => button.focus())
    pass(60_000)
    expect(screen.queryByRole('button', { name: 'Undo' })).toBe(button)
    act(() => button.blur())
    pass(9000)
    expect(screen.queryByRole('button', { name: 'Undo' })).toBe(button)
    pass(1000)
    // The message fades out.
    pass(1000)
    expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull()
    expect(offered()).toEqual([])
  })
})
