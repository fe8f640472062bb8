import { expect, test } from 'vitest'
import { createLog } from '../log.ts'
import { createApp } from './app.ts'

test.each([
  ['a deadlock', '40P01', 503],
  ['a serialisation failure', '40001', 503],
  ['a database that is read-only while it fails over', '25006', 503],
  ['a database without a free connection', '53300', 503],
  ['a violated constraint', '23505', 500]
])('%s that comes out of a call answers %s as %i', async (_what, code, status) => {
  const app = await createApp({ log: createLog('test', 'silent'), trustProxy: false })
  try {
    app.get('/fails', () => {
      throw new Error('Failed query', { cause: Object.assign(new Error('the database says'), { code }) })
    })
    const reply = await app.inject('/fails')
    expect([reply.statusCode, reply.headers['retry-after']]).toEqual([status, status === 503 ? '5' : undefined])
    expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  } finally {
    await app.close()
  }
})
