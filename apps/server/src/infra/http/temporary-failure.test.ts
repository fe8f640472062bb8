import { expect, test } from 'vitest'
import { createLog } from '../log.ts'
import { createApp } from './app.ts'

test.each([
  ['a deadlock', '40P01', 503],
  ['a serialisation failure', '40001', 503],
  ['a database that is read-only while it fails over', '25006', 503],
  ['a violated constraint', '23505', 500]
])('%s that comes out of a call answers %s as %i', async (_what, code, status) => {
  const app = await createApp({ log: createLog('test', 'silent'), trustProxy: false })
  try {
    app.get('/fails', () => {
      throw new Error('Failed query', { cause: Object.assign(new Error('the database says'), { code }) })
    })
    expect((await app.inject('/fails')).statusCode).toBe(status)
  } finally {
    await app.close()
  }
})
