import { screen, waitFor } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { accounts, rewards } from '../../api/routes.ts'
import { answer, answerLost, requestsOf } from '../../testing/answers.ts'
import GiftCards from '../gift-cards/page.tsx'
import { cardsOf, keepNothing, renderScreen } from './screen.fixture.tsx'

function open(at = '/list', total = 28) {
  keepNothing()
  answer(rewards.giftCards, ({ query }) => cardsOf(total, query))
  return renderScreen(<GiftCards />, { at })
}

describe('what a person chooses of a list', () => {
  const heads = () => screen.getAllByRole('columnheader').map(head => head.textContent)

  it('shows and orders the columns, and is kept', async () => {
    const { user } = open()
    await screen.findByText('CARD-28')
    const [first, second, third, fourth, ...others] = heads().slice(1)
    await user.click(screen.getByRole('button', { name: 'Columns' }))
    await user.click(await screen.findByRole('checkbox', { name: third ?? '' }))
    for (const _step of [1, 2]) await user.click(screen.getByRole('button', { name: `Move ${fourth} up` }))
    expect(heads().slice(1)).toEqual([first, fourth, second, ...others])
    await waitFor(() => expect(requestsOf(accounts.savePreferences)).toHaveLength(3))
    const saved = requestsOf(accounts.savePreferences).at(-1)
    expect(saved?.params).toEqual({ key: 'list.gift-cards' })
    const body = saved?.body as { value: { columns: { shown: boolean }[] } } | undefined
    expect(body?.value.columns.slice(0, 4).map(({ shown }) => shown)).toEqual([true, true, true, false])
  })

  it('still stands where it names a column that is gone, and new columns follow', async () => {
    const shown = [
      { key: 'colour', shown: true },
      { key: 'code', shown: true },
      { key: 'id', shown: false }
    ]
    keepNothing({ columns: shown })
    answer(rewards.giftCards, ({ query }) => cardsOf(3, query))
    renderScreen(<GiftCards />)
    await screen.findByText('CARD-3')
    expect(heads()[1]).toBe('Code')
    expect(heads()).toContain('Amount')
    expect(heads()).not.toContain('ID')
  })

  it('opens a saved view that names a filter and a column that are gone, and says so', async () => {
    const view = {
      name: 'Mine',
      search: 'CARD',
      filters: { is_exchanged: '1', holder: 'alice' },
      sort: { by: 'colour', order: 'asc' },
      size: 20
    }
    keepNothing({ columns: null, views: [view, { name: 7 }, null] })
    answer(rewards.giftCards, ({ query }) => cardsOf(28, query))
    const { user, asked } = renderScreen(<GiftCards />)
    await user.click(await screen.findByRole('button', { name: 'Views' }))
    await user.click(await screen.findByRole('button', { name: 'Mine' }))
    await waitFor(() => expect(asked()).toEqual({ search: 'CARD', is_exchanged: '1', size: '20' }))
    expect(await screen.findByText('Removed because this list no longer has them: holder, colour')).toBeTruthy()
  })

  it('keeps a view under a name', async () => {
    const { user } = open('/list?search=CARD&sort=point.asc')
    await user.click(await screen.findByRole('button', { name: 'Views' }))
    await user.type(await screen.findByRole('textbox', { name: 'View name' }), 'Cheap{Enter}')
    expect(await screen.findByRole('button', { name: 'Cheap' })).toBeTruthy()
    await waitFor(() =>
      expect(requestsOf(accounts.savePreferences).at(-1)?.body).toEqual({
        value: {
          columns: null,
          views: [{ name: 'Cheap', search: 'CARD', filters: {}, sort: { by: 'point', order: 'asc' }, size: 10 }]
        }
      })
    )
  })

  it('keeps what another tab has saved since this one was opened', async () => {
    const { user } = open('/list?search=CARD')
    await screen.findByText('CARD-28')
    const other = { name: 'Other tab', search: 'x', filters: {}, sort: null, size: 10 }
    answer(accounts.preferences, { columns: null, views: [other] })
    await user.click(screen.getByRole('button', { name: 'Views' }))
    await user.type(await screen.findByRole('textbox', { name: 'View name' }), 'Mine{Enter}')
    expect(await screen.findByRole('button', { name: 'Other tab' })).toBeTruthy()
    await waitFor(() =>
      expect(requestsOf(accounts.savePreferences).at(-1)?.body).toMatchObject({
        value: { views: [{ name: 'Other tab' }, { name: 'Mine' }] }
      })
    )
  })

  it('overwrites nothing that could not be read', async () => {
    answerLost(accounts.preferences)
    answer(accounts.savePreferences, null)
    answer(rewards.giftCards, ({ query }) => cardsOf(3, query))
    const { user } = renderScreen(<GiftCards />)
    await screen.findByText('CARD-3')
    await user.click(screen.getByRole('button', { name: 'Columns' }))
    await user.click(await screen.findByRole('checkbox', { name: 'Coins' }))
    expect(await screen.findByText(/Could not save this choice/)).toBeTruthy()
    expect(requestsOf(accounts.savePreferences)).toEqual([])
    const view = { name: 'Kept', search: 'x', filters: {}, sort: null, size: 10 }
    answer(accounts.preferences, { columns: null, views: [view] })
    await user.click(screen.getByRole('checkbox', { name: 'ID' }))
    await waitFor(() =>
      expect(requestsOf(accounts.savePreferences).at(-1)?.body).toMatchObject({ value: { views: [{ name: 'Kept' }] } })
    )
  })
})
