import { describe, expect, it, vi } from 'vitest'
import { address, ApiError, call, unwrap } from './client.ts'

const route = { method: 'GET', path: '/api/orders/order_list/:id/' } as const
const refusal = (work: () => unknown): ApiError => {
  try {
    work()
  } catch (error) {
    if (error instanceof ApiError) return error
  }
  throw new Error('was not refused')
}

describe('the envelope', () => {
  it('counts only code 2000 as a success', () => {
    expect(unwrap(200, '{"code":2000,"data":{"a":1},"msg":""}')).toEqual({ a: 1 })
    const error = refusal(() => unwrap(200, '{"code":200,"data":{"a":1},"msg":"no"}'))
    expect(error).toMatchObject({ kind: 'refused', code: 200, message: 'no', data: { a: 1 } })
  })

  it('takes another body where the caller accepts it', () => {
    const accept = (body: Record<string, unknown>) => Array.isArray(body['data'])
    expect(unwrap(200, '{"data":[1]}', accept)).toEqual([1])
    expect(refusal(() => unwrap(404, '{"code":404,"data":null,"msg":"gone"}', accept)).message).toBe('gone')
  })

  it.each(['', '<html>', 'null', '"text"', '3'])('tells that %j is no answer of ours', text => {
    expect(refusal(() => unwrap(502, text))).toMatchObject({ kind: 'format', status: 502, message: '' })
  })
})

describe('the address', () => {
  it('fills the path and leaves out what is empty', () => {
    const query = { limit: 10, offset: 0, search: '', tags: undefined, all: false }
    expect(address(route.path, { id: 7 }, query)).toBe('/api/orders/order_list/7/?limit=10&offset=0&all=false')
    expect(address('/x/:name', { name: 'a/b' })).toBe('/x/a%2Fb')
    expect(() => address(route.path)).toThrow('needs id')
  })
})

describe('a call', () => {
  it('tells a lost connection from a refusal', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('failed')))
    await expect(call({ method: 'GET', path: '/api/x' })).rejects.toMatchObject({ kind: 'network', status: 0 })
  })

  it('ends after its time', async () => {
    vi.stubGlobal(
      'fetch',
      (_: string, { signal }: { signal: AbortSignal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        })
    )
    await expect(call({ method: 'GET', path: '/api/x' }, {}, { timeout: 5 })).rejects.toMatchObject({ kind: 'timeout' })
  })
})
