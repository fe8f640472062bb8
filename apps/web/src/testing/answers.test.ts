import { describe, expect, it } from 'vitest'
import { call } from '../api/client.ts'
import { catalog, orders, settings } from '../api/routes.ts'
import { answer, answerRefused, hold, requestsOf, resetAnswers } from './answers.ts'
import { order, pageOf } from './shapes.ts'

describe('the answers of the test kit', () => {
  it('are only what the contract lets the server send', () => {
    expect(() => answer(settings.social, { discord: 'x' } as never)).toThrow('Not a reply of GET /api/settings/social')
    expect(() => answer(settings.social, { discord: '', twitter: '', more: '' } as never)).toThrow('replies')
    expect(() => answer({ method: 'GET', path: '/api/nowhere' } as never, null as never)).toThrow('has no call')
  })

  it('reach the caller, and keep what was asked', async () => {
    answer(orders.list, ({ query }) => pageOf({ ...order, product_name: query['search'] ?? '' }))
    const page = await call(orders.list, { query: { search: 'Paris' } })
    expect(page.data[0]?.product_name).toBe('Paris')
    expect(requestsOf(orders.list)).toEqual([{ params: {}, query: { search: 'Paris' }, body: undefined }])
  })

  it('refuse what the contract refuses, and what a test has them refuse', async () => {
    answer(orders.list, pageOf())
    await expect(call(orders.list, { query: { limit: 0 } })).rejects.toMatchObject({ status: 400, code: 400 })
    answerRefused(orders.list, 'too_many')
    await expect(call(orders.list)).rejects.toMatchObject({ status: 429, data: { reason: 'too_many' } })
  })

  it('reach every call that was held', async () => {
    const release = hold(orders.list)
    const calls = [call(orders.list), call(orders.list)]
    release(pageOf(order))
    expect(await Promise.all(calls)).toEqual([pageOf(order), pageOf(order)])
  })

  it('tell which calls had none', async () => {
    await expect(call(catalog.tags)).rejects.toMatchObject({ kind: 'network' })
    expect(resetAnswers()).toEqual(['Nothing answers GET /api/products/product_tags/'])
  })
})
