import { describe, expect, test } from 'vitest'
import { type Address, packRanges, parseAddress, prefixesOf } from '../net/ip.ts'
import type { UserRecord } from '../state/definitions.ts'
import { AccessTable, BLACKLIST } from './access-table.ts'

const addressOf = (text: string): Address => parseAddress(text) ?? expect.fail(text)
const LEASED = addressOf('192.0.2.1')
const FOREIGN = addressOf('192.0.2.9')
const HOME = '198.51.100.7'
const AWAY = '203.0.113.7'

const record = (more: Partial<UserRecord> = {}): UserRecord => ({
  password: 'secret',
  prefixes: ['192.0.2.0/29'],
  denySet: '',
  allowedClientIps: [],
  ...more
})

function tableOf(users: Record<string, Partial<UserRecord>>): AccessTable {
  const table = new AccessTable()
  table.apply(Object.entries(users).map(([user, more]) => ({ op: 'user', user, record: record(more) })))
  return table
}
const leaseOf = (table: AccessTable, user: string) => table.lease(user) ?? expect.fail(user)

describe('a user', () => {
  test('uses its addresses with its password, and no others', () => {
    const table = tableOf({ u: {} })
    const lease = leaseOf(table, 'u')
    expect(table.authorise(LEASED, HOME, 'u', 'secret')).toBe(lease)
    expect(table.authorise(FOREIGN, HOME, 'u', 'secret')).toBe(null)
    expect(table.authorise(LEASED, HOME, 'other', 'secret')).toBe(null)
    for (const wrong of ['', 'secre', 'secret ', 'Secret', 'secret\0', 'x'.repeat(200)])
      expect(table.authorise(LEASED, HOME, 'u', wrong), wrong).toBe(null)
    // The bytes that an unknown user is compared with.
    expect(table.authorise(LEASED, HOME, 'other', '\u0001'.repeat(0x0101))).toBe(null)
    expect([table.named(LEASED, 'u'), table.named(FOREIGN, 'u'), table.named(LEASED, 'other')]).toEqual([
      lease,
      null,
      null
    ])
  })

  test('with the longest password is not mistaken for one that begins alike', () => {
    const longest = 'x'.repeat(128)
    const table = tableOf({ u: { password: longest }, empty: { password: '' } })
    expect(table.authorise(LEASED, HOME, 'u', longest)).toBe(table.lease('u'))
    for (const other of [`${longest}x`, longest.slice(1), 'x'.repeat(128 + 65_536)])
      expect(table.authorise(LEASED, HOME, 'u', other)).toBe(null)
    expect(table.authorise(LEASED, HOME, 'empty', 'x')).toBe(null)
    // The buffer keeps nothing of the previous comparison.
    expect(table.authorise(LEASED, HOME, 'empty', '')).toBe(table.lease('empty'))
  })

  test('gets a new lease with each change, and none after its removal', () => {
    const table = tableOf({ u: {}, other: {} })
    const [before, other] = [leaseOf(table, 'u'), leaseOf(table, 'other')]
    expect(table.apply([{ op: 'user', user: 'u', record: record({ password: 'new' }) }])).toEqual(new Set(['u']))
    expect(table.lease('u')).not.toBe(before)
    expect(table.lease('other')).toBe(other)
    expect([table.authorise(LEASED, HOME, 'u', 'secret'), table.users]).toEqual([null, 2])
    expect(table.apply([{ op: 'user', user: 'u', record: null }])).toEqual(new Set(['u']))
    expect([table.lease('u'), table.authorise(LEASED, HOME, 'u', 'new'), table.users]).toEqual([undefined, null, 1])
  })

  test('has what its record says, and defaults for the rest', () => {
    const limits = { connections: 5 }
    const table = tableOf({
      plain: {},
      full: { access: 'address', allowedClientIps: [`${HOME}/32`], limits, egress: 'request' }
    })
    expect(leaseOf(table, 'plain')).toMatchObject({
      user: 'plain',
      clients: null,
      access: 'password',
      openTo: [],
      limits: null,
      egress: 'fixed',
      wide: []
    })
    expect(leaseOf(table, 'full')).toMatchObject({
      access: 'address',
      openTo: [`${HOME}/32`],
      limits,
      egress: 'request'
    })
  })

  test('counts each large IPv6 prefix as one address', () => {
    const table = tableOf({
      u: { prefixes: ['2001:db8:0:1::/64', '2001:db8:1::/112', '2001:db8:2::/111', '10.0.0.0/8'] }
    })
    const { wide } = leaseOf(table, 'u')
    expect(wide.map(({ countedAs }) => countedAs)).toEqual(['2001:db8:0:1::1', '2001:db8:2::1'])
    expect(wide.map(({ set }) => set.has(addressOf('2001:db8:0:1::99')))).toEqual([true, false])
  })

  test('may come packed, as workers receive it', () => {
    const table = new AccessTable()
    const packed = {
      addresses: packRanges(prefixesOf(['192.0.2.0/29'])),
      clients: packRanges(prefixesOf(['198.51.100.0/24']))
    }
    const listed = record({ prefixes: [], allowedClientIps: ['packed'] })
    table.apply([{ op: 'user', user: 'u', record: listed, packed }])
    expect(table.authorise(LEASED, HOME, 'u', 'secret')).toBe(table.lease('u'))
    expect(table.authorise(LEASED, AWAY, 'u', 'secret')).toBe(null)
    table.apply([{ op: 'user', user: 'u', record: record({ prefixes: [] }), packed }])
    expect(table.authorise(LEASED, AWAY, 'u', 'secret')).toBe(table.lease('u'))
  })
})

test.each<[string, Partial<UserRecord>, { home: boolean[]; away: boolean[] }]>([
  ['by the password, from anywhere', {}, { home: [true, false], away: [true, false] }],
  [
    'by the password, from its list',
    { allowedClientIps: [`${HOME}/32`] },
    { home: [true, false], away: [false, false] }
  ],
  [
    'by its address, or else by the password',
    { access: 'address', allowedClientIps: [`${HOME}/32`] },
    { home: [true, true], away: [true, false] }
  ],
  ['by its address, but none is listed', { access: 'address' }, { home: [true, false], away: [true, false] }],
  [
    'by both',
    { access: 'password_and_address', allowedClientIps: [`${HOME}/32`] },
    { home: [true, false], away: [false, false] }
  ],
  ['by both, but none is listed', { access: 'password_and_address' }, { home: [false, false], away: [false, false] }]
])('a client is let in %s', (_how, more, { home, away }) => {
  const table = tableOf({ u: more })
  const lease = leaseOf(table, 'u')
  const permitted = (client: string): boolean[] =>
    (['password', 'address'] as const).map(by => table.permits(lease, LEASED, client, by))
  expect([permitted(HOME), permitted(AWAY)]).toEqual([home, away])
  expect(table.openTo(LEASED, HOME)).toBe(home[1] ? lease : null)
  expect(table.permits(lease, FOREIGN, HOME, 'password')).toBe(false)
  expect(table.permits(lease, FOREIGN, HOME, 'address')).toBe(false)
  expect(table.authorise(LEASED, AWAY, 'u', 'secret')).toBe(away[0] ? lease : null)
})

test('a client without an IP address is on no list', () => {
  const table = tableOf({ u: { allowedClientIps: ['0.0.0.0/0', '::/0'] } })
  expect(['', 'unix', HOME].map(client => table.permits(leaseOf(table, 'u'), LEASED, client, 'password'))).toEqual([
    false,
    false,
    true
  ])
})

test('a replaced lease lets no client in by its address', () => {
  const table = tableOf({ u: { access: 'address', allowedClientIps: [`${HOME}/32`] } })
  table.apply([{ op: 'user', user: 'u', record: record({ access: 'address', allowedClientIps: [`${AWAY}/32`] }) }])
  expect([table.openTo(LEASED, HOME), table.openTo(LEASED, AWAY)]).toEqual([null, table.lease('u')])
  table.apply([{ op: 'user', user: 'u', record: null }])
  expect(table.openTo(LEASED, AWAY)).toBe(null)
})

describe('denied sites', () => {
  const deny = (table: AccessTable) => leaseOf(table, 'u').deny
  const give = (table: AccessTable, denySet: string) =>
    table.apply([{ op: 'user', user: 'u', record: record({ denySet }) }])

  test('are those of the user’s set, while that set exists', () => {
    const table = new AccessTable()
    expect(table.apply([{ op: 'deny-set', hash: 'h', domains: ['denied.test', '192.0.2.0/24'] }])).toEqual(new Set())
    give(table, 'h')
    expect(deny(table).deniesName('www.denied.test')).toBe(true)
    expect(deny(table).deniesAddress(addressOf('192.0.2.9'))).toBe(true)
    give(table, 'other')
    expect(deny(table).deniesName('www.denied.test')).toBe(false)
    table.apply([{ op: 'deny-set', hash: 'h', domains: null }])
    give(table, 'h')
    expect(deny(table).deniesName('www.denied.test')).toBe(false)
  })

  test('may come in pieces: prepared entries are used once, with the rest', () => {
    const table = new AccessTable()
    table.prepare('h', ['one.test', '192.0.2.0/24'])
    table.prepare('h', ['two.test'])
    table.apply([{ op: 'deny-set', hash: 'h', domains: ['three.test'] }])
    give(table, 'h')
    expect(['one.test', 'two.test', 'three.test', 'four.test'].map(name => deny(table).deniesName(name))).toEqual([
      true,
      true,
      true,
      false
    ])
    expect(deny(table).deniesAddress(addressOf('192.0.2.9'))).toBe(true)
    table.apply([{ op: 'deny-set', hash: 'h', domains: ['four.test'] }])
    give(table, 'h')
    expect(['one.test', 'four.test'].map(name => deny(table).deniesName(name))).toEqual([false, true])
  })

  test('of all users are the blacklist; the server’s prefixes are its own', () => {
    const table = new AccessTable()
    expect([table.blacklist.deniesName('bad.test'), table.own.empty]).toEqual([false, true])
    table.prepare(BLACKLIST, ['bad.test'])
    table.apply([
      { op: 'blacklist', domains: ['worse.test'] },
      { op: 'prefixes', prefixes: ['192.0.2.0/24'] }
    ])
    expect(['bad.test', 'worse.test', 'good.test'].map(name => table.blacklist.deniesName(name))).toEqual([
      true,
      true,
      false
    ])
    expect(table.own.has(FOREIGN)).toBe(true)
    const packed = packRanges(prefixesOf(['198.51.100.0/24']))
    table.apply([{ op: 'prefixes', prefixes: [], packed }])
    expect([table.own.has(FOREIGN), table.own.has(addressOf(HOME))]).toEqual([false, true])
    expect(table.names.size).toBe(2)
  })
})
