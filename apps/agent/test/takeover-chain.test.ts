// Takeovers in a row, and how systemd hears of them.
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { echoTarget, tempFolder, tunnel, until } from './test-agent.ts'
import { kill, managersOf, processesOf, servingAgent } from './takeovers.ts'
import { notifyReceiver } from './notify-receiver.ts'

const hasTools = ['/usr/bin/systemd-notify', '/usr/bin/perl'].every(existsSync)

test.runIf(process.platform === 'linux')(
  'in a row: three processes drain at once and the oldest is cut; systemd hears which is the main one',
  async () => {
    const { path, heard } = hasTools ? await notifyReceiver() : { path: '', heard: () => [] }
    const settings = join(await tempFolder(), 'agent.env')
    const { agent, ip, folder, takeOver, pid } = await servingAgent({
      AGENT_WORKERS: '0',
      AGENT_SETTINGS_FILES: settings,
      ...(hasTools ? { NOTIFY_SOCKET: path, WATCHDOG_USEC: '400000' } : {})
    })
    const echo = await echoTarget()
    const open = async () => (await tunnel(ip, agent.proxyPort, 'u', echo.host)).rawClient
    const tunnels = [await open()]
    for (let n = 1; n <= 4; n++) {
      // Each keeps its tunnel.
      expect([...(await takeOver())['draining']].length).toBeLessThanOrEqual(4)
      if (n < 4) tunnels.push(await open())
    }
    await until('the oldest to be cut', () => tunnels[0]?.closed)
    await until('it to end', async () => (await managersOf(folder)).length === 4)
    for (const [n, client] of tunnels.slice(1).entries()) {
      client.send(`on ${n}`)
      await client.take(new RegExp(`on ${n}`))
    }
    if (hasTools) {
      const main = await pid()
      await until(
        'the number of the main process',
        () => heard().findLast(line => line.startsWith('MAINPID')) === `MAINPID=${main}`
      )
      const words = heard().length
      await until('it to say that it is well', () => heard().slice(words).includes('WATCHDOG=1'))
    }
    // No time at all: what is open is cut at once.
    await writeFile(settings, 'AGENT_DRAIN_SECONDS=0\n')
    await takeOver()
    await until('all tunnels to be cut', () => tunnels.every(({ closed }) => closed))
    await until('one process', async () => (await managersOf(folder)).length === 1)
    // The one that serves dies: what drains cannot hear of changes any more, and ends, too.
    await writeFile(settings, 'AGENT_DRAIN_SECONDS=60\n')
    const last = await open()
    await takeOver()
    kill(await pid())
    await until('all to be gone', async () => last.closed && (await processesOf(folder)).length === 0)
  },
  90_000
)
