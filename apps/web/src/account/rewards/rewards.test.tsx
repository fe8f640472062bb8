import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { accounts, rewards } from '../../api/routes.ts'
import { answer, answerLost, answerRefused, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { coupon as anyCoupon, customer, levelCode, pageOf } from '../../testing/shapes.ts'
import GiftCards from './gift-cards.tsx'
import RewardsPage from './page.tsx'
import PromoCodes from './promo-codes.tsx'

const coupon = { ...anyCoupon, code: 'SUMMER-7Q2M' }

describe('the list of promo codes', () => {
  it('has each code with its kind and state, and a way to use it while it is not used', async () => {
    answer(rewards.coupons, pageOf(coupon, { ...coupon, id: 2, code: 'GIFT-1', code_type: 2, is_used: true }))
    renderAt(<PromoCodes />, { user: customer })
    expect(screen.getByRole('heading', { name: 'List of promo codes:' })).toBeTruthy()
    await screen.findByText('SUMMER-7Q2M')
    const [first, second] = screen.getAllByRole('listitem') as [HTMLElement, HTMLElement]
    for (const words of ['$5.00', 'Discount', 'Unused']) expect(first.textContent).toContain(words)
    expect(within(first).getByRole('link', { name: 'Use Now' }).getAttribute('href')).toBe('/product')
    for (const words of ['Gift', 'Used', 'Use Now']) expect(second.textContent).toContain(words)
    expect(within(second).queryByRole('link')).toBeNull()
  })

  it('says that a code could not be copied', async () => {
    answer(rewards.coupons, pageOf(coupon))
    const { user } = renderAt(<PromoCodes />, { user: customer })
    vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new DOMException('refused'))
    document.execCommand = () => false
    await user.click(await screen.findByRole('button', { name: 'Copy: SUMMER-7Q2M' }))
    expect(await screen.findByText('Failed to copy to clipboard')).toBeTruthy()
  })
})

describe('the exchange of coins', () => {
  const open = () => {
    answer(rewards.coupons, pageOf())
    answer(rewards.exchangeList, [
      { mount: '5.00', point: 100 },
      { mount: '50.00', point: 5000 }
    ])
    return renderAt(<GiftCards />, { user: customer })
  }

  it('says Insufficient Coins, and asks the server nothing', async () => {
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Exchange $50.00' }))
    expect(await screen.findByText('Insufficient Coins')).toBeTruthy()
    expect(requestsOf(rewards.exchange)).toEqual([])
  })

  it('asks, does nothing after NO, and says Exchange Success after YES', async () => {
    answer(rewards.exchange, { code: 'GIFT-1', mount: '5.00', reward_points: 20 })
    answer(accounts.whoIsSignedIn, { ...customer, reward_points: 20 })
    const { user } = open()
    const ask = async (name: 'YES' | 'NO') => {
      await user.click(await screen.findByRole('button', { name: 'Exchange $5.00' }))
      const question = await screen.findByRole('dialog', { name: 'Exchange coins?' })
      expect(question.textContent).toContain('100 coins for a $5.00 gift card. This cannot be undone.')
      await user.click(within(question).getByRole('button', { name }))
      await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    }
    await ask('NO')
    expect(requestsOf(rewards.exchange)).toEqual([])
    await ask('YES')
    expect(await screen.findByText('Exchange Success')).toBeTruthy()
    expect(requestsOf(rewards.exchange)).toMatchObject([{ body: { mount: '5.00', point: 100 } }])
  })

  it('is the same exchange where its answer was lost and it is asked for again, and then another one', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch')
    const keys = () => fetched.mock.calls.flatMap(([, init]) => new Headers(init?.headers).get('idempotency-key') ?? [])
    answer(accounts.whoIsSignedIn, customer)
    answerLost(rewards.exchange)
    const { user } = open()
    const ask = async (times: number) => {
      await user.click(await screen.findByRole('button', { name: 'Exchange $5.00' }))
      await user.click(await screen.findByRole('button', { name: 'YES' }))
      await waitFor(() => expect(keys()).toHaveLength(times))
      await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    }
    await ask(1)
    answer(rewards.exchange, { code: 'GIFT-1', mount: '5.00', reward_points: 20 })
    await ask(2)
    expect(await screen.findByText('Exchange Success')).toBeTruthy()
    await ask(3)
    const [lost, again, other] = keys()
    expect(again).toBe(lost)
    expect(other).not.toBe(lost)
  })

  it('says why the server refused it', async () => {
    answerRefused(rewards.exchange, 'insufficient_coins')
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Exchange $5.00' }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    expect(await screen.findByText('Insufficient Coins')).toBeTruthy()
  })
})

describe('the points', () => {
  it('say from which day coins can be spent, in the zone of the reader', async () => {
    answer(rewards.levelCodes, pageOf())
    answer(rewards.exchangeList, [])
    const pending_until = '2026-07-01T23:30:00.000Z'
    const record = { id: 1, created_at: '2026-06-15T08:00:00.000Z', point: 5, kind: 'coins' as const }
    const said = { reason: 'Chat message', reason_code: 'chat_message' as const, params: {} }
    answer(rewards.pointRecords, pageOf({ ...record, ...said, pending_until }))
    vi.stubEnv('TZ', 'Asia/Shanghai')
    renderAt(<RewardsPage />, { user: customer })
    const day = await screen.findByText('available from Jul 2, 2026')
    expect(day.getAttribute('datetime')).toBe(pending_until)
    expect(day.title).toContain('2026-07-01 23:30:00 UTC')
  })
})

it.each([
  [250, 'Silver', /50 more points to Gold/],
  [500, 'SSSSSVIP', /You are already at the highest level!/]
])('%d points are the level, and say what is missing for the next one', async (level_points, name, words) => {
  answer(
    rewards.levelCodes,
    pageOf(...[1, 2, 3, 4, 5].map(level => ({ ...levelCode, id: level, level, point: level * 100 })))
  )
  answer(rewards.pointRecords, pageOf())
  answer(rewards.exchangeList, [])
  renderAt(<RewardsPage />, { user: { ...customer, level_points } })
  const level = await screen.findByRole('region', { name: 'Level' })
  expect(within(level).getByRole('heading').textContent).toContain(name)
  expect(level.textContent).toMatch(words)
})
