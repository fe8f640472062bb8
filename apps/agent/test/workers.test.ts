// An agent with several workers. Each test leaves all of them running.
import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { agentProcess, childrenOf, hasPrlimit, isLinux, kill, limitHandles } from './process.ts'
import { type Serving, servingAgent } from './takeovers.ts'
import {
  basic,
  caller,
  echoTarget,
  httpTarget,
  type Json,
  lease,
  proxied,
  RawClient,
  tempFolder,
  tunnel,
  until
} from './test-agent.ts'

const WORKERS = 2
let serving: Serving
let echo: Awaited<ReturnType<typeof echoTarget>>

const health = async (): Promise<{ status: number; json: Json }> => serving.call('GET', '/healthz')
const isWhole = async (): Promise<boolean> => (await health()).status === 200
async function killWorkers(isSpared: (pid: number) => boolean = () => false): Promise<number[]> {
  const killed = (await serving.workers()).filter(pid => !isSpared(pid))
  for (const pid of killed) kill(pid)
  return killed
}
/** The distinct statuses of many tunnels at once, which reach all workers. */
async function statuses(user: string, ip = serving.ip): Promise<number[]> {
  const opened = await Promise.all(
    Array.from({ length: 16 }, () => tunnel(ip, serving.agent.proxyPort, user, echo.host))
  )
  for (const { rawClient } of opened) rawClient.socket.destroy()
  return [...new Set(opened.map(({ status }) => status))]
}
/** The value of a metric; 0 if it is missing. */
async function figure(name: string): Promise<number> {
  const { text } = await serving.call('GET', '/metrics')
  const line = text.split('\n').find(each => each.startsWith(`netlet_agent_${name} `))
  return Number(line?.split(' ').at(-1) ?? 0)
}

describe.runIf(isLinux)('workers', () => {
  beforeAll(async () => {
    serving = await servingAgent({ AGENT_WORKERS: String(WORKERS) })
    echo = await echoTarget()
  })
  beforeEach(() => until('all workers', isWhole))
  afterAll(async () => {
    serving.agent.child.kill('SIGTERM')
    expect(await serving.agent.exited).toBe(0)
  })

  test('have every change by the time it is acknowledged', async () => {
    const { call, ip } = serving
    expect((await health()).json).toMatchObject({ workers: WORKERS })
    for (let n = 0; n < 4; n++) {
      await lease(call, `w${n}`, [`${ip}/32`])
      expect(await statuses(`w${n}`)).toEqual([200])
      await call('DELETE', `/api/users/w${n}`)
      expect(await statuses(`w${n}`)).toEqual([407])
    }
    expect((await call('GET', '/api/export/access.log')).text).toMatch(/ w3 .* CONNECT /)
    const rows = [...((await call('GET', '/api/traffic')).json['rows'] ?? [])]
    expect(rows.find(row => row['user'] === 'w3')).toMatchObject({ requests: 16 })
  })

  test('that are lost are replaced; what they counted stays, and changes are still accepted', async () => {
    const { call, ip, agent } = serving
    const refused = 'refusals_total{reason="refused-port"}'
    await proxied(ip, agent.proxyPort, 'u', 'http://8.8.8.8:25/')
    await until('the refusal to be counted', async () => (await figure(refused)) === 1)
    const restarts = await figure('worker_restarts_total')
    const [spared] = await serving.workers()
    const killed = new Set<number>()
    await until('the loss to be told', async () => {
      // On a busy machine a replacement may have started already.
      for (const pid of await killWorkers(each => each === spared)) killed.add(pid)
      return ((await health()).json['problems'] as unknown as string[]).includes('worker_missing')
    })
    await lease(call, 'during', [`${ip}/32`])
    await until('all workers', isWhole)
    expect(await statuses('during')).toEqual([200])
    expect((await figure('worker_restarts_total')) - restarts).toBe(killed.size)
    expect(await figure(refused)).toBe(1)
    expect(agent.output()).toMatch(/A worker ended \(SIGKILL\)/)
  })

  test('that all end before they listen are replaced again and again, and the management answers 503 until then', async () => {
    const { call, ip } = serving
    const whileNoneIsThere = (what: string, check: () => Promise<boolean>) =>
      until(what, async () => (await killWorkers(), check()))
    for (const path of ['/healthz', '/api/state', '/api/view-server-info', '/api/traffic'])
      await whileNoneIsThere(`a 503 of ${path}`, async () => (await call('GET', path)).status === 503)
    await whileNoneIsThere('the refusal of a change', async () => {
      const put = await call('PUT', '/api/users/late', { password: 'secret', prefixes: [`${ip}/32`] })
      return put.status === 503 && put.json['reason'] === 'notServing'
    })
    await until('all workers', isWhole)
    expect((await call('GET', '/api/state')).status).toBe(200)
    expect(await statuses('u')).toEqual([200])
  })

  test('know every user before they take the first connection', async () => {
    const { call, net, agent } = serving
    const denied_domains = Array.from({ length: 20_000 }, (_, n) => `site-${n}.example.com`)
    const { deny_set } = await lease(call, 'u0', [`${net}.2.0/32`], { denied_domains })
    const put = (n: number) => lease(call, `u${n}`, [`${net}.2.${n}/32`], { denied_domains: undefined, deny_set })
    await Promise.all(Array.from({ length: 63 }, (_, n) => put(n + 1)))
    const seen: Record<string, number> = {}
    // A refused port answers at once, and shows that the login succeeded.
    const ask = async (): Promise<void> => {
      const client = new RawClient(`${net}.2.63`, agent.proxyPort)
      client.send(`CONNECT 8.8.8.8:25 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${basic('u63')}\r\n`)
      const status = (await client.over()).slice(9, 12)
      client.socket.destroy()
      seen[status] = (seen[status] ?? 0) + 1
    }
    const askMany = () => Promise.all(Array.from({ length: 20 }, ask))
    const killed = await killWorkers()
    const areBack = async (): Promise<boolean> => {
      const now = await serving.workers()
      return now.length === WORKERS && !now.some(pid => killed.includes(pid)) && isWhole()
    }
    await until('other workers', async () => (await askMany(), areBack()))
    await askMany()
    expect(seen['403']).toBeGreaterThan(0)
    expect(seen['407'] ?? 0).toBe(0)
  })

  test('share what a user may have: the youngest connections above the limit end, and a quota ends for all', async () => {
    const { call, net, agent } = serving
    await lease(call, 'many', [`${net}.1.2/32`], { limits: { connections: 20 } })
    const clients = Array.from({ length: 120 }, () => new RawClient(`${net}.1.2`, agent.proxyPort))
    await until('all to be connected', () => clients.every(({ socket }) => !socket.connecting))
    const request = `CONNECT ${echo.host} HTTP/1.1\r\nHost: ${echo.host}\r\n${basic('many')}\r\n`
    for (const client of clients) client.send(request)
    await until('an answer for each', () => clients.every(each => each.received.length > 0 || each.closed))
    const served = (): number => clients.filter(each => each.text.startsWith('HTTP/1.1 200') && !each.closed).length
    // A quarter above the limit may stay.
    await until('the surplus to end', () => served() <= 25)
    expect(served()).toBeGreaterThanOrEqual(10)
    for (const { socket } of clients) socket.destroy()

    const target = await httpTarget()
    await lease(call, 'much', [`${net}.1.3/32`], { limits: { quota: { id: '1', bytes: 3000 } } })
    let inTurn = 0
    await until('both workers to know the end of the quota', async () => {
      // A request that is in flight when the quota ends is reset.
      const got = await proxied(`${net}.1.3`, agent.proxyPort, 'much', `http://${target.host}/`).catch(() => null)
      inTurn = got?.status === 403 ? inTurn + 1 : 0
      return inTurn === 10
    })
  })

  test('serve on while the managing process stands still', async () => {
    const { ip, agent } = serving
    const { rawClient } = await tunnel(ip, agent.proxyPort, 'u', echo.host)
    agent.child.kill('SIGSTOP')
    try {
      rawClient.send('still here')
      await rawClient.take(/still here/)
      expect((await tunnel(ip, agent.proxyPort, 'u', echo.host)).status).toBe(200)
    } finally {
      agent.child.kill('SIGCONT')
    }
  })

  test.runIf(hasPrlimit)(
    'that cannot be forked for want of file handles are tried again until there are some',
    async () => {
      const { agent, workers } = serving
      const manager = agent.child.pid ?? 0
      const [worker = 0] = await workers()
      limitHandles(manager, readdirSync(`/proc/${manager}/fd`).length - 3)
      kill(worker)
      await until('a fork to fail', () => /A worker ended \((EMFILE|spawn \S+ EMFILE)\)/.test(agent.output()))
      expect(await statuses('u')).toEqual([200])
      limitHandles(manager, 4096)
      await until('all workers', isWhole)
    }
  )
})

test.runIf(isLinux)('a worker that ends while the next one begins is replaced', async () => {
  const folder = await tempFolder()
  const killer = join(folder, 'killer.cjs')
  // The second worker kills the first, which already listens.
  const files = `const [first, done] = ['first', 'done'].map(name => ${JSON.stringify(`${folder}/`)} + name)`
  await writeFile(
    killer,
    `const fs = require('node:fs'); ${files}
      if (process.send && !fs.existsSync(done)) {
        if (!fs.existsSync(first)) fs.writeFileSync(first, String(process.pid))
        else { fs.writeFileSync(done, ''); process.kill(Number(fs.readFileSync(first, 'utf8')), 'SIGKILL') }
      }`
  )
  const agent = await agentProcess(folder, { AGENT_WORKERS: '2', NODE_OPTIONS: `--require ${killer}` })
  await until('all workers', async () => (await caller(agent.port)('GET', '/healthz')).status === 200)
  expect(await childrenOf(agent.child.pid ?? 0)).toHaveLength(2)
  expect(agent.output()).toContain('A worker ended (while others began)')
})
