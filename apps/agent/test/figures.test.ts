import { networkInterfaces } from 'node:os'
import { beforeAll, describe, expect, test } from 'vitest'
import { Alarms } from '../src/state/alarms.ts'
import { AbuseWatch } from '../src/proxy/abuse-watch.ts'
import { httpTarget, lease, proxied, testAgent, token, tunnel, until, type TestAgent } from './test-agent.ts'
import { type Observed, findProblems } from '../src/make-control.ts'

/** Parses the text format as strictly as Prometheus does. Returns values by sample name with labels. */
function parseMetrics(text: string): Map<string, number> {
  const samples = new Map<string, number>()
  expect(text.endsWith('\n')).toBe(true)
  const types = new Map<string, string>()
  let helped = ''
  let family = ''
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line) ?? []
    if (kind === 'HELP') {
      expect(types.has(name), `${name} comes twice`).toBe(false)
      helped = name
    } else if (kind === 'TYPE') {
      expect(helped).toBe(name)
      expect(['counter', 'gauge']).toContain(rest)
      expect(rest === 'counter').toBe(name.endsWith('_total'))
      types.set(name, rest)
      family = name
    } else {
      const label = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"'
      const sample = new RegExp(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\\{${label}(?:,${label})*\\})? (\\S+)$`).exec(line)
      expect(sample, `${line} is no sample`).not.toBeNull()
      const [, of = '', labels = '', value] = sample ?? []
      expect(of).toBe(family)
      expect(samples.has(of + labels), `${of}${labels} comes twice`).toBe(false)
      expect(Number.isFinite(Number(value))).toBe(true)
      samples.set(of + labels, Number(value))
    }
  }
  return samples
}

describe('figures of an agent', () => {
  let agent: TestAgent
  let ip: string
  let target: Awaited<ReturnType<typeof httpTarget>>
  beforeAll(async () => {
    agent = await testAgent({
      config: { abuse: { scan: 5, flood: 12, mail: 3, guessing: 4 }, host: '0.0.0.0' },
      world: { resolve: (_name, _family, answer) => answer({ ok: false, reason: 'not-found' }) }
    })
    ip = `${agent.net}.1.1`
    target = await httpTarget()
    await lease(agent.call, 'u', [`${ip}/32`])
  })

  test('are read by a collector: what is open, what was refused and why, and this process', async () => {
    const open = await tunnel(ip, agent.proxyPort, 'u', target.host)
    expect((await proxied(ip, agent.proxyPort, 'u', `http://${target.host}/`)).status).toBe(200)
    await proxied(ip, agent.proxyPort, 'u', 'http://8.8.8.8:25/')
    await proxied(ip, agent.proxyPort, 'u', 'http://127.0.0.1:1/')
    await agent.call('GET', '/api/traffic')
    const response = await fetch(`http://127.0.0.1:${agent.port}/metrics`)
    expect(response.headers.get('content-type')).toContain('version=0.0.4')
    const text = await response.text()
    const samples = parseMetrics(text)
    const figure = (name: string): number | undefined => samples.get(`netlet_agent_${name}`)
    expect(figure('connections')).toBeGreaterThanOrEqual(1)
    expect(figure('local_ports_used')).toBe(1)
    expect(figure('connections_accepted_total')).toBe(4)
    expect(figure('requests_total')).toBe(1)
    expect(figure('refusals_total{reason="refused-port"}')).toBe(1)
    expect(figure('errors_total{kind="refused"}')).toBe(1)
    expect(figure('bytes_total{direction="down"}')).toBeGreaterThan(100)
    expect(figure('users')).toBe(1)
    expect(figure('prefixes')).toBe(1)
    expect(figure('journal_bytes')).toBeGreaterThan(100)
    expect(figure('handles_limit{process="management"}')).toBeGreaterThan(100)
    expect(figure('handles_used{process="management"}')).toBeGreaterThan(5)
    expect(figure('loop_delay_seconds{process="management",quantile="0.99"}')).toBeGreaterThanOrEqual(0)
    expect(figure('workers')).toBe(1)
    expect(figure('worker_restarts_total')).toBe(0)
    expect(text).not.toMatch(/"u"|127\.0\.0\.1/)
    open.rawClient.socket.destroy()
    await until('the port to be free', async () => {
      const after = await (await fetch(`http://127.0.0.1:${agent.port}/metrics`)).text()
      return parseMetrics(after).get('netlet_agent_local_ports_used') === 0
    })
  })

  test('want the token from other machines', async context => {
    const outside = Object.values(networkInterfaces())
      .flat()
      .find(one => one?.internal === false && one.family === 'IPv4')?.address
    if (outside === undefined) return context.skip()
    const ask = async (bearer: string): Promise<number> => {
      const headers = { authorization: `Bearer ${bearer}` }
      return (await fetch(`http://${outside}:${agent.port}/metrics`, { headers })).status
    }
    expect([await ask('wrong'), await ask(token)]).toEqual([401, 200])
  })

  test('signs of abuse are told once for each user and kind: scans, floods, mail, guessed passwords', async () => {
    await lease(agent.call, 'bad', [`${agent.net}.1.2/32`])
    const bad = (url: string, password = 'secret'): ReturnType<typeof proxied> =>
      proxied(`${agent.net}.1.2`, agent.proxyPort, 'bad', url, { password })
    for (let n = 0; n < 6; n++) await bad(`http://nowhere${n}.test/`)
    for (let n = 0; n < 4; n++) await bad('http://8.8.8.8:587/')
    for (let n = 0; n < 5; n++) await bad(`http://${target.host}/`, `guess${n}`)
    for (let n = 0; n < 13; n++) await bad(`http://${target.host}/`)
    await agent.call('GET', '/api/traffic')
    const { alarms } = (await agent.call('GET', '/api/alarms')).json as unknown as { alarms: object[] }
    const of = (kind: string): object[] => alarms.filter(alarm => 'kind' in alarm && alarm.kind === kind)
    expect(of('scan')).toMatchObject([{ user: 'bad', count: 6 }])
    expect(of('mail')).toMatchObject([{ user: 'bad', subject: '8.8.8.8:587', count: 4 }])
    expect(of('guessing')).toMatchObject([{ user: 'bad', subject: '127.0.0.1', count: 5 }])
    expect(of('flood')).toMatchObject([{ user: 'bad', subject: target.host, count: 13 }])
    expect(alarms).toHaveLength(4)
    const info = (await agent.call('GET', '/api/view-server-info')).json
    expect(info['data']?.['alarms']).toEqual(alarms)
  })
})

describe('alarms', () => {
  test('one request to the same target again and again is no scan, and a new minute begins at nothing', () => {
    const watch = new AbuseWatch({ scan: 5, flood: 5, mail: 5, guessing: 5 })
    for (let n = 0; n < 50; n++) watch.ended('u', 'same.test:443', 'refused', 0)
    for (let n = 0; n < 4; n++) watch.ended('u', `t${n}.test:443`, 'refused', 0)
    expect(watch.take()).toMatchObject([{ kind: 'scan', count: 5 }])
    for (let minute = 1; minute < 10; minute++) {
      for (let n = 0; n < 4; n++) watch.ended('u', `t${n}.test:443`, 'refused', minute * 60_001)
    }
    expect(watch.take()).toEqual([])
  })

  test('however many users and targets there are, memory stays small', () => {
    const watch = new AbuseWatch({ scan: 1, flood: 1, mail: 1, guessing: 1 })
    for (let n = 0; n < 30_000; n++) watch.dials(`u${n}`, `t${n}.test:443`, 0)
    expect(watch.take()).toHaveLength(200)
  })

  test('go on as one until there is nothing for ten minutes, and are forgotten after an hour', () => {
    let now = 0
    const alarms = new Alarms(
      () => now,
      () => now
    )
    const sign = { kind: 'scan' as const, user: 'u', subject: 't:1', count: 7 }
    alarms.add([sign])
    now = 9 * 60_000
    alarms.add([{ ...sign, count: 5 }])
    expect(alarms.list()).toMatchObject([
      { count: 7, since: new Date(0).toISOString(), last: new Date(now).toISOString() }
    ])
    now = 30 * 60_000
    alarms.add([{ ...sign, count: 6 }])
    expect(alarms.list()).toMatchObject([{ count: 6, since: new Date(now).toISOString() }])
    now = 91 * 60_000
    expect(alarms.list()).toEqual([])
  })

  test.each([
    ['back', -86_400_000],
    ['ahead', 86_400_000]
  ])('go on, and are forgotten, in their time where the clock is set %s', (_, by) => {
    let [passed, set] = [5000, 1_800_000_000_000]
    const alarms = new Alarms(
      () => set + passed,
      () => passed
    )
    const sign = { kind: 'scan' as const, user: 'u', subject: 't:1', count: 7 }
    alarms.add([sign])
    const since = new Date(set + passed).toISOString()
    set += by
    passed += 9 * 60_000
    alarms.add([sign])
    passed += 59 * 60_000
    expect(alarms.list()).toMatchObject([{ since, last: new Date(set + 5000 + 9 * 60_000).toISOString() }])
    passed += 2 * 60_000
    expect(alarms.list()).toEqual([])
  })
})

describe('what is wrong', () => {
  const fine: Observed = {
    workers: { now: 2, wanted: 2 },
    isDiskFailing: false,
    isCertificateUnread: false,
    processes: [
      { pid: 1, delay: { median: 1, p99: 20, longest: 900 }, isSlow: false, handles: { used: 10, limit: 1024 } }
    ],
    routes: [{ local: true }],
    // Silent name servers of customers' zones are not the server's fault.
    dns: { lookups: 1000, failures: 900, milliseconds: 1, failing: 0 }
  }
  const [one] = fine.processes
  test.each<[string, Partial<Observed>, string[]]>([
    ['nothing', {}, []],
    ['a worker is missing', { workers: { now: 1, wanted: 2 } }, ['worker_missing']],
    ['the disk takes nothing', { isDiskFailing: true }, ['disk_not_writable']],
    ['the certificate cannot be read', { isCertificateUnread: true }, ['certificate_unreadable']],
    ['few handles are left', { processes: [{ ...one!, handles: { used: 950, limit: 1024 } }] }, ['handles_low']],
    ['handles are not known', { processes: [{ ...one!, handles: { used: 0, limit: 0 } }] }, []],
    ['a loop is late', { processes: [{ ...one!, isSlow: true }] }, ['loop_slow']],
    ['name servers answer nobody', { dns: { ...fine.dns, failing: 1 } }, ['dns_failing']],
    ['a route is missing', { routes: [{ local: true }, { local: false }] }, ['routes_missing']]
  ])('%s', (_what, change, found) => {
    expect(findProblems({ ...fine, ...change })).toEqual(found)
  })
})
