import { spawnSync } from 'node:child_process'
import { getPriority } from 'node:os'
import { describe, expect, test } from 'vitest'
import { agentProcess, mainFile, PRLIMIT } from './process.ts'
import { family } from './processes.ts'
import { kill, managersOf, servingAgent } from './takeovers.ts'
import { caller, tempFolder, until } from './test-agent.ts'

const own = getPriority()
const runs = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0
const back = 'const os = require("os"), own = os.getPriority(); os.setPriority(own + 1); os.setPriority(own)'
const mayGoBack = process.platform === 'linux' && runs(process.execPath, '-e', back)
/** Without root's right to any priority. */
const unprivileged = ['/usr/bin/setpriv', '--bounding-set=-sys_nice', '--inh-caps=-sys_nice']
const limited = [PRLIMIT, `--nice=${20 - own}`, ...unprivileged]
const canRun = ([command = '', ...args]: string[]): boolean => mayGoBack && runs(command, ...args, 'true')

/** How far behind its workers the managing process of an agent runs, and these behind what started it. */
async function prioritiesOf(pid: number): Promise<{ manager: number; workers: number[] }> {
  const workers = (await family(pid)).filter(other => other !== pid)
  return { manager: getPriority(pid) - own, workers: workers.map(worker => getPriority(worker) - own) }
}

describe.runIf(mayGoBack)('the managing process', () => {
  test('runs after its workers, also after those that are replaced', async () => {
    const agent = await agentProcess(await tempFolder(), { AGENT_WORKERS: '2' })
    const pid = agent.child.pid ?? 0
    expect(await prioritiesOf(pid)).toEqual({ manager: 10, workers: [0, 0] })
    const [, worker = 0] = await family(pid)
    kill(worker)
    await until('another worker to serve', async () => {
      const now = await family(pid)
      return !now.includes(worker) && now.length === 3 && (await caller(agent.port)('GET', '/healthz')).status === 200
    })
    expect(await prioritiesOf(pid)).toEqual({ manager: 10, workers: [0, 0] })
  })

  test('that takes over begins as the first one did', async () => {
    const { folder, takeOver, pid } = await servingAgent()
    await takeOver()
    const serving = await pid()
    await until('the first one to end', async () => (await managersOf(folder)).length === 1)
    expect(await prioritiesOf(serving)).toEqual({ manager: 10, workers: [0] })
  })

  test('runs as it was started where it carries the tunnels itself', async () => {
    const agent = await agentProcess(await tempFolder(), { AGENT_WORKERS: '0' })
    expect(await prioritiesOf(agent.child.pid ?? 0)).toEqual({ manager: 0, workers: [] })
  })

  test.runIf(canRun(unprivileged))('runs as its workers do where these could not have their priority', async () => {
    const agent = await agentProcess(await tempFolder(), { AGENT_WORKERS: '2' }, mainFile, unprivileged)
    expect(await prioritiesOf(agent.child.pid ?? 0)).toEqual({ manager: 0, workers: [0, 0] })
  })

  test.runIf(canRun(limited))('runs after them where a limit lets them have it', async () => {
    const agent = await agentProcess(await tempFolder(), { AGENT_WORKERS: '2' }, mainFile, limited)
    expect(await prioritiesOf(agent.child.pid ?? 0)).toEqual({ manager: 10, workers: [0, 0] })
  })
})
