import { describe, expect, test } from 'vitest'
import { ConnectionLimits, defaultCaps } from '../src/proxy/connection-limits.ts'
import { agentProcess } from './process.ts'
import { basic, caller, echoTarget, lease, randomNet, RawClient, tempFolder, until } from './test-agent.ts'

const lease20 = { limits: { connections: 20 } } as never
const holder = { user: 'u', address: '127.0.0.1', client: '127.0.0.2' }

function opened(count: number): ConnectionLimits {
  const limits = new ConnectionLimits({ ...defaultCaps, processes: 2 })
  for (let n = 0; n < count; n++) expect(limits.open(holder, lease20)).toBeNull()
  return limits
}
const surplusOf = (limits: ConnectionLimits, elsewhere: number, told: number): unknown[] =>
  limits.setElsewhere([['user u', elsewhere, told]], () => lease20, false)

describe('of connections that several workers let in at the same moment', () => {
  test('each keeps its share of the limit, however often it is told', () => {
    const limits = opened(20)
    const surplus = { kind: 'user', key: 'u', keep: 10, note: 'too-many' }
    expect(surplusOf(limits, 20, 20)).toMatchObject([surplus])
    for (let n = 0; n < 10; n++) limits.closed(holder)
    // The same again, told before the others ended theirs.
    expect(surplusOf(limits, 20, 20)).toEqual([])
    // Up to a quarter too many stay, and so does what was never told.
    expect(surplusOf(opened(15), 10, 15)).toEqual([])
    expect(surplusOf(opened(4), 40, 0)).toEqual([])
  })

  test('those of whom there are many are told, until there are few, and where the plan has less than before', () => {
    const limits = opened(2)
    const leaseOf = () => lease20
    expect(limits.toTell(leaseOf)).toEqual([])
    limits.open(holder, lease20)
    expect(limits.toTell(leaseOf)).toEqual([['user u', 3, 3 / 20]])
    limits.closed(holder)
    expect(limits.toTell(leaseOf)).toEqual([])
    limits.changed('u')
    expect(limits.toTell(() => ({ limits: { connections: 4 } }) as never)).toEqual([['user u', 2, 2 / 4]])
  })

  test('nobody loses all of them, nor ends more while the others are still ending theirs', () => {
    const small = { limits: { connections: 4 } } as never
    const limits = new ConnectionLimits({ ...defaultCaps, processes: 4 })
    for (let n = 0; n < 4; n++) expect(limits.open(holder, small)).toBeNull()
    expect(limits.setElsewhere([['user u', 30, 4]], () => small, false)).toMatchObject([{ keep: 1 }])
    for (let n = 0; n < 2; n++) limits.closed(holder)
    // Counts of before, told again: two are open here, and one of them would go.
    expect(limits.setElsewhere([['user u', 30, 2]], () => small, false)).toEqual([])
  })

  test('that there are fewer is told as soon as that there are many', () => {
    const limits = opened(2)
    let told = 0
    limits.onMany = () => (told += 1)
    limits.closed(holder)
    expect(told).toBe(0)
    for (let n = 0; n < 5; n++) limits.open(holder, lease20)
    told = 0
    limits.closed(holder)
    expect(told).toBeGreaterThan(0)
  })

  test.runIf(process.platform === 'linux')(
    'the youngest end, and of the plan nobody keeps more than it has',
    async () => {
      const agent = await agentProcess(await tempFolder(), { AGENT_WORKERS: '2' })
      const call = caller(agent.port)
      const net = randomNet()
      const echo = await echoTarget()
      await call('PUT', '/api/prefixes', { prefixes: [`${net}.0.0/16`] })
      await lease(call, 'many', [`${net}.1.1/32`], { limits: { connections: 20 } })
      const clients = Array.from({ length: 120 }, () => new RawClient(`${net}.1.1`, agent.proxyPort))
      await until('all to be connected', () => clients.every(({ socket }) => !socket.connecting))
      const request = `CONNECT ${echo.host} HTTP/1.1\r\nHost: ${echo.host}\r\n${basic('many')}\r\n`
      for (const client of clients) client.send(request)
      await until('an answer for each', () => clients.every(each => each.received.length > 0 || each.closed))
      const served = (): number => clients.filter(each => each.text.startsWith('HTTP/1.1 200') && !each.closed).length
      await until('the surplus to end', () => served() <= 25)
      expect(served()).toBeGreaterThanOrEqual(10)
      const { users } = (await call('GET', '/api/connections')).json as unknown as { users: Array<{ count: number }> }
      expect(users[0]?.count).toBeLessThanOrEqual(25)
    },
    60_000
  )
})
