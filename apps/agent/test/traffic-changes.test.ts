import { mkdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { agentTrafficChanges, type AgentTrafficChanges } from '@netlet/contract/agent'
import { expect, test } from 'vitest'
import { isLong } from '../../../scripts/testing/tier.ts'
import { nextTurn } from '../src/turns.ts'
import { noTraffic, type TrafficRow } from '../src/proxy/traffic-meter.ts'
import { TrafficTotals } from '../src/state/traffic.ts'
import { agentProcess } from './process.ts'
import {
  basic,
  caller,
  httpTarget,
  lease,
  proxied,
  RawClient,
  randomNet,
  tempFolder,
  testAgent,
  turnsDuring,
  until
} from './test-agent.ts'
import type { Call } from './test-agent.ts'

const row = (user: string, ip: string, up: number): TrafficRow => ({ ...noTraffic(), user, ip, up })
const rows = (count: number): TrafficRow[] =>
  Array.from({ length: count }, (_, n) => row('u', `127.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, 1))

/** All changes since a cursor, page by page. */
function readAll(totals: TrafficTotals, from: { epoch: string; after: number }, limit = 5000): AgentTrafficChanges[] {
  const pages: AgentTrafficChanges[] = []
  for (let at = from; ;) {
    const page = totals.changes({ ...at, limit })
    pages.push(page)
    if (!page.more) return pages
    at = { epoch: page.epoch, after: page.cursor }
  }
}
const start = { epoch: '', after: 0 }
const MANY = isLong ? 65_536 : 12_000

test('many counters are told in bounded pieces, each once, and then only what changed', async () => {
  const totals = await TrafficTotals.open(await tempFolder(), Date.now)
  totals.add(rows(MANY))
  await totals.save()
  const pages = readAll(totals, start)
  expect(pages).toHaveLength(Math.ceil(MANY / 5000))
  expect(new Set(pages.flatMap(page => page.rows.map(({ ip }) => ip))).size).toBe(MANY)
  const { epoch = '', cursor = 0 } = pages.at(-1) ?? {}
  expect(totals.changes({ epoch, after: cursor, limit: 10 })).toMatchObject({ rows: [], more: false, cursor })
  totals.add([row('u', '127.0.1.7', 5), row('u', '127.0.0.3', 5)])
  await totals.save()
  const [next] = readAll(totals, { epoch, after: cursor })
  expect(Object.fromEntries(next?.rows.map(({ ip, up }) => [ip, up]) ?? [])).toEqual({ '127.0.0.3': 6, '127.0.1.7': 6 })
  // The event loop keeps turning while everything is saved.
  totals.add(rows(MANY))
  expect(await turnsDuring(() => totals.save())).toBeGreaterThan(MANY / 1000)
})

test('only saved counts are reported while the counters move, and none is left out', async () => {
  const folder = await tempFolder()
  const totals = await TrafficTotals.open(folder, Date.now)
  totals.add(rows(30))
  await totals.save()
  const first = totals.changes({ ...start, limit: 10 })
  totals.add(rows(30))
  const rest = readAll(totals, { epoch: first.epoch, after: first.cursor }, 10)
  expect([first, ...rest].flatMap(page => page.rows).map(({ up }) => up)).toEqual(Array.from({ length: 30 }, () => 1))
  // After a kill here, it restarts with what it has reported.
  const again = await TrafficTotals.open(folder, Date.now)
  const { epoch = '', cursor = 0 } = rest.at(-1) ?? {}
  expect(again.changes({ epoch, after: cursor, limit: 10 })).toMatchObject({ rows: [], epoch, cursor })
  await totals.save()
  expect(readAll(totals, { epoch, after: cursor }).flatMap(page => page.rows.map(({ up }) => up))).toEqual(
    Array.from({ length: 30 }, () => 2)
  )
})

test('where more counters change than one reading takes, each has its turn', async () => {
  const folder = await tempFolder()
  let totals = await TrafficTotals.open(folder, Date.now)
  const seen = new Map<string, number>()
  let at = { epoch: '', after: 0 }
  const told: number[] = []
  for (let round = 0; round < 9; round++) {
    // Every counter changes each minute. They are saved several times, also between two pages.
    for (let n = 0; n < 3; n++) {
      totals.add(rows(60))
      await totals.save()
    }
    for (let piece = 0; piece < 2; piece++) {
      const page = totals.changes({ ...at, limit: 10 })
      for (const { ip, up } of page.rows) {
        told.push(up)
        expect(up).toBeGreaterThan(seen.get(ip) ?? 0)
        seen.set(ip, up)
      }
      at = { epoch: page.epoch, after: page.cursor }
      totals.add(rows(60))
      await totals.save()
    }
    // A restart changes nothing.
    if (round === 4) totals = await TrafficTotals.open(folder, Date.now)
    if (round === 3) expect(seen.size).toBe(60)
  }
  for (const page of readAll(totals, at)) for (const { ip, up } of page.rows) seen.set(ip, up)
  // No counts are lost.
  expect(new Set(seen.values())).toEqual(new Set([9 * 5]))
})

test('figures that change while they are written, and are told then, come again', async () => {
  const totals = await TrafficTotals.open(await tempFolder(), Date.now)
  totals.add(rows(5))
  await totals.save()
  totals.add(rows(5))
  const saving = totals.save()
  const early = totals.changes({ ...start, limit: 10 })
  await saving
  await totals.save()
  const { epoch, cursor } = early
  const after = readAll(totals, { epoch, after: cursor }).flatMap(page => page.rows.map(({ up }) => up))
  expect([...early.rows.map(({ up }) => up), ...after]).toContain(1)
  expect(after).toEqual([2, 2, 2, 2, 2])
})

test('what is told in the middle of a writing comes again from another process that goes on by the file', async () => {
  const folder = await tempFolder()
  const totals = await TrafficTotals.open(folder, Date.now)
  totals.add(rows(MANY))
  await totals.save()
  totals.add(rows(MANY))
  const settling = totals.settle()
  const written = async (): Promise<number> =>
    (await stat(join(folder, 'traffic.json.new')).catch(() => null))?.size ?? 0
  // The write yields after each piece of the file.
  while ((await written()) < 10_000) await nextTurn()
  const early = totals.changes({ ...start, limit: 10 })
  expect([early.more, ...new Set(early.rows.map(({ up }) => up))]).toEqual([true, 1])
  await settling
  const next = await TrafficTotals.open(folder, Date.now)
  const after = readAll(next, { epoch: early.epoch, after: early.cursor }).flatMap(page => page.rows)
  expect(after).toHaveLength(MANY)
  expect(new Set(after.map(({ up }) => up))).toEqual(new Set([2]))
})

test('another epoch, or a cursor from the future, begins from the start', async () => {
  const folder = await tempFolder()
  const totals = await TrafficTotals.open(folder, Date.now)
  totals.add(rows(3))
  await totals.save()
  const old = totals.changes({ ...start, limit: 10 })
  expect(totals.changes({ epoch: old.epoch, after: old.cursor + 1, limit: 10 }).rows).toHaveLength(3)
  await writeFile(join(folder, 'traffic.json'), '{')
  const lost = await TrafficTotals.open(folder, Date.now)
  lost.add(rows(2))
  await lost.save()
  const page = lost.changes({ epoch: old.epoch, after: old.cursor, limit: 10 })
  expect(page.epoch).not.toBe(old.epoch)
  expect(page.rows).toHaveLength(2)
})

test('a file of an older agent is told from its beginning, in the same order at each start', async () => {
  const folder = await tempFolder()
  const old = { user: 'u', since: '2026-01-01T00:00:00.000Z', changed: 1, up: 7, down: 0, requests: 0, errors: 0 }
  const file = { format: 1, epoch: 'old', rows: ['127.0.0.1', '127.0.0.2'].map(ip => ({ ...old, ip })) }
  await writeFile(join(folder, 'traffic.json'), JSON.stringify(file))
  const first = (await TrafficTotals.open(folder, Date.now)).changes({ ...start, limit: 1 })
  const second = (await TrafficTotals.open(folder, Date.now)).changes({ epoch: 'old', after: first.cursor, limit: 1 })
  expect(
    [first, second].map(page => page.rows.map(({ ip, up, connections, codes }) => [ip, up, connections, codes]))
  ).toEqual([[['127.0.0.1', 7, 0, {}]], [['127.0.0.2', 7, 0, {}]]])
})

test('a row that was removed and comes back has another beginning', async () => {
  let now = Date.parse('2026-01-01T00:00:00Z')
  const totals = await TrafficTotals.open(await tempFolder(), () => now)
  totals.leaseOf = () => undefined
  totals.add([row('u', '127.0.0.1', 9)])
  await totals.save()
  now += 25 * 3_600_000
  totals.add([row('other', '127.0.0.2', 1)])
  await totals.save()
  totals.add([row('u', '127.0.0.1', 2)])
  await totals.save()
  const told = readAll(totals, start).flatMap(page => page.rows)
  const since = '2026-01-02T01:00:00.000Z'
  expect(told.toSorted((a, b) => b.up - a.up)).toMatchObject([
    { ip: '127.0.0.1', up: 2, since },
    { ip: '127.0.0.2', up: 1, since }
  ])
})

const changesOf = async (call: Call, query: string): Promise<AgentTrafficChanges> =>
  agentTrafficChanges.parse((await call('GET', `/api/traffic/changes?${query}`)).json)

test('refusals and errors are counted by the code of the access log, connections as they log in', async () => {
  const agent = await testAgent()
  const target = await httpTarget()
  const ip = `${agent.net}.1.1`
  await lease(agent.call, 'u', [`${ip}/32`], { denied_domains: ['denied.test'] })
  expect((await proxied(ip, agent.proxyPort, 'u', `http://${target.host}/`)).status).toBe(200)
  expect((await proxied(ip, agent.proxyPort, 'u', 'http://denied.test/')).status).toBe(403)
  expect((await proxied(ip, agent.proxyPort, 'u', 'http://127.0.0.1:25/')).status).toBe(403)
  expect((await proxied(ip, agent.proxyPort, 'u', 'http://127.0.0.1:1/')).status).toBe(502)
  expect((await proxied(ip, agent.proxyPort, 'u', `http://${target.host}/`, { password: 'wrong' })).status).toBe(407)
  expect((await proxied(ip, agent.proxyPort, 'nobody', `http://${target.host}/`)).status).toBe(407)
  const { rows: told } = await changesOf(agent.call, 'fresh=1')
  const own = told.find(({ user }) => user === 'u')
  expect(own).toMatchObject({
    ip,
    requests: 4,
    errors: 3,
    connections: 4,
    codes: { 'denied-domain': 1, 'refused-port': 1, refused: 1, 'no-auth': 1 }
  })
  expect(told.find(({ user }) => user === '-')).toMatchObject({ ip: '-', up: 0, codes: { 'no-auth': 1 } })
})

test('a kept connection counts once, and each of its requests', async () => {
  const agent = await testAgent()
  const target = await httpTarget()
  const ip = `${agent.net}.1.1`
  await lease(agent.call, 'u', [`${ip}/32`])
  const client = new RawClient(ip, agent.proxyPort)
  for (let n = 0; n < 3; n++) {
    client.send(`GET http://${target.host}/ HTTP/1.1\r\nHost: ${target.host}\r\n${basic('u')}\r\n`)
    await client.take(/200 OK[^]*?\r\n\r\n\{[^}]*\}/)
  }
  const { rows: told } = await changesOf(agent.call, 'fresh=1')
  expect(told).toMatchObject([{ user: 'u', requests: 3, connections: 1, codes: {} }])
})

test('all bytes of a connection are counted when it ends', async () => {
  const agent = await testAgent()
  const target = await httpTarget()
  const ip = `${agent.net}.1.1`
  await lease(agent.call, 'u', [`${ip}/32`])
  const upload = { method: 'POST', headers: 'Content-Length: 300000\r\n', body: 'x'.repeat(300_000) }
  expect((await proxied(ip, agent.proxyPort, 'u', `http://${target.host}/`, upload)).status).toBe(200)
  await until('all of them', async () => (await changesOf(agent.call, 'fresh=1')).rows.some(({ up }) => up > 300_000))
})

test('a bad query is refused, and the whole file still has every row', async () => {
  const agent = await testAgent()
  expect((await agent.call('GET', '/api/traffic/changes?after=-1')).status).toBe(400)
  expect((await agent.call('GET', '/api/traffic/changes?limit=5001')).status).toBe(400)
  expect((await agent.call('GET', '/api/traffic')).json).toMatchObject({ rows: [] })
})

test.runIf(process.platform === 'linux')(
  'what was told survives a kill, and is not told again',
  async () => {
    const folder = await tempFolder()
    const net = randomNet()
    const target = await httpTarget()
    const first = await agentProcess(folder, { AGENT_WORKERS: '0' })
    const call = caller(first.port)
    await call('PUT', '/api/prefixes', { prefixes: [`${net}.0.0/16`] })
    await lease(call, 'u', [`${net}.1.1/32`])
    expect((await proxied(`${net}.1.1`, first.proxyPort, 'u', `http://${target.host}/`)).status).toBe(200)
    const told = await changesOf(call, 'fresh=1')
    expect(told.rows).toMatchObject([{ user: 'u', requests: 1 }])
    first.child.kill('SIGKILL')
    await first.exited
    const second = await agentProcess(folder, { AGENT_WORKERS: '0' })
    const again = await changesOf(caller(second.port), `epoch=${told.epoch}&after=${told.cursor}`)
    expect(again).toEqual({ ...told, rows: [] })
    expect(JSON.parse(await readFile(join(folder, 'agent', 'traffic.json'), 'utf8'))).toMatchObject({
      rows: [{ up: told.rows[0]?.up, down: told.rows[0]?.down }]
    })
  },
  60_000
)

test('what cannot be saved is not told, and is a problem of the disk until it can', async () => {
  const agent = await testAgent()
  const ip = `${agent.net}.1.1`
  await lease(agent.call, 'u', [`${ip}/32`])
  const target = await httpTarget()
  const fresh = '/api/traffic/changes?epoch=&after=0&limit=10&fresh=1'
  const problems = async (): Promise<unknown> => (await agent.call('GET', '/healthz')).json['problems']
  // A folder in its place makes the write fail.
  await rm(join(agent.folder, 'traffic.json.new'), { force: true })
  await mkdir(join(agent.folder, 'traffic.json.new'))
  expect((await proxied(ip, agent.proxyPort, 'u', `http://${target.host}/`)).status).toBe(200)
  for (const path of [fresh, '/api/traffic']) {
    expect(await agent.call('GET', path)).toMatchObject({ status: 503, json: { reason: 'notDurable' } })
  }
  expect(JSON.stringify(await problems())).toContain('disk_not_writable')
  await rmdir(join(agent.folder, 'traffic.json.new'))
  expect(agentTrafficChanges.parse((await agent.call('GET', fresh)).json).rows).toMatchObject([{ user: 'u', ip }])
  expect(JSON.stringify(await problems())).not.toContain('disk_not_writable')
})
