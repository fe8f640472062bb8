import { expect, test } from 'vitest'
import { agentHealth } from './agent.ts'
import { denySetHash, normaliseDenied, normaliseDenyList, userHash } from './agent-hashes.ts'

test.each([
  ['Example.COM', 'example.com'],
  ['  *.example.com ', 'example.com'],
  ['.example.com', 'example.com'],
  ['example.com.', 'example.com'],
  ['https://www.example.com/path?q=1', 'www.example.com'],
  ['example.com:443', 'example.com'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['_dmarc.example.com', '_dmarc.example.com'],
  ['10.0.0.1', '10.0.0.1'],
  ['10.0.0.0/8', '10.0.0.0/8'],
  ['2001:db8::/32', '2001:db8::/32'],
  ['', ''],
  ['# a note', '']
])('%j is kept as %j', (line, kept) => expect(normaliseDenied(line)).toBe(kept))

test.each(['exa mple.com', 'example..com', '-x.com', '10.0.0.0/x', `${'a'.repeat(64)}.com`, 'x'.repeat(300)])(
  '%j is no domain',
  line => expect(normaliseDenied(line)).toBeNull()
)

test('equal lists have equal hashes, whatever their order and spelling', () => {
  const one = normaliseDenyList(['b.com', 'A.com', '*.b.com'])
  const two = normaliseDenyList(['a.com', 'b.com'])
  if (!one.ok || !two.ok) throw new Error('both are fine')
  expect(denySetHash(one.domains)).toBe(denySetHash(two.domains))
  expect(normaliseDenyList(['fine.com', 'not fine'])).toEqual({ ok: false, bad: 'not fine' })
})

test('exceptions are part of the list and of its hash, and are domains', () => {
  const list = normaliseDenyList(['b.com', 'a.com', '10.0.0.0/8', '2001:db8::/32'], ['X.b.com', '*.x.b.com.', ' '])
  if (!list.ok) throw new Error(list.bad)
  expect(list.domains).toEqual(['!x.b.com', '10.0.0.0/8', '2001:db8::/32', 'a.com', 'b.com'])
  expect(denySetHash(['10.0.0.0/8', '2001:db8::/32', 'a.com', 'b.com'], ['x.b.com'])).toBe(denySetHash(list.domains))
  expect(denySetHash(['a.com'])).not.toBe(denySetHash([], ['a.com']))
  for (const bad of ['10.0.0.1', '10.0.0.0/8', '2001:db8::1', '!a.com', 'not fine']) {
    expect(normaliseDenyList(['a.com'], [bad])).toEqual({ ok: false, bad })
  }
  expect(normaliseDenyList(['!a.com'])).toEqual({ ok: false, bad: '!a.com' })
})

test('the hash of a user tells every field apart', () => {
  const user = { password: 'p', prefixes: ['1.0.0.0/30', '2.0.0.0/30'], denySet: 'd', allowedClientIps: ['3.0.0.0/32'] }
  const hash = userHash(user)
  expect(userHash({ ...user, prefixes: user.prefixes.toReversed() })).toBe(hash)
  const others = [{ password: 'q' }, { prefixes: ['1.0.0.0/30'] }, { denySet: 'e' }, { allowedClientIps: [] }]
  for (const other of others) expect(userHash({ ...user, ...other })).not.toBe(hash)
  expect(userHash({ ...user, access: 'password' })).toBe(hash)
  expect(userHash({ ...user, access: 'address' })).not.toBe(hash)
  expect(userHash({ ...user, access: 'address' })).not.toBe(userHash({ ...user, access: 'password_and_address' }))
  // As stored before there were other modes.
  expect(userHash({ ...user, egress: 'fixed' })).toBe(hash)
  const ways = (['request', 'session'] as const).map(egress => userHash({ ...user, egress }))
  expect(new Set([...ways, hash]).size).toBe(3)
})

test('what an agent tells of itself is text that a database takes', () => {
  const health = { status: 'ok', version: '0.1.0+1a2b', workers: 2, uptime_seconds: 1, problems: ['loop_slow'] }
  expect(agentHealth.safeParse(health).success).toBe(true)
  for (const bad of [{ problems: ['loop\0slow'] }, { problems: ['\ud800'] }, { version: '0.1\0' }])
    expect(agentHealth.safeParse({ ...health, ...bad }).success).toBe(false)
})
