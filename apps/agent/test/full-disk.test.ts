import { execFileSync } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { hasPrlimit, PRLIMIT } from './process.ts'
import { type Serving, servingAgent } from './takeovers.ts'
import { echoTarget, tunnel, until } from './test-agent.ts'

let serving: Serving
let echo: Awaited<ReturnType<typeof echoTarget>>

/** Limits the size of the agent's files, so that writes fail as on a full disk: what still fits is written. */
const limitFiles = (bytes: number | 'unlimited'): void =>
  void execFileSync(PRLIMIT, ['--pid', String(serving.agent.child.pid), `--fsize=${bytes}:unlimited`])
const problems = async (): Promise<unknown> => (await serving.call('GET', '/healthz')).json['problems']
async function use(): Promise<number> {
  const { status, rawClient } = await tunnel(serving.ip, serving.agent.proxyPort, 'u', echo.host)
  rawClient.socket.destroy()
  return status
}
const claim = { id: 'a-console', name: 'Shop', server: '1', mark: 'a-mark', known: [] }
const isOver = () => until('its end to be told', async () => String(await problems()) === '')

describe.runIf(hasPrlimit)('a disk that takes nothing more', () => {
  beforeAll(async () => {
    // Without workers, the limit of one process covers all files.
    serving = await servingAgent({ AGENT_WORKERS: '0' })
    echo = await echoTarget()
  })

  test.each<[string, string, string, () => unknown]>([
    [
      'a change',
      'PUT',
      '/api/users/u',
      () => ({ password: 'another', prefixes: [`${serving.ip}/32`], denied_domains: [] })
    ],
    ['the TLS of the proxies', 'PUT', '/api/proxy-tls', () => ({ source: 'none' })],
    ['a claim', 'PUT', '/api/owner', () => claim]
  ])(
    'is reported when %s cannot be saved, keeps no customer out, and ends by itself',
    async (_, method, path, body) => {
      limitFiles(0)
      expect((await serving.call(method, path, body())).status).toBe(503)
      expect(await problems()).toEqual(['disk_not_writable'])
      expect(await use()).toBe(200)
      limitFiles('unlimited')
      await isOver()
      expect((await serving.call('GET', '/api/state')).status).toBe(200)
    }
  )

  test('leaves whole lines in the access log, and a line that says how many are missing', async () => {
    const log = join(serving.folder, 'agent', 'access.log')
    const lines = async (): Promise<string[]> => (await readFile(log, 'utf8').catch(() => '')).split('\n').slice(0, -1)
    await until('the earlier lines', async () => (await lines()).length === 3)
    limitFiles((await stat(log)).size + 20)
    await use()
    await until('the problem to be told', async () => String(await problems()) === 'disk_not_writable')
    limitFiles('unlimited')
    await isOver()
    expect((await lines()).map(line => / (?:u .* 200 |dropped 1 lines: )/.test(line))).toEqual([true, true, true, true])
  })
})
