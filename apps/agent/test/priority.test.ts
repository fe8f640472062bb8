import { spawnSync } from 'node:child_process'
import { getPriority } from 'node:os'
import { describe, expect, test } from 'vitest'
import { childrenOf, kill, managersOf, PRLIMIT } from './process.ts'
import { servingAgent } from './takeovers.ts'
import { until } from './test-agent.ts'

const own = getPriority()
const runs = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0
const back = 'const os = require("os"), own = os.getPriority(); os.setPriority(own + 1); os.setPriority(own)'
const mayGoBack = process.platform === 'linux' && runs(process.execPath, '-e', back)
/** Drops root's right to any priority. */
const unprivileged = ['/usr/bin/setpriv', '--bounding-set=-sys_nice', '--inh-caps=-sys_nice']
const limited = [PRLIMIT, `--nice=${20 - own}`, ...unprivileged]
const canRun = ([command = '', ...args]: string[]): boolean => mayGoBack && runs(command, ...args, 'true')

/** The nice values of an agent's managing process and workers, relative to this process. */
async function prioritiesOf(pid: number): Promise<{ manager: number; workers: number[] }> {
  const workers = await childrenOf(pid)
  return { manager: getPriority(pid) - own, workers: workers.map(worker => getPriority(worker) - own) }
}

describe.runIf(mayGoBack)('the managing process', () => {
  test('runs after its workers, also after one that is replaced; one that takes over begins as the first did', async () => {
    const { agent, call, folder, workers, takeOver, pid } = await servingAgent()
    const first = agent.child.pid ?? 0
    const behind = { manager: 10, workers: [0] }
    expect(await prioritiesOf(first)).toEqual(behind)
    const [worker = 0] = await workers()
    kill(worker)
    await until('another worker to serve', async () => {
      const now = await workers()
      return !now.includes(worker) && now.length === 1 && (await call('GET', '/healthz')).status === 200
    })
    expect(await prioritiesOf(first)).toEqual(behind)
    await takeOver()
    const serving = await pid()
    await until('the first one to end', async () => (await managersOf(folder)).length === 1)
    expect(await prioritiesOf(serving)).toEqual(behind)
  })

  const cases: Array<[string, string, string[], { manager: number; workers: number[] }]> = [
    ['as it was started where it carries the tunnels itself', '0', [], { manager: 0, workers: [] }],
    ['as its workers do where these could not have their priority', '1', unprivileged, { manager: 0, workers: [0] }],
    ['after them where a limit lets them have it', '1', limited, { manager: 10, workers: [0] }]
  ]
  const possible = cases.filter(([, , within]) => within.length === 0 || canRun(within))
  test.each(possible)('runs %s', async (_, workers, within, expected) => {
    const { agent } = await servingAgent({ AGENT_WORKERS: workers }, undefined, within)
    expect(await prioritiesOf(agent.child.pid ?? 0)).toEqual(expected)
  })
})
