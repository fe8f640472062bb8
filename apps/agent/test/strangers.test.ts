import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { LoginGuard } from '../src/proxy/login-guard.ts'
import type { Limits } from '../src/proxy/limits.ts'
import {
  echoTarget,
  httpTarget,
  lease,
  onEnd,
  proxied,
  socks,
  socksAddress,
  testAgent,
  tunnel,
  until
} from './test-agent.ts'
import type { TestAgent } from './test-agent.ts'

async function customers(limits: Partial<Limits>): Promise<{ agent: TestAgent; ip: string }> {
  const agent = await testAgent({ limits: { sweepMs: 20, ...limits } })
  await lease(agent.call, 'u', [`${agent.net}.1.0/24`])
  return { agent, ip: `${agent.net}.1.1` }
}

/** A client that connects from this address and sends nothing. */
async function stranger(agent: TestAgent, ip: string, from: string): Promise<{ socket: Socket; gone: () => boolean }> {
  const socket = connect({ host: ip, port: agent.proxyPort, localAddress: from })
  let gone = false
  socket.on('error', () => {}).on('close', () => (gone = true))
  socket.resume()
  onEnd(() => socket.destroy())
  await new Promise<void>(resolve => socket.once('connect', () => resolve()))
  return { socket, gone: () => gone }
}

describe('connections that do not log in', () => {
  test('shut no customer out, however many they are and from wherever they come', async () => {
    const { agent, ip } = await customers({ connections: 300 })
    const echo = await echoTarget()
    for (let n = 0; n < 300; n++) await stranger(agent, ip, `127.${200 + (n % 5)}.0.${1 + (n % 100)}`)
    for (let n = 0; n < 40; n++) expect((await tunnel(ip, agent.proxyPort, 'u', echo.host)).status).toBe(200)
  })

  test('make room for customers only as far as needed, and never at the cost of another customer', async () => {
    const { agent, ip } = await customers({ connections: 10 })
    const echo = await echoTarget()
    const idle = await Promise.all(Array.from({ length: 4 }, () => stranger(agent, ip, '127.201.0.1')))
    const tunnels = []
    for (let n = 0; n < 6; n++) tunnels.push((await tunnel(ip, agent.proxyPort, 'u', echo.host)).rawClient)
    expect(idle.filter(each => each.gone())).toEqual([])
    for (let n = 0; n < 4; n++) tunnels.push((await tunnel(ip, agent.proxyPort, 'u', echo.host)).rawClient)
    await until('the silent ones to be gone', () => idle.every(each => each.gone()))
    const late = await stranger(agent, ip, '127.201.0.2')
    await until('one too many to be turned away', late.gone)
    expect(tunnels.filter(client => client.closed)).toEqual([])
  })

  test('of one client are limited: the oldest goes, those of other clients and those that logged in stay', async () => {
    const { agent, ip } = await customers({ strangersPerClient: 5 })
    const echo = await echoTarget()
    const other = await stranger(agent, ip, '127.202.0.2')
    const mine: Array<Awaited<ReturnType<typeof stranger>>> = []
    for (let n = 0; n < 8; n++) mine.push(await stranger(agent, ip, '127.202.0.1'))
    await until('the first three to be gone', () => mine.slice(0, 3).every(each => each.gone()))
    const tunnels = []
    for (let n = 0; n < 12; n++) tunnels.push(await tunnel(ip, agent.proxyPort, 'u', echo.host))
    expect(tunnels.map(each => each.status)).toEqual(Array.from({ length: 12 }, () => 200))
    expect([...mine.slice(3), other].filter(each => each.gone())).toEqual([])
    expect(tunnels.filter(each => each.rawClient.closed)).toEqual([])
  })
})

describe('wrong passwords', () => {
  test('too many of one client are not looked at any more for a while, by HTTP and by SOCKS5', async () => {
    const { agent, ip } = await customers({ failedLogins: 5, failedLoginMs: 3_600_000 })
    const target = await httpTarget()
    const url = `http://${target.host}/`
    const guess = async (password: string): Promise<number> =>
      (await proxied(ip, agent.proxyPort, 'u', url, { password })).status
    for (let n = 0; n < 5; n++) expect(await guess(`wrong${n}`)).toBe(407)
    expect(await guess('wrong5')).toBe(429)
    // The right password is refused, too, because an answer would reveal it.
    expect(await guess('secret')).toBe(429)
    expect((await socks(ip, agent.proxyPort, 'u', socksAddress('127.0.0.1'), target.port)).code).toBe(-1)
  })

  test('of others at the same client do not stop a user that logged in there before, until it guesses itself', async () => {
    const { agent, ip } = await customers({ failedLogins: 5, failedLoginMs: 3_600_000 })
    const target = await httpTarget()
    const ask = async (user: string, password: string): Promise<number> =>
      (await proxied(ip, agent.proxyPort, user, `http://${target.host}/`, { password })).status
    expect(await ask('u', 'secret')).toBe(200)
    for (let n = 0; n < 5; n++) await ask('other', `wrong${n}`)
    expect(await ask('other', 'wrong')).toBe(429)
    expect(await ask('u', 'secret')).toBe(200)
    expect(await ask('u', 'guess')).toBe(407)
    expect(await ask('u', 'secret')).toBe(429)
  })

  test('that are repeated count once: a busy program with an old password locks no user out', async () => {
    const { agent, ip } = await customers({ failedLogins: 5, failedLoginMs: 3_600_000 })
    const target = await httpTarget()
    const url = `http://${target.host}/`
    for (let n = 0; n < 50; n++)
      expect((await proxied(ip, agent.proxyPort, 'u', url, { password: 'old' })).status).toBe(407)
    expect((await proxied(ip, agent.proxyPort, 'u', url)).status).toBe(200)
  })

  test('are as many as the settings say, of all workers together', () => {
    const limits = (settings: Record<string, string>): unknown => {
      const read = readConfig(settings)
      return read.ok ? [read.config.limits.failedLogins, read.config.limits.failedLoginMs] : read.message
    }
    expect(limits({})).toEqual([100, 1000])
    expect(limits({ AGENT_FAILED_LOGINS: '7', AGENT_FAILED_LOGIN_SECONDS: '30', AGENT_WORKERS: '3' })).toEqual([
      3, 90_000
    ])
    expect(limits({ AGENT_FAILED_LOGINS: '0' })).toMatch(/^AGENT_FAILED_LOGINS must be/)
  })

  test('are forgiven one after the other, and an IPv6 client is its whole /64', () => {
    const guard = new LoginGuard(2, 1000)
    const from = '2001:db8:0:1::1'
    guard.failed(from, 'u', 'a', 0)
    guard.failed('2001:db8:0:1:ffff::2', 'u', 'b', 0)
    expect(guard.allows(from, 'u', 500)).toBe(false)
    expect(guard.allows('2001:db8:0:2::1', 'u', 500)).toBe(true)
    expect(guard.allows(from, 'u', 1000)).toBe(true)
    guard.failed(from, 'u', 'c', 1000)
    expect(guard.allows(from, 'u', 1900)).toBe(false)
    expect(guard.allows(from, 'u', 60_000)).toBe(true)
  })
})
