import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { parseAddress } from '../src/net/ip.ts'
import { AccessTable } from '../src/proxy/access-table.ts'
import type { TrackedConnection } from '../src/proxy/open-connections.ts'
import type { Op } from '../src/state/definitions.ts'
import { LocalPlane } from '../src/workers/local.ts'
import { lease, onEnd, tempFolder, testAgent, testConfig, token, turnsDuring } from './test-agent.ts'
import { piecesOf } from '../src/workers/worker-process.ts'
import { OneAtATime } from '../src/api/server.ts'

const address = (text: string): NonNullable<ReturnType<typeof parseAddress>> => {
  const parsed = parseAddress(text)
  if (parsed === null) throw new Error(text)
  return parsed
}
const userOp = (user: string, prefixes: string[], allowedClientIps: string[] = []): Op => ({
  op: 'user',
  user,
  record: { password: 'secret', prefixes, denySet: 'many', allowedClientIps }
})

describe('what a worker has to take in at once', () => {
  const domains = [...Array.from({ length: 50_000 }, (_, n) => `site-${n}.test`), '!open.site-7.test', '8.8.0.0/16']
  // Every second address, so that no prefixes can be merged.
  const prefixes = Array.from({ length: 32_768 }, (_, n) => `127.9.${n >> 7}.${(n & 127) * 2}/32`)
  const clients = Array.from({ length: 10_000 }, (_, n) => `10.${n >> 8}.${n & 255}.0/25`)
  const ops: Op[] = [
    { op: 'deny-set', hash: 'many', domains },
    { op: 'blacklist', domains: domains.map(domain => domain.replace('site', 'closed')) },
    { op: 'prefixes', prefixes: ['8.8.4.0/24', ...prefixes] },
    userOp('large', prefixes, clients),
    userOp('wide', ['2001:db8::/64', ...prefixes]),
    ...Array.from({ length: 1000 }, (_, n) => userOp(`u${n}`, [`127.9.${n >> 7}.${(n & 127) * 2}/32`]))
  ]

  test('comes in small messages, however large the put is', () => {
    for (const piece of piecesOf(ops)) {
      const texts =
        piece.type === 'entries'
          ? piece.entries.length
          : piece.ops.reduce((sum, op) => {
              if (op.op === 'user')
                return sum + (op.record?.prefixes.length ?? 0) + (op.record?.allowedClientIps.length ?? 0)
              return sum + (op.op === 'prefixes' ? op.prefixes.length : (op.domains?.length ?? 0))
            }, 0)
      expect(texts).toBeLessThanOrEqual(2000)
    }
  })

  test('means the same in pieces as as a whole', () => {
    const whole = new AccessTable()
    whole.apply(ops)
    const inPieces = new AccessTable()
    for (const piece of piecesOf(ops)) {
      if (piece.type === 'entries') inPieces.prepare(piece.list, piece.entries)
      else inPieces.apply(structuredClone(piece.ops))
    }
    for (const table of [whole, inPieces]) {
      const large = table.authorise(address('127.9.5.6'), '10.1.2.3', 'large', 'secret')
      expect(large?.deny.deniesName('www.site-49999.test')).toBe(true)
      expect(large?.deny.deniesName('open.site-7.test')).toBe(false)
      expect(large?.deny.deniesAddress(address('8.8.8.8'))).toBe(true)
      expect(table.authorise(address('127.9.5.7'), '10.1.2.3', 'large', 'secret')).toBeNull()
      expect(table.authorise(address('127.9.5.6'), '10.1.2.200', 'large', 'secret')).toBeNull()
      expect(table.authorise(address('2001:db8::5'), '1.1.1.1', 'wide', 'secret')?.wide).toHaveLength(1)
      expect(table.authorise(address('127.9.0.2'), '1.1.1.1', 'u1', 'secret')?.user).toBe('u1')
      expect(table.blacklist.deniesName('closed-0.test')).toBe(true)
      expect([table.own.has(address('8.8.4.4')), table.own.has(address('8.8.5.4'))]).toEqual([true, false])
      expect(table.users).toBe(1002)
    }
  })
})

test('a user with many connections is cut off in pieces, and is gone from the first of them on', async () => {
  const local = new LocalPlane(
    { ...testConfig(await tempFolder()), shared: false, certificate: null, sessionKey: 'a2V5' },
    () => {}
  )
  const { plane } = local
  await plane.apply([userOp('u', ['127.9.0.0/24'])])
  let open = 0
  for (let n = 0; n < 2000; n++) {
    const connection: TrackedConnection = {
      local: address('127.9.0.1'),
      clientText: '1.1.1.1',
      lease: plane.accessTable.lease('u') ?? null,
      letInBy: 'password',
      id: n,
      openedAt: 0,
      egress: { text: '127.9.0.1' },
      target: '-',
      up: 0,
      down: 0,
      holder: null,
      stranger: null,
      named: null,
      account: () => {},
      tick: () => {},
      setSpeed: () => {},
      judgeAgain: () => {},
      endBecause: () => connection.destroy(),
      destroy: () => {
        open--
        plane.closed(connection)
      }
    }
    plane.opened(connection)
    open++
    if (connection.lease !== null) plane.acquireSlot(connection, connection.lease, '127.9.0.1')
  }
  // Counters are collected in pieces, too.
  expect(await turnsDuring(() => plane.collectInTurns())).toBeGreaterThanOrEqual(2)
  const turns = await turnsDuring(async () => {
    const applied = plane.apply([{ op: 'user', user: 'u', record: null }])
    expect(plane.accessTable.lease('u')).toBeUndefined()
    expect(open).toBeGreaterThan(1000)
    await applied
  })
  expect(open).toBe(0)
  expect(turns).toBeGreaterThan(20)
  local.close()
})

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
