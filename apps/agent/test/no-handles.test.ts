import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { hasPrlimit, limitHandles, PRLIMIT } from './process.ts'
import { servingAgent } from './takeovers.ts'
import { basic, httpTarget, proxied, RawClient, until } from './test-agent.ts'
import { connectionsWithin } from '../src/workers/process-figures.ts'

test('as many connections are taken as there are file handles for', () => {
  expect(connectionsWithin(60_000, 1_048_576)).toEqual({ connections: 60_000, warning: null })
  expect(connectionsWithin(60_000, 0)).toEqual({ connections: 60_000, warning: null })
  expect(connectionsWithin(60_000, 1024)).toEqual({ connections: 462, warning: expect.stringContaining('120100') })
  expect(connectionsWithin(60_000, 64).connections).toBe(1)
})

describe.runIf(hasPrlimit)('with few file handles', () => {
  test('strangers make room for customers, and the log says how many there may be', async () => {
    const { agent, ip } = await servingAgent({}, undefined, [PRLIMIT, '--nofile=260'])
    expect(agent.output()).toContain('takes 80 connections at most, not 60000 as set')
    const target = await httpTarget()
    const strangers = Array.from({ length: 120 }, () => new RawClient(ip, agent.proxyPort).send('GET http://x'))
    await until('the oldest to make room', () => strangers.filter(each => each.closed).length >= 40)
    for (let n = 0; n < 20; n++)
      expect((await proxied(ip, agent.proxyPort, 'u', `http://${target.host}/`)).status).toBe(200)
  })

  test('a target that none is left for is no unreachable one', async () => {
    const { agent, ip, workers } = await servingAgent()
    const target = await httpTarget()
    const [worker = 0] = await workers()
    const client = new RawClient(ip, agent.proxyPort)
    const get = `GET http://${target.host}/ HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n`
    client.send(`${get}\r\n`)
    await client.take(/407 /)
    const used = new Set(readdirSync(`/proc/${worker}/fd`).map(Number))
    let free = 0
    while (used.has(free)) free++
    limitHandles(worker, free)
    client.send(`${get}${basic('u')}\r\n`)
    await client.take(/HTTP\/1\.1 503 /)
    limitHandles(worker, 4096)
    client.send(`${get}${basic('u')}\r\n`)
    await client.take(/HTTP\/1\.1 200 /)
    expect(agent.output()).not.toContain('An error in the agent')
  })
})
