import { screen, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { rewards } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { levelCode, pageOf } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import LevelCodes from './page.tsx'

function open(at = '/list') {
  keepNothing()
  answer(
    rewards.levelCodes,
    pageOf(levelCode, { ...levelCode, id: 3, level: 3, code: 'GOLD', point: 10_000, version: 'v3' })
  )
  return renderScreen(<LevelCodes />, { at })
}
const rowOf = async (name: string) => (await screen.findByText(name)).closest('tr') as HTMLElement

describe('the level codes of the console', () => {
  it('show level, points, code and discount, and offer nothing but Edit and a look at the platform', async () => {
    open()
    const row = await rowOf('SILVER10')
    expect(
      within(row)
        .getAllByRole('cell')
        .map(cell => cell.textContent)
    ).toEqual(['', '2 · Silver', '5,000', 'SILVER10', '10%', 'Matches', ''])
    expect(
      within(row)
        .getAllByRole('button')
        .map(one => one.getAttribute('aria-label'))
    ).toEqual(['Check now: SILVER10', 'Edit: 2 · Silver'])
    expect(screen.queryByRole('button', { name: /^Add/ })).toBeNull()
  })

  it('ask for discount, code and points, and never change the level', async () => {
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Edit: 2 · Silver' }))
    const dialog = await screen.findByRole('dialog', { name: 'Edit: 2 · Silver' })
    const fields = ['Discount', 'Code', 'Points'].map(name => within(dialog).getByRole('textbox', { name }))
    expect(within(dialog).queryByRole('textbox', { name: 'Level' })).toBeNull()
    for (const field of fields) await user.clear(field)
    await user.click(within(dialog).getByRole('button', { name: 'Save' }))
    for (const words of ['Please enter discount', 'Please enter code', 'Please enter point'])
      expect(await within(dialog).findByText(words)).toBeTruthy()
    expect(requestsOf(rewards.updateLevelCode)).toEqual([])
    answer(rewards.updateLevelCode, levelCode)
    for (const [at, text] of ['12.5', 'SILVER12', '6000'].entries()) await user.type(fields[at] as HTMLElement, text)
    await user.click(within(dialog).getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('successfully')).toBeTruthy()
    expect(requestsOf(rewards.updateLevelCode)).toMatchObject([
      { params: { id: '2' }, body: { discount: '12.5', code: 'SILVER12', point: '6000', version: 'v2' } }
    ])
  })
})
