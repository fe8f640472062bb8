import type { LevelDiscount } from '@netlet/contract'
import { screen, within } from '@testing-library/react'
import { beforeEach, describe, expect, it } from 'vitest'
import { rewards } from '../../api/routes.ts'
import { answer } from '../../testing/answers.ts'
import { customer } from '../../testing/shapes.ts'
import { answerAll, open, openAs, variant } from './one-product.fixture.tsx'

const gold: LevelDiscount = { level: 3, discount: '3.00', discount_type: 'percent' }

beforeEach(answerAll)

describe('what a level takes off', () => {
  it('is taken off the total and the sums, and named', async () => {
    answer(rewards.levelDiscount, gold)
    open('/product?id=1&o1=Paris&acl=1,2&q=16', variant)
    expect(await screen.findByText('Gold discount: 3% off $21.60')).toBeTruthy()
    expect(screen.getByText('$20.95', { selector: 'strong' })).toBeTruthy()
    const chosen = within(screen.getByRole('table')).getByRole('row', { current: true })
    expect([...chosen.children].map(cell => cell.textContent)).toEqual(['16', '$17.85', '$20.95', '$20.95'])
    expect(screen.getByText(/access rules, less your Gold discount of 3%\./)).toBeTruthy()
  })

  it.each([
    ['has none', customer, null],
    ['has no level', { ...customer, level: 0 }, gold]
  ])('is nothing for a customer who %s', async (_who, who, discount) => {
    answer(rewards.levelDiscount, discount)
    openAs(who, '/product?id=1&o1=Paris&acl=1,2&q=16', variant)
    expect(await screen.findByText('$21.60', { selector: 'strong' })).toBeTruthy()
    expect(screen.queryByText(/discount/)).toBeNull()
  })
})
