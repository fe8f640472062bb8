import { beforeAll, describe, expect, test } from 'vitest'
import { LogFollower } from '../src/log/access-log.ts'
import { RefusalsOfDay } from '../src/state/refusals.ts'
import { agentProcess } from './process.ts'
import { caller, echoTarget, lease, proxied, tempFolder, tunnel, until, type Call } from './test-agent.ts'

type Live = {
  total: number
  users: Array<{ user: string; count: number; up: number }>
  connections: Array<{ id: string; client: string; ip: string; target: string }>
  refusals: Record<string, number>
}

describe('what is open, over two workers', () => {
  let call: Call
  let proxyPort: number
  let echo: Awaited<ReturnType<typeof echoTarget>>
  const ip = (n: number): string => `127.254.5.${n}`
  beforeAll(async () => {
    const agent = await agentProcess(await tempFolder(), { AGENT_WORKERS: '2' })
    call = caller(agent.port)
    proxyPort = agent.proxyPort
    await call('PUT', '/api/prefixes', { prefixes: ['127.254.5.0/24'] })
    for (const n of [1, 2]) await lease(call, `u${n}`, [`${ip(n)}/32`])
    echo = await echoTarget()
  })
  const look = async (query = ''): Promise<Live> => (await call('GET', `/api/connections${query}`)).json
  const open = (n: number): ReturnType<typeof tunnel> => tunnel(ip(n), proxyPort, `u${n}`, echo.host)

  test('is told by user and by connection, in bounded pages, and ended one by one or all of a user', async () => {
    const first = await Promise.all(Array.from({ length: 6 }, () => open(1)))
    const other = await open(2)
    const all = await look()
    expect(all.users).toMatchObject([
      { user: 'u1', count: 6 },
      { user: 'u2', count: 1 }
    ])
    expect(all.connections).toEqual([])
    const own = await look('?user=u1&limit=4')
    expect(own.total).toBe(6)
    expect(own.connections).toHaveLength(4)
    expect(own.connections[0]).toMatchObject({ client: '127.0.0.1', ip: ip(1), target: echo.host })

    const id = own.connections[0]?.id
    expect((await call('DELETE', `/api/connections?user=u2&id=${id}`)).json).toEqual({ ended: 0 })
    expect((await call('DELETE', `/api/connections?user=u1&id=${id}`)).json).toEqual({ ended: 1 })
    await until('one to be gone', () => first.filter(({ rawClient }) => rawClient.closed).length === 1)
    expect((await call('DELETE', '/api/connections?user=u1')).json).toEqual({ ended: 5 })
    await until('all to be gone', () => first.every(({ rawClient }) => rawClient.closed))
    expect(other.rawClient.closed).toBe(false)
    expect((await look()).users).toMatchObject([{ user: 'u2', count: 1 }])
    for (const query of ['?user=no such', '?limit=201', '?limit=0']) {
      expect((await call('GET', `/api/connections${query}`)).status).toBe(400)
    }
    expect((await call('DELETE', '/api/connections')).status).toBe(400)
  })

  test("the log is followed from a number on, filtered, and today's refusals are told by reason", async () => {
    const follow = async (query: string): Promise<{ lines: string[]; next: number }> =>
      (await call('GET', `/api/log/follow?${query}`)).json
    const { next } = await follow('after=0')
    await proxied(ip(1), proxyPort, 'u1', 'http://8.8.8.8:25/')
    await proxied(ip(2), proxyPort, 'u2', 'http://8.8.8.8:587/')
    const seen = await until('both lines', async () => {
      const { lines } = await follow(`after=${next}`)
      return lines.filter(line => line.includes('refused-port')).length === 2 ? lines : null
    })
    expect(seen.join()).not.toContain('secret')
    expect((await follow(`after=${next}&user=u2&status=4`)).lines).toMatchObject([expect.stringContaining(':587 403')])
    expect((await follow(`after=${next}&user=u2&status=2`)).lines).toEqual([])
    expect((await follow(`after=${next}&address=${ip(1)}&status=403`)).lines).toHaveLength(1)
    expect((await call('GET', '/api/log/follow?after=-1')).status).toBe(400)
    await until('the refusals', async () => (await look()).refusals['refused-port'] === 2)
  })
})

describe('the log that is followed', () => {
  test('is kept only for who follows, in bounded memory, and tells how many lines were missed', () => {
    const follower = new LogFollower()
    follower.add('t c u ip GET a:1 200 0 0 0 ok', 1)
    expect(follower.read(0, {}, 200)).toEqual({ lines: [], next: 1, missed: 0 })
    const line = (n: number): string => `t c u ip GET a:${n} 200 0 0 0 ok`
    for (let n = 0; n < 10_000; n++) follower.add(line(n), 1)
    const first = follower.read(1, {}, 200)
    expect(first.lines).toHaveLength(200)
    expect(first.missed).toBeGreaterThan(6000)
    expect(first.next).toBe(1 + first.missed + 200)
    // The position moves past lines that do not match, too.
    const none = follower.read(first.next, { user: 'another' }, 200)
    expect([none.lines, none.next]).toEqual([[], 10_001])
    // A position from before a restart.
    expect(follower.read(99_999, {}, 1).lines).toHaveLength(1)
  })
})

test('refusals are those of the day', () => {
  let now = Date.UTC(2026, 0, 1, 12)
  const refusals = new RefusalsOfDay(() => now)
  expect(refusals.read({ ok: 5, 'no-auth': 3 })).toMatchObject({ refusals: { 'no-auth': 3 } })
  now += 12 * 3600 * 1000
  expect(refusals.read({ 'no-auth': 4 })).toEqual({ refusals: {}, refusals_since: '2026-01-02T00:00:00.000Z' })
  expect(refusals.read({ 'no-auth': 6 }).refusals).toEqual({ 'no-auth': 2 })
})
