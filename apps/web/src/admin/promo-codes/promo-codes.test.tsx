import type { Coupon } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { rewards } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { pageOf } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import PromoCodes from './page.tsx'

const coupon: Coupon = {
  id: 5,
  holder_username: 'alice',
  username: 'alice',
  code: 'WELCOME',
  code_type: 1,
  discount: '5.00',
  discount_type: 'amount',
  platform_state: 'missing',
  platform_differs: [],
  platform_problem: null,
  platform_checked_at: '2026-06-15T08:00:00.000Z',
  is_used: false,
  created_at: '2026-06-15T08:00:00.000Z',
  version: 'v5'
}

function open(at = '/list') {
  keepNothing()
  answer(rewards.coupons, pageOf(coupon, { ...coupon, id: 4, code: 'THANKS', code_type: 2, is_used: true }))
  return renderScreen(<PromoCodes />, { at })
}
const rowOf = async (name: string) => (await screen.findByText(name)).closest('tr') as HTMLElement

describe('the promo codes of the console', () => {
  it('show id, username, code, type, discount, used and create time', async () => {
    open()
    expect(
      within(await rowOf('WELCOME'))
        .getAllByRole('cell')
        .map(cell => cell.textContent)
    ).toEqual(['', '5', 'alice', 'WELCOME', 'Discount', '$5.00', 'NO', 'Missing', expect.stringContaining('2026'), ''])
    expect(within(await rowOf('THANKS')).getByText('Gift')).toBeTruthy()
    expect(within(await rowOf('THANKS')).getByText('YES')).toBeTruthy()
  })

  it('are added in a dialog that says what is missing', async () => {
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Add promo code' }))
    const dialog = await screen.findByRole('dialog', { name: 'Add promo code' })
    await user.click(within(dialog).getByRole('button', { name: 'Add' }))
    for (const words of ['Please enter username', 'Please enter code', 'Please enter discount', 'Please select type'])
      expect(await within(dialog).findByText(words)).toBeTruthy()
    expect(requestsOf(rewards.createCoupon)).toEqual([])
    answer(rewards.createCoupon, coupon)
    await user.type(within(dialog).getByRole('textbox', { name: 'Username' }), 'alice')
    await user.type(within(dialog).getByRole('textbox', { name: 'Code' }), 'WELCOME')
    await user.type(within(dialog).getByRole('textbox', { name: 'Discount' }), '5')
    await user.selectOptions(within(dialog).getByRole('combobox', { name: 'Type' }), 'Gift')
    await user.click(within(dialog).getByRole('button', { name: 'Add' }))
    expect(await screen.findByText('successfully')).toBeTruthy()
    expect(requestsOf(rewards.createCoupon)).toMatchObject([
      { body: { username: 'alice', code: 'WELCOME', discount: '5', code_type: '2' } }
    ])
  })

  it('keep what a payment made of them when an edit is undone: neither call says whether one was used', async () => {
    answer(rewards.updateCoupon, { ...coupon, code_type: 2, version: 'v6' })
    const { user } = open('/list?form=edit.4')
    await user.selectOptions(await screen.findByRole<HTMLSelectElement>('combobox', { name: 'Type' }), 'Discount')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await user.click(await screen.findByRole('button', { name: 'Undo' }))
    await waitFor(() => expect(requestsOf(rewards.updateCoupon)).toHaveLength(2))
    for (const { body } of requestsOf(rewards.updateCoupon)) expect(body).not.toHaveProperty('is_used')
  })

  it('are deleted after Delete ? was answered with YES, and not with NO', async () => {
    answer(rewards.deleteCoupon, null)
    const { user } = open()
    const button = () => screen.getByRole('button', { name: 'Delete: WELCOME' })
    await screen.findByText('WELCOME')
    await user.click(button())
    const question = await screen.findByRole('dialog', { name: 'Confirm deletion' })
    expect(question.textContent).toContain('Delete ?\nPromo code WELCOME ($5.00): alice cannot use it any more.')
    await user.click(within(question).getByRole('button', { name: 'NO' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(requestsOf(rewards.deleteCoupon)).toEqual([])
    await user.click(button())
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    expect(await screen.findByText('successfully')).toBeTruthy()
    expect(requestsOf(rewards.deleteCoupon)).toMatchObject([{ params: { id: '5' } }])
  })
})
