import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { rewards } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { coupon, pageOf } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import PromoCodes from './page.tsx'

function open(at = '/list') {
  keepNothing()
  answer(rewards.coupons, pageOf(coupon, { ...coupon, id: 4, code: 'THANKS', code_type: 2, is_used: true }))
  return renderScreen(<PromoCodes />, { at })
}

describe('the promo codes of the console', () => {
  it('keep what a payment made of them when an edit is undone: neither call says whether one was used', async () => {
    answer(rewards.updateCoupon, { ...coupon, code_type: 2, version: 'v6' })
    const { user } = open('/list?form=edit.4')
    await user.selectOptions(await screen.findByRole<HTMLSelectElement>('combobox', { name: 'Type' }), 'Discount')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await user.click(await screen.findByRole('button', { name: 'Undo' }))
    await waitFor(() => expect(requestsOf(rewards.updateCoupon)).toHaveLength(2))
    for (const { body } of requestsOf(rewards.updateCoupon)) expect(body).not.toHaveProperty('is_used')
  })

  it("are added with user, code, kind and discount, and say the server's words of a field at the field", async () => {
    answerRefused(rewards.createCoupon, 'unknown_user', { data: { errors: { username: 'There is no such user' } } })
    const { user } = open('/list?form=new')
    const username = await screen.findByRole('textbox', { name: 'Username' })
    await user.type(username, 'alice')
    await user.type(screen.getByRole('textbox', { name: 'Code' }), 'HELLO')
    await user.type(screen.getByRole('textbox', { name: 'Discount' }), '5')
    await user.selectOptions(screen.getByRole('combobox', { name: 'Type' }), 'Gift')
    await user.click(screen.getByRole('button', { name: 'Add' }))
    await waitFor(() => expect(username.getAttribute('aria-invalid')).toBe('true'))
    expect(requestsOf(rewards.createCoupon)).toMatchObject([
      { body: { username: 'alice', code: 'HELLO', discount: '5', code_type: '2' } }
    ])
  })

  it('are deleted after Delete ? was answered with YES, and not with NO', async () => {
    answer(rewards.deleteCoupon, null)
    const { user } = open()
    const button = () => screen.getByRole('button', { name: 'Delete: WELCOME' })
    await screen.findByText('WELCOME')
    await user.click(button())
    const question = await screen.findByRole('dialog', { name: 'Confirm deletion' })
    expect(question.textContent).toContain('Delete ?\nPromo code WELCOME ($5.00): alice can no longer use it.')
    await user.click(within(question).getByRole('button', { name: 'NO' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(requestsOf(rewards.deleteCoupon)).toEqual([])
    await user.click(button())
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    expect(await screen.findByText('successfully')).toBeTruthy()
    expect(requestsOf(rewards.deleteCoupon)).toMatchObject([{ params: { id: '5' } }])
  })
})
