import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { OneAtATime } from '../src/api/one-at-a-time.ts'
import { lease, onEnd, testAgent, token } from './test-agent.ts'

const settled = async (promise: Promise<void>): Promise<boolean> =>
  Promise.race([promise.then(() => true), new Promise<boolean>(resolve => setImmediate(() => resolve(false)))])

test('one is let in at a time, in order; who goes before its turn is left out', async () => {
  const turns = new OneAtATime<object>()
  const [a, b, c] = [{}, {}, {}]
  expect(await settled(turns.enter(a))).toBe(true)
  const [second, third] = [turns.enter(b), turns.enter(c)]
  turns.leave({})
  turns.leave(b)
  expect([await settled(second), await settled(third)]).toEqual([false, false])
  turns.leave(a)
  expect(await settled(third)).toBe(true)
  turns.leave(c)
  expect(await settled(turns.enter(a))).toBe(true)
})

test('long lists at once are all taken, also where a caller goes before its turn', async () => {
  const agent = await testAgent()
  const denied_domains = Array.from({ length: 15_000 }, (_, n) => `site-${n}.list.example`)
  const text = JSON.stringify({ password: 'secret', prefixes: [], denied_domains })
  for (let n = 0; n < 3; n++) {
    const gone = connect({ host: '127.0.0.1', port: agent.port })
    onEnd(() => gone.destroy())
    gone.on('error', () => {})
    const head = `PUT /api/users/gone${n} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${text.length}\r\n\r\n`
    await new Promise<void>(resolve => gone.write(head + text, () => resolve()))
    gone.destroy()
  }
  const puts = Array.from({ length: 4 }, (_, n) => lease(agent.call, `long${n}`, [], { denied_domains }))
  expect(new Set((await Promise.all(puts)).map(reply => String(reply['deny_set']))).size).toBe(1)
  await lease(agent.call, 'short', [])
})
