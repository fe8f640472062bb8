import { noticeSentence } from '@netlet/contract'
import { expect, it } from 'vitest'
import { pathOf } from './path.ts'

const payment = (params: Record<string, string>) =>
  pathOf({ cause: 'payment', subject: '4f1c', params: { reason: 'Paid twice', ...params } })

it('a notice of a payment names it in both languages, and leads to it', () => {
  for (const words of ['payment', 'payments'] as const) {
    const { en, 'zh-CN': zh } = noticeSentence(words, { reason: 'Paid twice', order: '#1042' })
    expect(en.title).toBe('Payment for platform order #1042 needs your attention')
    expect(zh.title).toBe('平台订单 #1042 的付款需要处理')
  }
  expect(payment({ order: '#1042' })).toBe('/dashboard/index/payments?search=%231042')
})

it('one that names no order leads to all payments that wait', () => {
  expect(noticeSentence('payment_unreadable', { reason: '-', event: '4f1c' }).en.title).toBe(
    'Event 4f1c of a payment needs your attention'
  )
  expect(payment({})).toBe('/dashboard/index/payments?unresolved=1')
  expect(payment({ order: 'unknown' })).toBe('/dashboard/index/payments?unresolved=1')
})
