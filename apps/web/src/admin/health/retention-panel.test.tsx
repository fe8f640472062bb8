import { RETAINED, type RetentionFigures } from '@netlet/contract'
import { screen, within } from '@testing-library/react'
import { expect, it } from 'vitest'
import { settings } from '../../api/routes.ts'
import { answer } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { RetentionPanel } from './page.tsx'

const entry = (what: RetentionFigures['what'], more: Partial<RetentionFigures> = {}): RetentionFigures => ({
  what,
  why: 'Because.',
  keep_hours: 720,
  setting: null,
  rows: null,
  oldest: null,
  removed: 0,
  removed_at: null,
  counted_at: null,
  ...more
})

it('shows what is kept how long, how much there is, and what was removed last', async () => {
  const day = new Date(Date.now() - 5 * 86_400_000).toISOString()
  answer(settings.retention, [
    entry('unpaid_orders', { rows: 12_345, oldest: day, removed: 40, removed_at: day }),
    entry('sessions', { keep_hours: 0 }),
    entry('login_failures', { keep_hours: 0.25 })
  ])
  renderAt(<RetentionPanel />)
  const row = within((await screen.findByText('Unpaid orders')).closest('tr') ?? document.body)
  expect(row.getByText('30 days')).toBeTruthy()
  expect(row.getByText('12,345')).toBeTruthy()
  expect(row.getAllByText('5 days ago')).toHaveLength(2)
  expect(screen.getByText('until it expires')).toBeTruthy()
  expect(screen.getByText('15 minutes')).toBeTruthy()
})

it('has words for everything that is removed', async () => {
  answer(
    settings.retention,
    RETAINED.map(what => entry(what))
  )
  renderAt(<RetentionPanel />)
  await screen.findByText('Unpaid orders')
  expect(screen.queryByText(/retention\./)).toBeNull()
})
