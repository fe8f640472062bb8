// A new process replaces an agent that is in use.
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TAKEOVER_FORMAT } from '@netlet/contract/agent-takeover'
import { describe, expect, test } from 'vitest'
import {
  basic,
  echoTarget,
  httpTarget,
  lease,
  proxied,
  RawClient,
  socks,
  socksAddress,
  tempFolder,
  tunnel,
  until
} from './test-agent.ts'
import { isLinux, kill, managersOf, processesOf } from './process.ts'
import { pump, servingAgent } from './takeovers.ts'

describe.runIf(isLinux)('a takeover', () => {
  test('leaves tunnels as they are, counts every byte once, and obeys changes in all processes', async () => {
    const { agent, call, folder, net, ip, info, takeOver } = await servingAgent()
    const echo = await echoTarget()
    const names = ['gone', 'renamed', 'killed', 'spent']
    for (const [n, name] of names.entries()) await lease(call, name, [`${net}.2.${n}/32`])
    await lease(call, 'spent', [`${net}.2.3/32`], { limits: { quota: { id: 'q', bytes: 100_000 } } })
    const open = async (user: string, at: string) => {
      const { rawClient } = await tunnel(at, agent.proxyPort, user, echo.host)
      await rawClient.take(/\n/)
      return rawClient
    }
    const exchange = async (client: RawClient, size: number): Promise<void> => {
      const sent = randomBytes(size)
      client.send(sent)
      expect((await client.bytes(size)).equals(sent)).toBe(true)
    }
    const first = await open('u', ip)
    const others = await Promise.all(names.map((name, n) => open(name, `${net}.2.${n}`)))
    await exchange(first, 50_000)
    const before = await info()
    const after = await takeOver()
    expect(after).toMatchObject({
      takeover: { state: 'none' },
      takeover_format: TAKEOVER_FORMAT,
      draining: [{ pid: agent.child.pid, connections: 5 }]
    })
    expect(Date.parse(after['program_started_at'])).toBeGreaterThan(Date.parse(before['program_started_at']))
    expect(after['program_path']).toMatch(/program\.ts$/)

    const second = await open('u', ip)
    await exchange(first, 300_000)
    await exchange(second, 70_000)
    await until('both to be told', async () => (await call('GET', '/api/connections')).json['total'] === 6)
    const metrics = (await call('GET', '/metrics')).text
    expect(metrics).toMatch(new RegExp(`draining_connections\\{version="[^"]+",pid="${agent.child.pid}"\\} 5`))
    expect(metrics).toMatch(/program_started_seconds \d+/)

    // Changes, kills and quotas reach the tunnels of the draining process.
    await call('DELETE', '/api/users/gone')
    await until('the removed user to be cut', () => others[0]?.closed)
    await lease(call, 'renamed', [`${net}.2.1/32`], { password: 'another' })
    await until('the changed password to cut', () => others[1]?.closed)
    expect((await call('DELETE', '/api/connections?user=killed')).json).toEqual({ ended: 1 })
    await until('the killed one to be cut', () => others[2]?.closed)
    others[3]?.send(randomBytes(100_001))
    await until('the quota to cut', () => others[3]?.closed)

    // After a second takeover two processes drain.
    const last = await takeOver()
    expect(last['draining']).toMatchObject([{ connections: 1 }, { pid: agent.child.pid, connections: 1 }])
    const third = await open('u', ip)
    for (const client of [first, second, third]) await exchange(client, 100_000)
    await lease(call, 'u', [`${ip}/32`], { denied_domains: ['denied.test'] })
    for (const client of [first, second, third]) await exchange(client, 1000)
    for (const client of [first, second, third]) client.socket.end()
    await until('those that drained to end', async () => (await managersOf(folder)).length === 1)
    await until('no process to be draining', async () => String((await info())['draining']) === '')

    const rows = (await call('GET', '/api/traffic')).json['rows'] ?? []
    const said = `${ip}\n`.length
    const sum = 50_000 + 300_000 + 70_000 + 300_000 + 3000
    const opened = 'HTTP/1.1 200 Connection established\r\n\r\n'.length
    const asked = `CONNECT ${echo.host} HTTP/1.1\r\nHost: ${echo.host}\r\n${basic('u')}\r\n`.length
    expect([...rows].find(row => row['user'] === 'u')).toMatchObject({
      up: sum + 3 * asked,
      down: sum + 3 * (said + opened),
      requests: 3,
      errors: 0,
      connections: 3
    })
    const log = async (): Promise<string> => (await call('GET', '/api/export/access.log')).text
    await until('a line for each', async () => (await log()).match(/ u \S+ CONNECT .* 200 .* ok\n/g)?.length === 3)
    expect(await log()).toMatch(/ killed .* killed\n/)
    const [one = 0] = await managersOf(folder)
    kill(one, 'SIGTERM')
    await until('all processes to end', async () => (await processesOf(folder)).length === 0)
  }, 90_000)

  test('refuses and loses no connection when the number of workers changes', async () => {
    const settings = join(await tempFolder(), 'agent.env')
    await writeFile(settings, 'AGENT_WORKERS=2\n')
    const serving = await servingAgent({ AGENT_WORKERS: '2', AGENT_SETTINGS_FILES: `${settings},-/nowhere/local.env` })
    const { agent, call, ip, takeOver } = serving
    const target = await httpTarget()
    const port = agent.proxyPort
    const echo = await echoTarget()
    const ask = `GET http://${target.host}/ HTTP/1.1\r\nHost: ${target.host}\r\n${basic('u')}\r\n`
    let kept: RawClient | null = null
    const idle = new RawClient(ip, port).send(ask)
    await idle.take(/200 OK[^]*?\r\n\r\n\{[^}]*\}/)
    const pumps = [
      pump(async () => String((await proxied(ip, port, 'u', `http://${target.host}/`)).status)),
      pump(async () => {
        const { code, rawClient } = await socks(ip, port, 'u', socksAddress('127.0.0.1'), echo.port)
        rawClient.socket.destroy()
        return code === 0 ? '200' : `socks ${code}`
      }),
      pump(async () => {
        kept ??= new RawClient(ip, port)
        kept.send(ask)
        const [head] = await kept.take(/^HTTP\/1\.1 200 [^]*?\r\n\r\n\{[^}]*\}/)
        if (/connection: close/i.test(head)) kept = null
        return '200'
      }),
      pump(async () => {
        const { status, json } = await call('GET', '/api/state')
        return status === 503 && json['reason'] === 'takingOver' ? '200' : String(status)
      })
    ]
    // More workers than listening sockets, then fewer.
    for (const workers of [3, 1]) {
      await writeFile(settings, `# changed\nAGENT_WORKERS=${workers}\nAGENT_DRAIN_SECONDS="30"\n`)
      const after = await takeOver()
      expect(after['takeover']?.['reason'] ?? null).toBeNull()
      expect(after['health']?.['workers']).toBe(workers)
    }
    const before = pumps.map(({ seen }) => seen['200'] ?? 0)
    await until('each to go on', () => pumps.every(({ seen }, n) => (seen['200'] ?? 0) > (before[n] ?? 0) + 5))
    await Promise.all(pumps.map(({ stop }) => stop()))
    for (const { seen } of pumps) expect(Object.keys(seen)).toEqual(['200'])
    // A kept connection from before the takeover gets its next answer, with `Connection: close`.
    idle.send(ask)
    expect((await idle.take(/200 OK[^]*?\r\n\r\n\{[^}]*\}/))[0]).toMatch(/connection: close/i)
  }, 90_000)
})
