import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { family } from './processes.ts'
import { agentProcess } from './process.ts'
import { caller, echoTarget, lease, randomNet, tempFolder, tunnel, until } from './test-agent.ts'

const PRLIMIT = '/usr/bin/prlimit'

/** @param count of open files that a process may have from now on */
const limitFiles = (pid: number, count: number): void => {
  execFileSync(PRLIMIT, ['--pid', String(pid), `--nofile=${count}:`])
}

test.runIf(process.platform === 'linux' && existsSync(PRLIMIT))(
  'a worker that cannot be forked for want of file handles is tried again until there are some',
  async () => {
    const agent = await agentProcess(await tempFolder(), { AGENT_WORKERS: '2' })
    const call = caller(agent.port)
    const net = randomNet()
    const echo = await echoTarget()
    await call('PUT', '/api/prefixes', { prefixes: [`${net}.0.0/16`] })
    await lease(call, 'u', [`${net}.1.1/32`])
    const manager = agent.child.pid ?? 0
    const [worker] = (await family(manager)).filter(pid => pid !== manager)
    limitFiles(manager, readdirSync(`/proc/${manager}/fd`).length - 3)
    process.kill(worker ?? 0, 'SIGKILL')
    await until('a fork to fail', () => /A worker ended \((EMFILE|spawn \S+ EMFILE)\)/.test(agent.output()))
    // The other one serves on.
    expect((await tunnel(`${net}.1.1`, agent.proxyPort, 'u', echo.host)).status).toBe(200)
    limitFiles(manager, 4096)
    await until('the worker to be back', async () => (await call('GET', '/healthz')).status === 200, 60_000)
    agent.child.kill('SIGTERM')
    expect(await agent.exited).toBe(0)
  },
  90_000
)
