import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { family } from './processes.ts'
import { type AgentProcess, agentProcess } from './process.ts'
import { caller, echoTarget, lease, RawClient, basic, randomNet, tempFolder, tunnel, until } from './test-agent.ts'

const workersOf = async (agent: AgentProcess): Promise<number[]> =>
  (await family(agent.child.pid ?? 0)).filter(pid => pid !== agent.child.pid)

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It is gone already.
  }
}

describe.runIf(process.platform === 'linux')('workers', () => {
  test('that end before they listen are replaced again and again; meanwhile the management says so', async () => {
    const agent = await agentProcess(await tempFolder(), { AGENT_WORKERS: '2' })
    const call = caller(agent.port)
    const net = randomNet()
    const echo = await echoTarget()
    await call('PUT', '/api/prefixes', { prefixes: [`${net}.0.0/16`] })
    await lease(call, 'u', [`${net}.1.1/32`])
    const killed = new Set<number>()
    const killAll = async () => {
      for (const pid of await workersOf(agent)) {
        killed.add(pid)
        kill(pid)
      }
    }
    await until('six workers to be killed', async () => (await killAll(), killed.size >= 6), 60_000)
    // Where the test has to wait for its turn, they are back meanwhile.
    const whileNoneIsThere = (what: string, check: () => Promise<boolean>) =>
      until(what, async () => (await killAll(), check()), 60_000)
    for (const path of ['/healthz', '/api/state', '/api/view-server-info', '/api/traffic']) {
      await whileNoneIsThere(`a 503 of ${path}`, async () => (await call('GET', path)).status === 503)
    }
    await whileNoneIsThere('the refusal of a change', async () => {
      const put = await call('PUT', '/api/users/late', { password: 'secret', prefixes: [`${net}.1.2/32`] })
      return put.status === 503 && put.json['reason'] === 'notServing'
    })
    await until('both workers to be back', async () => (await call('GET', '/healthz')).status === 200)
    expect((await call('GET', '/api/state')).status).toBe(200)
    expect((await tunnel(`${net}.1.1`, agent.proxyPort, 'u', echo.host)).status).toBe(200)
    expect(agent.output()).toMatch(/A worker ended \(SIGKILL\)/)
  }, 150_000)

  test('know every user before they take the first connection', async () => {
    const agent = await agentProcess(await tempFolder(), { AGENT_WORKERS: '2' })
    const call = caller(agent.port)
    const net = randomNet()
    await call('PUT', '/api/prefixes', { prefixes: [`${net}.0.0/16`] })
    const users = Array.from({ length: 1000 }, (_, n) => n)
    const denied_domains = Array.from({ length: 1000 }, (_, n) => `site-${n}.example.com`)
    const put = async (n: number): Promise<unknown> =>
      lease(call, `u${n}`, [`${net}.${1 + (n >> 8)}.${n & 255}/32`], {
        denied_domains: [...denied_domains, `own-${n % 40}.test`]
      })
    for (let n = 0; n < users.length; n += 50) await Promise.all(users.slice(n, n + 50).map(put))
    const last = users.length - 1
    const ip = `${net}.${1 + (last >> 8)}.${last & 255}`
    const seen: Record<string, number> = {}
    // Refused ports are answered at once and show that the login was good.
    const ask = async (): Promise<void> => {
      const client = new RawClient(ip, agent.proxyPort)
      client.send(`CONNECT 8.8.8.8:25 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${basic(`u${last}`)}\r\n`)
      const status = (await client.over()).slice(9, 12)
      client.socket.destroy()
      seen[status] = (seen[status] ?? 0) + 1
    }
    for (let round = 0; round < 2; round++) {
      for (const pid of await workersOf(agent)) kill(pid)
      await until(
        'the workers to be back',
        async () => {
          await Promise.all(Array.from({ length: 20 }, ask))
          return (await call('GET', '/healthz')).status === 200
        },
        60_000
      )
      await Promise.all(Array.from({ length: 20 }, ask))
    }
    expect(seen['403']).toBeGreaterThan(0)
    expect(seen['407'] ?? 0).toBe(0)
  }, 150_000)
})

test.runIf(process.platform === 'linux')(
  'one that ends while the next one begins is replaced, too',
  async () => {
    const folder = await tempFolder()
    const killer = join(folder, 'killer.cjs')
    // The second worker ends the first, which has listened.
    const files = `const [first, done] = ['first', 'done'].map(name => ${JSON.stringify(`${folder}/`)} + name)`
    await writeFile(
      killer,
      `const fs = require('node:fs'); ${files}
      if (process.send && !fs.existsSync(done)) {
        if (!fs.existsSync(first)) fs.writeFileSync(first, String(process.pid))
        else { fs.writeFileSync(done, ''); process.kill(Number(fs.readFileSync(first, 'utf8')), 'SIGKILL') }
      }`
    )
    const agent = await agentProcess(folder, { AGENT_WORKERS: '3', NODE_OPTIONS: `--require ${killer}` })
    await until('all workers to be there', async () => (await caller(agent.port)('GET', '/healthz')).status === 200)
    expect(await workersOf(agent)).toHaveLength(3)
    expect(agent.output()).toContain('A worker ended (while others began)')
  },
  60_000
)

test.runIf(process.platform === 'linux')(
  'a worker that takes long to begin is waited for',
  async () => {
    const folder = await tempFolder()
    const slow = join(folder, 'slow.cjs')
    // Only workers are forked, and only they are slowed down: for longer than a serving worker may leave a question open.
    await writeFile(slow, `if (process.send) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 12_000)`)
    const agent = await agentProcess(folder, { NODE_OPTIONS: `--require ${slow}` })
    expect(agent.output()).toMatch(/Proxies listen/)
    expect((await caller(agent.port)('GET', '/healthz')).status).toBe(200)
  },
  60_000
)
