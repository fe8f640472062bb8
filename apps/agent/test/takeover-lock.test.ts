// One process at a time holds the lock of an agent's folder. No other user of the machine can take it.
import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lockFolder } from '../src/state/folder.ts'
import { isLinux, kill, managersOf, processesOf, testProgram } from './process.ts'
import { echoTarget, lease, onEnd, tempFolder, tunnel, until } from './test-agent.ts'
import { pump, servingAgent } from './takeovers.ts'

test.runIf(isLinux)(
  'of many that want a folder at once one gets it, also where its path is too long for a socket',
  async () => {
    const short = await tempFolder()
    const lockedByOne = async (folder: string): Promise<void> => {
      const found = await Promise.all(Array.from({ length: 3 }, () => lockFolder(folder)))
      const [one, ...others] = found.flatMap(each => (each.ok ? [each.lock] : []))
      expect([one === undefined, others]).toEqual([false, []])
      one?.unlock()
      const again = await lockFolder(folder)
      expect(again.ok).toBe(true)
      if (again.ok) again.lock.unlock()
      expect((await readdir(folder)).filter(name => /^lock\../.test(name) && name !== 'lock.sock')).toEqual([])
    }
    await Promise.all([short, join(short, 'a-long-name-'.repeat(12))].map(lockedByOne))
  }
)

test.runIf(isLinux)(
  'names without a file, which anybody can take, are of no use against an agent; in a takeover there is no moment without a lock',
  async () => {
    const folder = await tempFolder()
    const path = join(folder, 'agent')
    await mkdir(path)
    // The lock of older agents.
    const name = `\0netlet-agent-${createHash('sha256').update(path).digest('hex').slice(0, 32)}`
    const taken = createServer()
    await new Promise<void>(resolve => taken.listen(name, resolve))
    onEnd(() => taken.close())
    const { agent, ip, takeOver } = await servingAgent({ DATA_DIR: folder, AGENT_WORKERS: '0' })
    const echo = await echoTarget()
    const { rawClient } = await tunnel(ip, agent.proxyPort, 'u', echo.host)
    const others = pump(async () => {
      const got = await lockFolder(path)
      if (got.ok) got.lock.unlock()
      return got.ok ? 'locked' : 'refused'
    })
    expect((await takeOver())['takeover']).toMatchObject({ state: 'none', reason: null })
    rawClient.socket.destroy()
    await until('the old process to end', async () => (await managersOf(folder)).length === 1)
    expect((await takeOver())['takeover']).toMatchObject({ state: 'none', reason: null })
    await others.stop()
    expect(Object.keys(others.seen)).toEqual(['refused'])
    const [last = 0] = (await managersOf(folder)).slice(-1)
    await until('one process', async () => (await managersOf(folder)).length === 1)
    kill(last, 'SIGTERM')
    await until('its end', async () => (await processesOf(folder)).length === 0)
    const free = await lockFolder(path)
    expect(free.ok).toBe(true)
    if (free.ok) free.lock.unlock()
  },
  120_000
)

test.runIf(isLinux)(
  'where the state cannot be taken back, what is open stays, and once it can, changes are taken again',
  async () => {
    const folder = await tempFolder()
    const journal = join(folder, 'agent', 'state.journal')
    const link = join(folder, 'current.mjs')
    await symlink(testProgram, link)
    const { agent, call, ip, net, info, pid } = await servingAgent({ DATA_DIR: folder, AGENT_WORKERS: '0' }, link)
    const echo = await echoTarget()
    const { rawClient } = await tunnel(ip, agent.proxyPort, 'u', echo.host)
    const bad = join(folder, 'bad.mjs')
    await writeFile(
      bad,
      `import { renameSync } from 'node:fs'
      process.on('message', m => {
        if (m.type === 'begin') process.send({ type: 'ready', format: 2 })
        if (m.type !== 'yours') return
        renameSync('${journal}', '${journal}.away')
        process.exit()
      })`
    )
    await rename(link, `${link}.old`)
    await symlink(bad, link)
    kill(await pid(), 'SIGHUP')
    await until('the failure', () => agent.output().includes('could not be taken back'))
    // No other process can take it.
    expect((await lockFolder(join(folder, 'agent'))).ok).toBe(false)
    rawClient.send('still here')
    await rawClient.take(/still here/)
    expect((await tunnel(ip, agent.proxyPort, 'u', echo.host)).status).toBe(200)
    const put = { password: 'secret', prefixes: [`${net}.3.1/32`] }
    expect((await call('PUT', '/api/users/late', put)).status).toBe(503)
    await rename(`${journal}.away`, journal)
    const { takeover } = await info()
    expect(takeover).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/ended before it served/) as unknown
    })
    await lease(call, 'late', [`${net}.3.1/32`])
    expect(await readFile(journal, 'utf8')).toContain('"late"')
    rawClient.send('to the end')
    await rawClient.take(/to the end/)
  },
  120_000
)
