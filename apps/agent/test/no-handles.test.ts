import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { connectionsWithin } from '../src/workers/connections-within.ts'
import { family } from './processes.ts'
import { agentProcess, mainFile, PRLIMIT } from './process.ts'
import {
  basic,
  caller,
  echoTarget,
  httpTarget,
  lease,
  proxied,
  randomNet,
  RawClient,
  tempFolder,
  tunnel,
  until
} from './test-agent.ts'

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

test('as many connections are taken as there are file handles for', () => {
  expect(connectionsWithin(60_000, 1_048_576)).toEqual({ connections: 60_000, warning: null })
  expect(connectionsWithin(60_000, 0)).toEqual({ connections: 60_000, warning: null })
  expect(connectionsWithin(60_000, 1024)).toEqual({ connections: 462, warning: expect.stringContaining('120100') })
  expect(connectionsWithin(60_000, 64).connections).toBe(1)
})

describe.runIf(process.platform === 'linux' && existsSync(PRLIMIT))('with few file handles', () => {
  test('strangers make room for customers, and the log says how many there may be', async () => {
    const agent = await agentProcess(await tempFolder(), { AGENT_WORKERS: '1' }, mainFile, [PRLIMIT, '--nofile=260'])
    expect(agent.output()).toContain('takes 80 connections at most, not 60000 as set')
    const call = caller(agent.port)
    const net = randomNet()
    const target = await httpTarget()
    await call('PUT', '/api/prefixes', { prefixes: [`${net}.0.0/16`] })
    await lease(call, 'u', [`${net}.1.1/32`])
    const strangers = Array.from({ length: 400 }, () =>
      new RawClient(`${net}.1.1`, agent.proxyPort).send('GET http://x')
    )
    await until('the oldest to make room', () => strangers.filter(each => each.closed).length >= 320)
    for (let n = 0; n < 20; n++)
      expect((await proxied(`${net}.1.1`, agent.proxyPort, 'u', `http://${target.host}/`)).status).toBe(200)
  })

  test('a target that none is left for is no unreachable one', async () => {
    const agent = await agentProcess(await tempFolder(), { AGENT_WORKERS: '1' })
    const call = caller(agent.port)
    const net = randomNet()
    const target = await httpTarget()
    await call('PUT', '/api/prefixes', { prefixes: [`${net}.0.0/16`] })
    await lease(call, 'u', [`${net}.1.1/32`])
    const [worker = 0] = (await family(agent.child.pid ?? 0)).filter(pid => pid !== agent.child.pid)
    const client = new RawClient(`${net}.1.1`, agent.proxyPort)
    const get = `GET http://${target.host}/ HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n`
    client.send(`${get}\r\n`)
    await client.take(/407 /)
    const used = new Set(readdirSync(`/proc/${worker}/fd`).map(Number))
    let free = 0
    while (used.has(free)) free++
    limitFiles(worker, free)
    client.send(`${get}${basic('u')}\r\n`)
    await client.take(/HTTP\/1\.1 503 /)
    limitFiles(worker, 4096)
    client.send(`${get}${basic('u')}\r\n`)
    await client.take(/HTTP\/1\.1 200 /)
    expect(agent.output()).not.toContain('An error in the agent')
  })
})
