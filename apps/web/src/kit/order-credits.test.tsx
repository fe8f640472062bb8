import { screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import { orders } from '../api/routes.ts'
import { answer, requestsOf } from '../testing/answers.ts'
import { renderAt } from '../testing/render.tsx'
import { customer } from '../testing/shapes.ts'
import { OrderCredits } from './order-credits.tsx'

const credit = {
  at: '2026-06-16T08:00:00.000Z',
  seconds: 5400,
  from: '2026-06-15T08:00:00.000Z',
  to: '2026-06-15T09:30:00.000Z',
  incident: { id: 7, title: 'Tokyo does not answer' }
}

it('names the incident of time that was given back, and leads to it', async () => {
  answer(orders.credits, [credit, { ...credit, at: '2026-06-17T08:00:00.000Z', incident: null }])
  renderAt(<OrderCredits orderId={3} />, { user: customer })
  const link = await screen.findByRole('link', { name: 'Tokyo does not answer' })
  expect(link.getAttribute('href')).toBe('/status?incident=7')
  expect(screen.getAllByRole('listitem').map(item => item.textContent?.startsWith('1.5 hr for the outage'))).toEqual([
    true,
    true
  ])
})

it('says nothing where nothing was given back', async () => {
  answer(orders.credits, [])
  const { container } = renderAt(<OrderCredits orderId={3} />, { user: customer })
  await expect.poll(() => requestsOf(orders.credits)).toHaveLength(1)
  expect(container.querySelector('section')).toBeNull()
})
