import type { CodeState, Coupon } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { rewards } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { admin, coupon as anyCoupon, pageOf } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import PromoCodes from '../promo-codes/page.tsx'

const coupon = (id: number, platform_state: CodeState, more: Partial<Coupon> = {}): Coupon => ({
  ...anyCoupon,
  id,
  code: `CODE-${id}`,
  discount: '12.50',
  discount_type: 'percent',
  platform_state,
  ...more
})

function open(rows: Coupon[], more: object = {}) {
  keepNothing()
  answer(rewards.coupons, pageOf(...rows))
  return renderScreen(<PromoCodes />, more)
}
const rowOf = async (name: string) => (await screen.findByText(name)).closest('tr') as HTMLElement

describe('what the platform has under a code', () => {
  it('stands in the list with what differs, what it said, and nothing of what was used', async () => {
    open([
      coupon(1, 'present'),
      coupon(2, 'differs', { platform_differs: ['value', 'holder'] }),
      coupon(3, 'waiting', { platform_problem: 'It did not respond within 15 s.' }),
      coupon(4, 'present', { is_used: true })
    ])
    expect(within(await rowOf('CODE-1')).getByText('Matches')).toBeTruthy()
    expect(within(await rowOf('CODE-1')).getByText('12.5%')).toBeTruthy()
    expect(within(await rowOf('CODE-2')).getByText('a different discount, for other customers')).toBeTruthy()
    expect(within(await rowOf('CODE-3')).getByText('Checking')).toBeTruthy()
    expect(within(await rowOf('CODE-3')).getByText('It did not respond within 15 s.')).toBeTruthy()
    expect(within(await rowOf('CODE-4')).queryByText('Matches')).toBeNull()
    expect(screen.queryByRole('button', { name: 'Check now: CODE-4' })).toBeNull()
    expect(screen.queryByRole('button', { name: 'Create on the platform: CODE-1' })).toBeNull()
  })

  it('is looked at again and created there from its row', async () => {
    answer(rewards.codeOnPlatform, { status: 'queued' })
    const { user } = open([coupon(7, 'missing')])
    await user.click(await screen.findByRole('button', { name: 'Check now: CODE-7' }))
    expect(await screen.findByText('Checking on the platform')).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Create on the platform: CODE-7' }))
    await waitFor(() =>
      expect(requestsOf(rewards.codeOnPlatform).map(one => one.body)).toEqual([
        { kind: 'coupon', id: 7, act: 'check' },
        { kind: 'coupon', id: 7, act: 'create' }
      ])
    )
  })

  it('is a filter, and of no use to who may not change codes', async () => {
    open([coupon(7, 'missing')], {
      at: '/list?platform_state=missing',
      as: { ...admin, operator_role: 'support' as const }
    })
    expect(within(await rowOf('CODE-7')).getByText('Missing')).toBeTruthy()
    expect(requestsOf(rewards.coupons).at(-1)?.query).toMatchObject({ platform_state: 'missing' })
    expect(screen.queryByRole('button', { name: 'Check now: CODE-7' })).toBeNull()
  })
})
