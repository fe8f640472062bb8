import type { BulkRow, BulkRun } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { bulk, rewards } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import GiftCards from '../gift-cards/page.tsx'
import { cardsOf, keepNothing, renderScreen } from './screen.fixture.tsx'

const run: BulkRun = {
  id: 12,
  action: 'gift_card.delete',
  state: 'running',
  total: 3,
  done: 1,
  succeeded: 1,
  refused: 0,
  username: 'admin',
  created_at: '2026-06-15T08:00:00.000Z',
  ended_at: null,
  reason: null,
  params: {},
  msg: null
}
const row = (id: number, more: Partial<BulkRow> = {}): BulkRow => ({
  id,
  label: `CARD-${id}`,
  state: 'succeeded',
  reason: null,
  params: {},
  msg: null,
  ...more
})
const pageOf = (...data: BulkRow[]) => ({
  data,
  total: data.length,
  total_exact: true,
  limit: 10,
  offset: 0,
  next: null
})

function open(at = '/list') {
  keepNothing()
  answer(rewards.giftCards, ({ query }) => cardsOf(1240, query))
  return renderScreen(<GiftCards />, { at })
}
const tick = (id: number) => screen.findByRole('checkbox', { name: `Select CARD-${id}` })
const batch = async (user: ReturnType<typeof open>['user'], name: string) => {
  await user.click(screen.getByRole('button', { name: 'Batch' }))
  await user.click(await screen.findByRole('menuitem', { name }))
}
const yes = async (user: ReturnType<typeof open>['user']) =>
  user.click(await screen.findByRole('button', { name: 'YES' }))
const begin = (more: Partial<BulkRun> = {}) => {
  answer(bulk.start, { ...run, state: 'queued', done: 0, succeeded: 0 })
  answer(bulk.run, { ...run, ...more })
  answer(bulk.rows, pageOf(row(1240), row(1239, { state: 'pending' })))
}

describe('the selection', () => {
  it('goes over pages, and is what a batch is for', async () => {
    begin()
    const { user } = open()
    await user.click(await tick(1240))
    await user.click(screen.getByRole('button', { name: 'Page 2' }))
    await user.click(await tick(1230))
    await user.click(await tick(1229))
    expect(screen.getByText('3 selected')).toBeTruthy()
    await batch(user, 'Delete')
    await yes(user)
    await waitFor(() =>
      expect(requestsOf(bulk.start)).toMatchObject([
        { body: { action: 'gift_card.delete', selection: { ids: [1229, 1230, 1240] } } }
      ])
    )
  })

  it('of a page can be extended to all that match, as the query says it', async () => {
    begin()
    const { user } = open('/list?search=CARD&is_exchanged=0&sort=mount.asc')
    await user.click(await screen.findByRole('checkbox', { name: 'Select this page' }))
    expect(screen.getByText('10 selected')).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Select all 1,240 that match' }))
    expect(screen.getByText('1,240 selected')).toBeTruthy()
    await batch(user, 'Delete')
    await yes(user)
    await waitFor(() =>
      expect(requestsOf(bulk.start)).toMatchObject([
        {
          body: {
            action: 'gift_card.delete',
            selection: { query: { search: 'CARD', is_exchanged: '0' }, expected: 1240 }
          }
        }
      ])
    )
  })

  it('ends with the query that it was made in', async () => {
    const { user } = open()
    await user.click(await tick(1240))
    await user.type(screen.getByRole('searchbox'), 'x{Enter}')
    await waitFor(() => expect(screen.queryByText('1 selected')).toBeNull())
  })

  it('is needed', async () => {
    const { user } = open()
    await tick(1240)
    await batch(user, 'Delete')
    expect(await screen.findByText('Please select')).toBeTruthy()
    expect(requestsOf(bulk.start)).toEqual([])
  })
})

describe('a bulk run', () => {
  it('is watched until it ends: progress, and a result for each row', async () => {
    begin()
    const { user, asked } = open()
    await user.click(await tick(1240))
    await batch(user, 'Delete')
    await yes(user)
    const panel = await screen.findByRole('region', { name: 'Bulk action' })
    await within(panel).findByText('1 of 3 done, 0 refused')
    expect(asked()).toEqual({ run: '12' })
    expect(within(panel).getByRole('progressbar').getAttribute('aria-valuenow')).toBe('33')
    const lists = requestsOf(rewards.giftCards).length
    answer(bulk.run, { ...run, state: 'done', done: 3, succeeded: 2, refused: 1 })
    answer(
      bulk.rows,
      pageOf(
        row(1240),
        row(1239),
        row(1238, {
          state: 'refused',
          reason: 'gift_card_exchanged',
          msg: 'This gift card has already been exchanged'
        })
      )
    )
    await within(panel).findByText('3 of 3 done, 1 refused')
    expect(await within(panel).findByText('This gift card has already been exchanged')).toBeTruthy()
    expect(within(panel).queryByRole('button', { name: 'Cancel' })).toBeNull()
    // The list shows what is left.
    await waitFor(() => expect(requestsOf(rewards.giftCards).length).toBeGreaterThan(lists))
  })

  it('is found again after a reload, and can be cancelled and closed', async () => {
    begin()
    const { user, asked } = open('/list?run=12')
    const panel = await screen.findByRole('region', { name: 'Bulk action' })
    await within(panel).findByText('1 of 3 done, 0 refused')
    answer(bulk.cancel, () => {
      answer(bulk.run, { ...run, state: 'cancelled' })
      return null
    })
    await user.click(within(panel).getByRole('button', { name: 'Cancel' }))
    await within(panel).findByText('Cancelled')
    expect(requestsOf(bulk.cancel)).toMatchObject([{ params: { id: '12' } }])
    await user.click(within(panel).getByRole('button', { name: 'Close' }))
    await waitFor(() => expect(asked()).toEqual({}))
    expect(screen.queryByRole('region', { name: 'Bulk action' })).toBeNull()
  })

  it('shows the results that are asked for only', async () => {
    begin({ state: 'done', done: 3, succeeded: 2, refused: 1 })
    const { user } = open('/list?run=12')
    await user.selectOptions(await screen.findByRole('combobox', { name: 'Which results' }), 'refused')
    await waitFor(() => expect(requestsOf(bulk.rows).at(-1)?.query).toMatchObject({ state: 'refused' }))
  })

  it('that failed says why', async () => {
    const msg = 'Stopped, since bob is no longer an active administrator'
    begin({ state: 'failed', reason: 'bulk_not_allowed', params: { username: 'bob' }, msg })
    open('/list?run=12')
    expect(await screen.findByText(msg)).toBeTruthy()
  })

  it('that cannot be started says why', async () => {
    answerRefused(bulk.start, 'not_found')
    const { user } = open()
    await user.click(await tick(1240))
    await batch(user, 'Delete')
    await yes(user)
    expect(await screen.findByText('Not found')).toBeTruthy()
    expect(screen.getByText('1 selected')).toBeTruthy()
  })
})
