// Takeovers in a row: how long processes drain, which limits apply, and what systemd hears.
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newCertificate } from './certificates.ts'
import { notifyReceiver } from './notify-receiver.ts'
import { agentProcess, isLinux, kill, managersOf, processesOf } from './process.ts'
import { servingAgent } from './takeovers.ts'
import { echoTarget, lease, onEnd, type RawClient, tempFolder, tunnel, until } from './test-agent.ts'

const hasTools = ['/usr/bin/systemd-notify', '/usr/bin/perl'].every(existsSync)

describe.runIf(isLinux)('takeovers in a row', () => {
  test('let three processes drain at once and cut the oldest; systemd hears which is the main one', async () => {
    const { path, heard } = hasTools ? await notifyReceiver() : { path: '', heard: () => [] }
    const { agent, ip, folder, takeOver, pid } = await servingAgent({
      AGENT_WORKERS: '0',
      ...(hasTools ? { NOTIFY_SOCKET: path, WATCHDOG_USEC: '400000' } : {})
    })
    const echo = await echoTarget()
    const open = async () => (await tunnel(ip, agent.proxyPort, 'u', echo.host)).rawClient
    const tunnels = [await open()]
    for (let n = 1; n <= 4; n++) {
      // Each process keeps its tunnel.
      expect([...(await takeOver())['draining']].length).toBeLessThanOrEqual(4)
      if (n < 4) tunnels.push(await open())
    }
    await until('the oldest to be cut', () => tunnels[0]?.closed)
    await until('it to end', async () => (await managersOf(folder)).length === 4)
    for (const [n, client] of tunnels.slice(1).entries()) {
      client.send(`on ${n}`)
      await client.take(new RegExp(`on ${n}`))
    }
    const main = await pid()
    if (hasTools) {
      await until(
        'the number of the main process',
        () => heard().findLast(line => line.startsWith('MAINPID')) === `MAINPID=${main}`
      )
      const words = heard().length
      await until('it to say that it is well', () => heard().slice(words).includes('WATCHDOG=1'))
    }
    // When the serving process dies, draining ones receive no more changes, so they end, too.
    kill(main)
    await until('all to be gone', async () => (await processesOf(folder)).length === 0)
    await until('all tunnels to be cut', () => tunnels.every(({ closed }) => closed))
  })

  test('begin with a signal that comes while the first process starts', async () => {
    const folder = await tempFolder()
    const file = join(folder, 'agent.pid')
    onEnd(async () => (await processesOf(folder)).forEach(pid => kill(pid)))
    const starting = agentProcess(folder, { AGENT_WORKERS: '0', AGENT_PID_FILE: file })
    const first = await until('a process that catches the signal', async () => {
      const [pid] = await managersOf(folder)
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
      const caught = BigInt(`0x${/^SigCgt:\s*(\S+)/m.exec(status)?.[1] ?? '0'}`)
      return caught & 1n ? pid : null
    })
    kill(first, 'SIGHUP')
    expect((await starting).port).toBeGreaterThan(0)
    await until('another process', async () => Number(await readFile(file, 'utf8').catch(() => first)) !== first)
  })

  test('count what is open in all processes for the limits, and cut what is left when the time is over', async () => {
    // The new process receives messages while it reads the certificate's files.
    const { files } = await newCertificate()
    const settings = join(await tempFolder(), 'agent.env')
    const { agent, call, ip, folder, takeOver } = await servingAgent({
      AGENT_WORKERS: '0',
      AGENT_SETTINGS_FILES: settings,
      PROXY_TLS_CERT: files.cert,
      PROXY_TLS_KEY: files.key
    })
    const echo = await echoTarget()
    const open: RawClient[] = []
    const status = async (): Promise<number> => {
      const { status: came, rawClient } = await tunnel(ip, agent.proxyPort, 'u', echo.host)
      if (came === 200) open.push(rawClient)
      return came
    }
    await lease(call, 'u', [`${ip}/32`], { limits: { connections: 3 } })
    expect([await status(), await status()]).toEqual([200, 200])
    expect((await takeOver())['takeover']).toMatchObject({ state: 'none', reason: null })
    expect([await status(), await status()]).toEqual([200, 429])
    await writeFile(settings, 'AGENT_DRAIN_SECONDS=0\n')
    await takeOver()
    await until('all to be cut', () => open.every(({ closed }) => closed))
    await until('the others to end', async () => (await managersOf(folder)).length === 1)
    await until('room', async () => (await status()) === 200)
    const log = (await call('GET', '/api/export/access.log')).text
    expect(log.match(/ CONNECT .* replaced\n/g)).toHaveLength(3)
    expect(JSON.parse(await readFile(join(folder, 'agent', 'traffic.json'), 'utf8'))).toMatchObject({ format: 1 })
  })
})
