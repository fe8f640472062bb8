import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'

const namespace = ['--net', '--mount-proc', '--fork', '--pid']
const allowed =
  process.platform === 'linux' &&
  spawnSync('unshare', [...namespace, 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' }).status === 0
/** Whether this machine can connect two namespaces. */
const joins =
  allowed &&
  spawnSync('unshare', [...namespace, 'ip', 'link', 'add', 'v0', 'type', 'veth', 'peer', 'name', 'v1'], {
    stdio: 'ignore'
  }).status === 0
if (!allowed) console.warn('Exit addresses are not tested here: this machine lets nobody make a network namespace.')

/** The exit addresses of an HTTP request, a second one on the same connection, CONNECT and SOCKS5. */
type Exits = [string, string, string, string]
type Seen = {
  replies: Record<string, string>
  local: boolean[]
  started: number
  fixed: Exits
  within: Exits
  v4: string
  own: string
  turns: string[]
  turnsUdp: string[]
  session: Record<'abc' | 'again' | 'def' | 'other' | 'elsewhere' | 'none' | 'real', Exits> & { udp: string }
  perRequest: string[]
  refusals: Record<string, string>
  bound: string
  opened: number[]
  counted: string[]
  codes: Record<string, number>
  restarted: Exits
  links: string[]
  checks: { there: unknown; refused: unknown; nowhere: unknown; onLink: unknown; foreign: string; bad: string }
  logged: number
  loggedFixed: number
}

let seen: Seen
const four = (address: string): Exits => [address, address, address, address]

describe.runIf(allowed)('what connections through a leased /64 leave from', () => {
  beforeAll(() => {
    const script = fileURLToPath(new URL('egress-namespace.ts', import.meta.url))
    const arguments_ = [...namespace, process.execPath, script, ...(joins ? ['veth'] : [])]
    const run = spawnSync('unshare', arguments_, { encoding: 'utf8', timeout: 60_000 })
    expect(run.stderr).toBe('')
    seen = JSON.parse(run.stdout) as Seen
  })

  test('is taken by whole IPv6 /64s only, and told', () => {
    const refused = 'egressNeedsIpv6'
    expect(seen.replies).toEqual({
      fixed: 'fixed',
      request: 'request',
      session: 'session',
      v4: refused,
      narrow: refused,
      both: refused
    })
  })

  test('is local as long as its range is managed, all of many ranges after a start, too', () => {
    expect(seen.local).toEqual([false, true, false])
    expect(seen.started).toBe(2)
  })

  test('fixed: the address that the client connected to, any of the /64', () => {
    expect(seen.fixed).toEqual(four('fd00:77:0:1::1'))
    expect(seen.within).toEqual(four('fd00:77:0:1:ab::9'))
    expect(seen.v4).toMatch(/^200 (?:::ffff:)?10\.77\.1\.1$/)
    // The leased addresses are not destinations.
    expect(seen.own).toMatch(/^403 /)
    expect(seen.loggedFixed).toBe(4)
  })

  test('request: another one for each connection to a target, datagrams too; a kept one stays', () => {
    const [http, kept, connect, socks, again, keptAgain, ...more] = seen.turns
    expect([kept, keptAgain]).toEqual([http, again])
    const all = [http, connect, socks, again, ...more, ...seen.turnsUdp]
    expect(new Set(all).size).toBe(8)
    for (const address of all) {
      expect(address).toMatch(/^fd00:77:0:2:/)
      expect(['fd00:77:0:2::', 'fd00:77:0:2::1']).not.toContain(address)
    }
    // The access log has the exit address besides the leased one.
    expect(seen.logged).toBeGreaterThanOrEqual(8)
  })

  test('session: one address for the name, the user and the /64, after a restart too', () => {
    const { abc, again, udp, def, other, elsewhere, none } = seen.session
    const [address] = abc
    expect(address).toMatch(/^fd00:77:0:3:/)
    expect([abc, again, seen.restarted]).toEqual([four(address), four(address), four(address)])
    expect(udp).toBe(address)
    expect(none).toEqual(four('fd00:77:0:3::1'))
    expect(elsewhere[0]).toMatch(/^fd00:77:0:5:/)
    const lower = (text: string): string => text.split(':').slice(4).join(':')
    expect(new Set([abc, def, other, elsewhere].map(([first]) => lower(first))).size).toBe(4)
    expect(seen.perRequest).toEqual([address, def[0], 'fd00:77:0:3::1'])
  })

  test('a user whose own name ends like a session is that user', () => {
    expect(seen.session.real).toEqual(four('fd00:77:0:3::1'))
  })

  test('an impossible session is refused with a reason, but only after the right password', () => {
    const none = '403 This plan has no sessions. Remove -session-NAME from the username'
    const bad = '403 A session name has 1 to 32 letters, digits or underscores'
    const unknown = '407 Enter the username and password of this proxy'
    expect(seen.refusals).toEqual({
      fixed: none,
      turns: none,
      v4: none,
      badName: bad,
      longName: bad,
      nobody: unknown,
      wrongAddress: unknown
    })
    expect([seen.bound, seen.codes]).toEqual(['refused', { 'no-session': 2, 'refused-range': 1 }])
  })

  test('limits and traffic are those of the leased address', () => {
    expect(seen.opened).toEqual([200, 200, 200, 200, 200, 200, 429, 429])
    expect(seen.counted.filter(row => /^(?:turns|sticky) /.test(row))).toEqual([
      'sticky fd00:77:0:3::1',
      'sticky fd00:77:0:5::1',
      'turns fd00:77:0:2::1'
    ])
  })

  test('each IPv6 range is reported as routed here, or as on a link where nothing answers for it', () => {
    const linked = joins ? ['fd00:99::8000:0/97 on_link'] : []
    expect(seen.links).toEqual(['10.77.0.0/16 -', 'fd00:77::/48 routed', ...linked])
  })

  test('is checked by a connection from an address of the range', () => {
    const address: unknown = expect.stringMatching(/^fd00:77:[0-9a-f:]+$/)
    const { there, refused, nowhere, onLink, foreign, bad } = seen.checks
    expect(there).toMatchObject({ address, verdict: 'reachable', results: [{ found: 'connected', own: 'connected' }] })
    expect(refused).toMatchObject({ address, verdict: 'reachable', results: [{ found: 'refused', own: 'refused' }] })
    expect(nowhere).toMatchObject({ verdict: 'no_network', results: [{ found: 'unreachable', own: 'unreachable' }] })
    // The other machine's neighbour discovery gets no answer.
    const unanswered = {
      verdict: 'no_neighbour',
      results: [{ target: '[fd00:99::1]:4000', found: 'silent', own: 'connected' }]
    }
    expect(onLink).toEqual(joins ? expect.objectContaining(unanswered) : null)
    expect([foreign, bad]).toEqual(['outsidePrefixes', 'badBody'])
  })
})
