import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { rewards } from '../../api/routes.ts'
import { answer, answerLost, hold, requestsOf } from '../../testing/answers.ts'
import { setWidth } from '../../testing/render.tsx'
import GiftCards from '../gift-cards/page.tsx'
import { cardsOf, keepNothing, renderScreen } from './screen.fixture.tsx'

const last = () => requestsOf(rewards.giftCards).at(-1)?.query

function open(at = '/list', total = 28) {
  keepNothing()
  answer(rewards.giftCards, ({ query }) => cardsOf(total, query))
  return renderScreen(<GiftCards />, { at })
}

describe("a list's state", () => {
  it('is read from the address: page, size, search, sort and filters', async () => {
    open('/list?page=2&size=20&search=CARD&sort=mount.desc&is_exchanged=0', 30)
    await screen.findByText('CARD-10')
    expect(last()).toEqual({
      limit: '20',
      offset: '20',
      search: 'CARD',
      sort_by: 'mount',
      sort_order: 'desc',
      is_exchanged: '0'
    })
    expect(screen.getByRole('columnheader', { name: 'Amount' }).getAttribute('aria-sort')).toBe('descending')
    expect(screen.getByRole<HTMLSelectElement>('combobox', { name: 'Exchanged' }).value).toBe('0')
  })

  it('leaves out what the list does not know', async () => {
    open('/list?page=-4&size=7&sort=code.up&is_exchanged=maybe')
    await screen.findByText('CARD-28')
    expect(last()).toEqual({ limit: '10', offset: '0' })
  })

  it('takes out of the address what nothing of the screen reads, and keeps the rest, without a step back', async () => {
    const steps = window.history.length
    const { asked } = open('/list?page=2&tab=preview&is_exchanged=0&colour=red&search=CARD')
    await waitFor(() => expect(asked()).toEqual({ page: '2', is_exchanged: '0', search: 'CARD' }))
    expect(window.history.length).toBe(steps)
  })

  it('is written to the address, and the browser goes back through it', async () => {
    const { user, asked, goBack } = open()
    await screen.findByText('CARD-28')
    await user.type(screen.getByRole('searchbox'), 'CARD{Enter}')
    await waitFor(() => expect(asked()).toEqual({ search: 'CARD' }))
    await user.click(await screen.findByRole('button', { name: 'Page 2' }))
    await screen.findByText('CARD-18')
    expect(asked()).toEqual({ search: 'CARD', page: '2' })
    await user.click(screen.getByRole('button', { name: 'Amount' }))
    // Another sort starts at the first page.
    await waitFor(() =>
      expect(asked()).toMatchObject({ search: 'CARD', sort: expect.stringMatching(/^mount\./) as string })
    )
    expect(asked()).not.toHaveProperty('page')
    await goBack()
    await screen.findByText('CARD-18')
    expect(asked()).toEqual({ search: 'CARD', page: '2' })
    await goBack()
    await goBack()
    await screen.findByText('CARD-28')
    expect(asked()).toEqual({})
    expect(screen.getByRole<HTMLInputElement>('searchbox').value).toBe('')
  })
})

describe('the pages', () => {
  it('say 10,000+ where the rows were not all counted, and go on by the key', async () => {
    keepNothing()
    answer(rewards.giftCards, ({ query }) =>
      cardsOf(10_000, query, {
        total_exact: false,
        next: query['after'] === 'k2' ? null : query['after'] ? 'k2' : 'k1'
      })
    )
    const { user, asked } = renderScreen(<GiftCards />)
    await screen.findByText('1 to 10 of 10,000+')
    expect(screen.getByText('10,000+ in total')).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Next' }))
    await waitFor(() => expect(last()).toEqual({ limit: '10', after: 'k1' }))
    expect(asked()).toEqual({ page: '2', after: 'k1' })
    await user.click(screen.getByRole('button', { name: 'Next' }))
    await waitFor(() => expect(last()).toEqual({ limit: '10', after: 'k2' }))
    const next = await screen.findByRole('button', { name: 'Next', description: 'This is the last page.' })
    expect(next.getAttribute('aria-disabled')).toBe('true')
    await user.click(next)
    expect(asked()).toEqual({ page: '3', after: 'k2' })
    await user.click(screen.getByRole('button', { name: 'Previous' }))
    await waitFor(() => expect(asked()).toEqual({ page: '2', after: 'k1' }))
    await user.click(screen.getByRole('button', { name: 'First page' }))
    await waitFor(() => expect(asked()).toEqual({}))
  })

  it('move back one page when the last row of a page is deleted', async () => {
    keepNothing()
    let total = 11
    answer(rewards.giftCards, ({ query }) => cardsOf(total, query))
    answer(rewards.deleteGiftCard, () => {
      total = 10
      return null
    })
    const { user, asked } = renderScreen(<GiftCards />, { at: '/list?page=2' })
    await screen.findByText('CARD-1')
    await user.click(screen.getByRole('button', { name: 'Delete: CARD-1' }))
    const dialog = await screen.findByRole('dialog', { name: 'Confirm deletion' })
    expect(dialog.textContent).toContain(
      'Delete ?\nGift card CARD-1 ($5.00 for 500 coins): customers can no longer get it.'
    )
    await user.click(within(dialog).getByRole('button', { name: 'YES' }))
    await screen.findByText('1 to 10 of 10')
    expect(asked()).toEqual({})
    expect(await screen.findByText('successfully')).toBeTruthy()
  })

  it('delete nothing after NO', async () => {
    const { user } = open()
    await screen.findByText('CARD-28')
    await user.click(screen.getByRole('button', { name: 'Delete: CARD-28' }))
    await user.click(await screen.findByRole('button', { name: 'NO' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(requestsOf(rewards.deleteGiftCard)).toEqual([])
  })
})

describe('the states of a list', () => {
  it('says what failed, and tries again', async () => {
    keepNothing()
    answerLost(rewards.giftCards)
    const { user } = renderScreen(<GiftCards />)
    const alert = await screen.findByRole('alert')
    answer(rewards.giftCards, ({ query }) => cardsOf(1, query))
    await user.click(within(alert).getByRole('button', { name: 'Try again' }))
    expect(await screen.findByText('CARD-1')).toBeTruthy()
  })

  it('marks rows as those of the question before, until the answer is there', async () => {
    const { user } = open('/list', 12)
    const area = (await screen.findByText('CARD-12')).closest('[data-row]')?.closest('[aria-busy]')
    expect(area?.hasAttribute('data-former')).toBe(false)
    const release = hold(rewards.giftCards)
    await user.click(screen.getByRole('button', { name: 'Page 2' }))
    await waitFor(() => expect(area?.hasAttribute('data-former')).toBe(true))
    release(cardsOf(12, { offset: '10' }))
    expect(await screen.findByText('CARD-2')).toBeTruthy()
    await waitFor(() => expect(area?.hasAttribute('data-former')).toBe(false))
  })

  it('tells an empty list from one where nothing matches', async () => {
    const { unmount } = open('/list', 0)
    expect(await screen.findByText('No gift cards yet')).toBeTruthy()
    unmount()
    open('/list?search=zzz', 0)
    expect(await screen.findByText('No gift card matches')).toBeTruthy()
  })

  it('shows cards on a narrow screen, with a way to sort', async () => {
    setWidth(390)
    const { user, asked } = open()
    await screen.findByText('CARD-28')
    expect(screen.queryByRole('table')).toBeNull()
    await user.click(screen.getByRole('button', { name: 'Filters' }))
    await user.selectOptions(screen.getByRole('combobox', { name: 'Sort by' }), 'point.asc')
    await waitFor(() => expect(asked()).toEqual({ sort: 'point.asc' }))
  })
})

describe('the keyboard', () => {
  it('goes through the rows, selects and opens them, and finds the search', async () => {
    const { user, asked } = open()
    await screen.findByText('CARD-28')
    await user.keyboard('jjk')
    expect(document.activeElement?.getAttribute('data-row')).toBe('28')
    await user.keyboard('jx')
    expect(await screen.findByText('1 selected')).toBeTruthy()
    await user.keyboard('{Enter}')
    await waitFor(() => expect(asked()).toEqual({ form: 'edit.27' }))
    expect(await screen.findByRole('dialog', { name: 'Edit: CARD-27' })).toBeTruthy()
    await user.keyboard('{Escape}')
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    await user.keyboard('/')
    expect(document.activeElement).toBe(screen.getByRole('searchbox'))
    // In a field these keys are text.
    await user.keyboard('jx')
    expect(screen.getByRole<HTMLInputElement>('searchbox').value).toBe('jx')
    await user.keyboard('{Escape}')
    expect(screen.getByRole<HTMLInputElement>('searchbox').value).toBe('')
    await user.keyboard('j')
    expect(document.activeElement?.getAttribute('data-row')).toBe('28')
  })
})
