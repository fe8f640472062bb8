import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type AgentProcess, agentProcess, PRLIMIT } from './process.ts'
import { type Call, caller, echoTarget, lease, randomNet, tempFolder, tunnel, until } from './test-agent.ts'

type Running = { agent: AgentProcess; call: Call; ip: string; folder: string }

/** The system takes no file beyond so many bytes from the agent, as a full disk does: what still fits is written. */
const limitFiles = ({ agent }: Running, bytes: number | 'unlimited'): void =>
  void execFileSync(PRLIMIT, ['--pid', String(agent.child.pid), `--fsize=${bytes}:unlimited`])

async function running(): Promise<Running> {
  const folder = await tempFolder()
  // All in one process: then the limit is that of all files.
  const agent = await agentProcess(folder, { AGENT_WORKERS: '0' })
  const call = caller(agent.port)
  const net = randomNet()
  await call('PUT', '/api/prefixes', { prefixes: [`${net}.0.0/16`] })
  await lease(call, 'first', [`${net}.1.1/32`])
  return { agent, call, ip: `${net}.1.1`, folder: join(folder, 'agent') }
}

const problemsOf = async ({ call }: Running): Promise<unknown> => (await call('GET', '/healthz')).json['problems']
const claim = { id: 'a-console', name: 'Shop', server: '1', mark: 'a-mark', known: [] }
const put = (password: string, ip: string) => ({ password, prefixes: [`${ip}/32`], denied_domains: [] })

async function use({ agent, ip }: Running): Promise<number> {
  const { status, rawClient } = await tunnel(ip, agent.proxyPort, 'first', (await echoTarget()).host)
  rawClient.socket.destroy()
  return status
}

describe.runIf(existsSync(PRLIMIT))('a disk that takes nothing more', () => {
  test.each<[string, (running: Running) => Promise<unknown>]>([
    ['a claim', async ({ call }) => expect((await call('PUT', '/api/owner', claim)).status).toBe(503)],
    [
      'a change',
      async ({ call, ip }) => expect((await call('PUT', '/api/users/first', put('new', ip))).status).toBe(503)
    ],
    [
      'the TLS of the proxies',
      async ({ call }) => expect((await call('PUT', '/api/proxy-tls', { source: 'none' })).status).toBe(503)
    ]
  ])(
    'is told of once %s cannot be kept, keeps no customer out, and is over by itself',
    async (_, meet) => {
      const agent = await running()
      limitFiles(agent, 0)
      await meet(agent)
      expect(await problemsOf(agent)).toEqual(['disk_not_writable'])
      expect(await use(agent)).toBe(200)
      limitFiles(agent, 'unlimited')
      await until('its end to be told', async () => String(await problemsOf(agent)) === '', 20_000)
      expect((await agent.call('PUT', '/api/owner', claim)).status).toBe(200)
    },
    40_000
  )

  test('leaves whole lines in the access log, and a line that says how many are missing', async () => {
    const agent = await running()
    const log = join(agent.folder, 'access.log')
    await use(agent)
    await until('the first line', async () => (await readFile(log, 'utf8').catch(() => '')) !== '')
    limitFiles(agent, (await stat(log)).size + 20)
    await use(agent)
    await until('the problem to be told', async () => String(await problemsOf(agent)) === 'disk_not_writable')
    limitFiles(agent, 'unlimited')
    await until('its end to be told', async () => String(await problemsOf(agent)) === '')
    const lines = (await readFile(log, 'utf8')).trimEnd().split('\n')
    expect(lines.map(line => / (?:first .* 200 |dropped 1 lines: )/.test(line))).toEqual([true, true])
  })
})
