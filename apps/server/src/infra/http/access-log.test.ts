import { expect, test } from 'vitest'
import { createLog } from '../log.ts'
import { logRequests } from './access-log.ts'
import { createApp } from './app.ts'

test('a line has method, route, status, time and request id, and nothing that the request brought', async () => {
  const lines: string[] = []
  const log = createLog('test', 'info', undefined, { write: text => void lines.push(text) })
  const app = await createApp({ log: createLog('test', 'silent'), trustProxy: false })
  try {
    logRequests(app, log)
    app.post('/orders/:id', async () => 'ok')
    app.get('/healthz', async () => 'ok')
    const reply = await app.inject({
      method: 'POST',
      url: '/orders/secret1?token=secret2',
      headers: { cookie: 'session=secret3', 'x-request-id': 'secret4' },
      payload: { password: 'secret5' }
    })
    await app.inject('/healthz')
    await app.inject('/nowhere/secret6')
    const logged = lines.map(line => JSON.parse(line) as Record<string, unknown>)
    expect(logged).toMatchObject([
      { method: 'POST', route: '/orders/:id', status: 200, request: reply.headers['x-request-id'] },
      { method: 'GET', route: 'unknown', status: 404 }
    ])
    expect(logged[0]?.['ms']).toBeTypeOf('number')
    expect(lines.join('')).not.toContain('secret')
  } finally {
    await app.close()
  }
})
