import type { BulkRow, BulkRun } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { bulk, rewards } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { bulkRun, pageOf } from '../../testing/shapes.ts'
import GiftCards from '../gift-cards/page.tsx'
import { cardsOf, keepNothing, renderScreen } from './screen.fixture.tsx'

const run: BulkRun = { ...bulkRun, id: 12 }
const row = (id: number, more: Partial<BulkRow> = {}): BulkRow => ({
  id,
  label: `CARD-${id}`,
  state: 'succeeded',
  reason: null,
  params: {},
  msg: null,
  ...more
})

/** The server's plan: all ids, or all matching rows, can be deleted. */
const plans = (matching: number, version = `of ${matching}`) =>
  answer(bulk.plan, ({ body }) => {
    const { selection } = body as { selection: { ids?: number[] } }
    const rows = selection.ids?.length ?? matching
    return { rows, version, outcomes: { effects: [{ effect: 'done' as const, rows }], refusals: [] } }
  })

function open(at = '/list') {
  keepNothing()
  answer(rewards.giftCards, ({ query }) => cardsOf(1240, query))
  plans(1240)
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

describe('what becomes of the selected ones', () => {
  it('is said with figures, and nothing is begun after NO', async () => {
    const { user } = open()
    answer(bulk.plan, {
      rows: 2,
      version: 'of 2',
      outcomes: { effects: [{ effect: 'done', rows: 1 }], refusals: [{ reason: 'gift_card_exchanged', rows: 1 }] }
    })
    for (const id of [1240, 1239]) await user.click(await tick(id))
    await batch(user, 'Delete')
    const question = within(await screen.findByRole('dialog', { name: 'Confirm deletion' }))
    expect(question.getByText(/1 of 2 are deleted\..*Cannot run for 1 now\./s)).toBeTruthy()
    await user.click(question.getByRole('button', { name: 'NO' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(requestsOf(bulk.start)).toEqual([])
  })

  it('is all that can be said where each of them would be refused: there is no YES', async () => {
    const { user } = open()
    answer(bulk.plan, {
      rows: 1,
      version: 'of 1',
      outcomes: { effects: [], refusals: [{ reason: 'gift_card_exchanged', rows: 1 }] }
    })
    await user.click(await tick(1240))
    await batch(user, 'Delete')
    const told = within(await screen.findByRole('dialog', { name: 'Confirm deletion' }))
    expect(told.getByText(/Cannot run for 1 now/)).toBeTruthy()
    expect(told.queryByRole('button', { name: 'YES' })).toBeNull()
    await user.click(told.getByRole('button', { name: 'Close' }))
    expect(requestsOf(bulk.start)).toEqual([])
  })
})

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
    await user.click(await screen.findByRole('checkbox', { name: 'Select all on this page' }))
    expect(screen.getByText('10 selected')).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Select all 1,240 matches' }))
    expect(screen.getByText('1,240 selected')).toBeTruthy()
    await batch(user, 'Delete')
    await user.type(await screen.findByRole('textbox', { name: 'Type 1,240 to continue' }), '1,240')
    await yes(user)
    await waitFor(() =>
      expect(requestsOf(bulk.start)).toMatchObject([
        {
          body: {
            action: 'gift_card.delete',
            selection: {
              query: { search: 'CARD', is_exchanged: '0', sort_by: 'mount', sort_order: 'asc' },
              expected: 1240,
              version: 'of 1240'
            }
          }
        }
      ])
    )
  })

  it('of more rows than the list counts is counted before it is asked about, and deletes no more than that', async () => {
    begin()
    keepNothing()
    answer(rewards.giftCards, ({ query }) => cardsOf(10_000, query, { total_exact: false }))
    answer(bulk.plan, { rows: 27_304, version: 'of 27304', outcomes: null })
    const { user } = renderScreen(<GiftCards />, { at: '/list?search=CARD' })
    await user.click(await screen.findByRole('checkbox', { name: 'Select all on this page' }))
    await user.click(screen.getByRole('button', { name: 'Select all 10,000+ matches' }))
    await batch(user, 'Delete')
    expect(await screen.findByText(/Delete \?\s+27,304 selected/)).toBeTruthy()
    await user.type(await screen.findByRole('textbox', { name: 'Type 27,304 to continue' }), '27304')
    await yes(user)
    await waitFor(() =>
      expect(requestsOf(bulk.start)).toMatchObject([
        {
          body: {
            action: 'gift_card.delete',
            selection: { query: { search: 'CARD' }, expected: 27_304, version: 'of 27304' }
          }
        }
      ])
    )
  })

  it('asks again, with the number, if more rows match than were confirmed', async () => {
    begin()
    const { user } = open('/list?search=CARD')
    await user.click(await screen.findByRole('checkbox', { name: 'Select all on this page' }))
    await user.click(screen.getByRole('button', { name: 'Select all 1,240 matches' }))
    answerRefused(bulk.start, 'bulk_other_match', { params: { count: 1250 } })
    await batch(user, 'Delete')
    await user.type(await screen.findByRole('textbox', { name: 'Type 1,240 to continue' }), '1240')
    plans(1250)
    await yes(user)
    const again = await screen.findByRole('textbox', { name: 'Type 1,250 to continue' })
    expect(
      screen.getByText(/^Different rows match now: 1250\..*Delete \?\s+1,250 selected\s+1,250 of 1,250 are deleted/s)
    ).toBeTruthy()
    begin()
    await user.type(again, '1250')
    await yes(user)
    await waitFor(() =>
      expect(requestsOf(bulk.start).map(({ body }) => body)).toMatchObject([
        { selection: { query: { search: 'CARD' }, expected: 1240 } },
        { selection: { query: { search: 'CARD' }, expected: 1250 } }
      ])
    )
    await screen.findByRole('region', { name: 'Bulk action' })
  })

  it('asks again if as many, but other rows match than were confirmed', async () => {
    begin()
    const { user } = open('/list?search=CARD')
    plans(3, 'those of before')
    await user.click(await screen.findByRole('checkbox', { name: 'Select all on this page' }))
    await user.click(screen.getByRole('button', { name: 'Select all 1,240 matches' }))
    answerRefused(bulk.start, 'bulk_other_match', { params: { count: 3 } })
    await batch(user, 'Delete')
    await screen.findByText(/^Delete \?\s+3 selected/)
    plans(3, 'those of now')
    await yes(user)
    await screen.findByText(/^Different rows match now: 3\. Please check.*Delete \?\s+3 selected/s)
    begin()
    await yes(user)
    await waitFor(() =>
      expect(requestsOf(bulk.start).map(({ body }) => body)).toMatchObject([
        { selection: { query: { search: 'CARD' }, expected: 3, version: 'those of before' } },
        { selection: { query: { search: 'CARD' }, expected: 3, version: 'those of now' } }
      ])
    )
    await screen.findByRole('region', { name: 'Bulk action' })
  })

  it('of more than ten rows asks to type how many are deleted, and deletes none before', async () => {
    begin()
    const { user } = open()
    await user.click(await screen.findByRole('checkbox', { name: 'Select all on this page' }))
    await user.click(screen.getByRole('button', { name: 'Page 2' }))
    await user.click(await tick(1230))
    await batch(user, 'Delete')
    const dialog = within(await screen.findByRole('dialog', { name: 'Confirm deletion' }))
    dialog.getByText(/^Delete \?\s+11 selected\s+11 of 11 are deleted/)
    const number = dialog.getByRole('textbox', { name: 'Type 11 to continue' })
    for (const wrong of ['', '1', '12{Enter}', 'eleven']) {
      await user.clear(number)
      if (wrong) await user.type(number, wrong)
      expect(dialog.getByRole('button', { name: 'YES' })).toHaveProperty('disabled', true)
    }
    expect(requestsOf(bulk.start)).toEqual([])
    await user.clear(number)
    await user.type(number, '11{Enter}')
    await waitFor(() => expect(requestsOf(bulk.start)).toHaveLength(1))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
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
        row(1238, { state: 'refused', reason: 'gift_card_exchanged', msg: 'This gift card has already been exchanged' })
      )
    )
    await within(panel).findByText('3 of 3 done, 1 refused')
    expect(await within(panel).findByText('This gift card has already been exchanged')).toBeTruthy()
    expect(within(panel).queryByRole('button', { name: 'Cancel' })).toBeNull()
    // The list is refetched.
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

  it('that cannot be started says why', async () => {
    answerRefused(bulk.start, 'not_found')
    const { user } = open()
    await user.click(await tick(1240))
    await batch(user, 'Delete')
    await yes(user)
    expect(await screen.findByText('Not found')).toBeTruthy()
    expect(screen.getByText('1 selected')).toBeTruthy()
  })

  it('that was stopped says why, and shows the results that are asked for', async () => {
    const msg = 'Stopped, because bob is no longer an active operator'
    begin({ state: 'failed', reason: 'bulk_not_allowed', params: { username: 'bob' }, msg })
    const { user } = open('/list?run=12')
    expect(await screen.findByText(msg)).toBeTruthy()
    await user.selectOptions(await screen.findByRole('combobox', { name: 'Results to show' }), 'refused')
    await waitFor(() => expect(requestsOf(bulk.rows).at(-1)?.query).toMatchObject({ state: 'refused' }))
  })
})
