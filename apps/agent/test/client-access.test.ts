import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { parseAddress } from '../src/net/ip.ts'
import { AccessTable } from '../src/proxy/access-table.ts'
import {
  basic,
  echoTarget,
  httpTarget,
  lease,
  proxied,
  RawClient,
  socksAddress,
  startedAgain,
  testAgent,
  type TestAgent,
  until
} from './test-agent.ts'
import { piecesOf } from '../src/workers/worker-process.ts'

const LISTED = '127.3.1.7'
const OTHER = '127.3.9.9'

let agent: TestAgent
let echo: Awaited<ReturnType<typeof echoTarget>>
let target: Awaited<ReturnType<typeof httpTarget>>
beforeAll(async () => {
  agent = await testAgent()
  echo = await echoTarget()
  target = await httpTarget()
})

/** Addresses that tests have used, so that each user gets its own. */
let usedAddresses = 0
async function user(more: Record<string, unknown>): Promise<{ name: string; ip: string }> {
  const name = `c${randomBytes(6).toString('hex')}`
  const ip = `${agent.net}.7.${++usedAddresses}`
  await lease(agent.call, name, [`${ip}/32`], more)
  return { name, ip }
}

const from = (client: string, ip: string): RawClient => new RawClient(ip, agent.proxyPort, client)
async function connect(
  client: string,
  ip: string,
  credentials = ''
): Promise<{ status: number; rawClient: RawClient }> {
  const rawClient = from(client, ip).send(`CONNECT ${echo.host} HTTP/1.1\r\nHost: x\r\n${credentials}\r\n`)
  const [, status] = await rawClient.take(/^HTTP\/1\.1 (\d{3}) [^]*?\r\n\r\n/)
  return { status: Number(status), rawClient }
}
async function get(client: string, ip: string, credentials = ''): Promise<string> {
  const request = `GET http://${target.host}/ HTTP/1.1\r\nHost: x\r\n${credentials}Connection: close\r\n\r\n`
  return from(client, ip).send(request).over()
}
/** Sends a SOCKS5 greeting. Returns the method that the agent chooses: 255 if it accepts none of them. */
async function greet(client: string, ip: string, methods: number[]): Promise<{ method: number; rawClient: RawClient }> {
  const rawClient = from(client, ip).send(Buffer.from([5, methods.length, ...methods]))
  return { method: (await rawClient.bytes(2))[1] ?? -1, rawClient }
}
const port = (): Buffer => Buffer.from([echo.port >> 8, echo.port & 255])
const ask = (rawClient: RawClient): Promise<Buffer> =>
  rawClient.send(Buffer.concat([Buffer.from([5, 1, 0]), socksAddress('127.0.0.1'), port()])).bytes(10)

describe('a listed client needs no password where the user says so', () => {
  test('by HTTP, CONNECT and SOCKS5; others need it, and get in by it', async () => {
    const { name, ip } = await user({ access: 'address', allowed_client_ips: ['127.3.1.0/24'] })
    expect(await get(LISTED, ip)).toMatch(new RegExp(`^HTTP/1.1 200 [^]*"from":"${ip}"`))
    expect((await connect(LISTED, ip)).status).toBe(200)
    const open = await greet(LISTED, ip, [0])
    expect(open.method).toBe(0)
    expect((await ask(open.rawClient))[1]).toBe(0)

    expect(await get(OTHER, ip)).toMatch(/^HTTP\/1\.1 407 /)
    expect((await connect(OTHER, ip)).status).toBe(407)
    expect((await greet(OTHER, ip, [0])).method).toBe(0xff)
    expect((await connect(OTHER, ip, basic(name))).status).toBe(200)
    // The exemption holds at the user's own address only.
    expect((await connect(LISTED, `${agent.net}.200.1`)).status).toBe(407)
  })

  test('credentials that are sent decide; a SOCKS5 client that has none says so', async () => {
    const { name, ip } = await user({ access: 'address', allowed_client_ips: [LISTED] })
    expect((await connect(LISTED, ip, basic(name))).status).toBe(200)
    expect((await connect(LISTED, ip, basic(name, 'wrong'))).status).toBe(407)
    const both = await greet(LISTED, ip, [0, 2])
    expect(both.method).toBe(2)
    expect((await both.rawClient.send(Buffer.from([1, 0, 0])).bytes(2))[1]).toBe(0)
    expect((await ask(both.rawClient))[1]).toBe(0)
    const stranger = await greet(OTHER, ip, [0, 2])
    expect((await stranger.rawClient.send(Buffer.from([1, 0, 0])).bytes(2))[1]).not.toBe(0)
  })

  test('a client that two users of an address list needs a password', async () => {
    const { ip } = await user({ access: 'address', allowed_client_ips: ['127.3.1.0/24'] })
    expect((await connect(LISTED, ip)).status).toBe(200)
    await lease(agent.call, `second${usedAddresses}`, [`${ip}/32`], { access: 'address', allowed_client_ips: [LISTED] })
    expect(await get(LISTED, ip)).toMatch(/^HTTP\/1\.1 407 [^]*Several users/)
    expect((await greet(LISTED, ip, [0])).method).toBe(0xff)
    expect((await connect('127.3.1.8', ip)).status).toBe(200)
    expect((await connect(LISTED, ip, basic(`second${usedAddresses}`))).status).toBe(200)
    await agent.call('DELETE', `/api/users/second${usedAddresses}`)
    expect((await connect(LISTED, ip)).status).toBe(200)
  })

  test('the password and the address where both are asked for', async () => {
    const { name, ip } = await user({ access: 'password_and_address', allowed_client_ips: [LISTED] })
    expect((await connect(LISTED, ip)).status).toBe(407)
    expect((await connect(OTHER, ip, basic(name))).status).toBe(407)
    expect((await connect(LISTED, ip, basic(name))).status).toBe(200)
    expect((await greet(LISTED, ip, [0])).method).toBe(0xff)
  })
})

describe('a change cuts only the connections that are no longer allowed', () => {
  const addresses = { access: 'address', allowed_client_ips: ['127.3.1.0/24'] }

  test.each<[string, Record<string, unknown>]>([
    ['the list loses the client', { access: 'address', allowed_client_ips: ['127.3.2.0/24'] }],
    ['the password is asked for', { allowed_client_ips: ['127.3.1.0/24'] }],
    ['both are asked for', { access: 'password_and_address', allowed_client_ips: ['127.3.1.0/24'] }]
  ])('when %s', async (_what, change) => {
    const { name, ip } = await user(addresses)
    const byAddress = await connect(LISTED, ip)
    const byPassword = await connect(LISTED, ip, basic(name))
    await lease(agent.call, name, [`${ip}/32`], change)
    await byAddress.rawClient.over()
    if (change['access'] !== 'password_and_address') {
      expect(byPassword.rawClient.send('still here').ended).toBe(false)
      await byPassword.rawClient.take(/still here/)
    } else await byPassword.rawClient.take(/\n/)
  })

  test('when both are asked for, one from elsewhere; a new password leaves those that came by their address', async () => {
    const { name, ip } = await user(addresses)
    const byAddress = await connect(LISTED, ip)
    const elsewhere = await connect(OTHER, ip, basic(name))
    await lease(agent.call, name, [`${ip}/32`], { ...addresses, password: 'another' })
    await elsewhere.rawClient.over()
    byAddress.rawClient.send('still here')
    await byAddress.rawClient.take(/still here/)
    await agent.call('DELETE', `/api/users/${name}`)
    await byAddress.rawClient.over()
  })
})

describe('nothing is opened by mistake', () => {
  test.each<[Record<string, unknown>, string]>([
    [{ access: 'address' }, 'noClientIps'],
    [{ access: 'password_and_address' }, 'noClientIps'],
    [{ access: 'address', allowed_client_ips: ['0.0.0.0/0'] }, 'wideClientIp'],
    [{ access: 'address', allowed_client_ips: ['127.0.0.0/23'] }, 'wideClientIp'],
    [{ access: 'address', allowed_client_ips: ['2001:db8::/47'] }, 'wideClientIp'],
    [
      { access: 'address', allowed_client_ips: Array.from({ length: 257 }, (_, n) => `10.0.${n >> 8}.${n & 255}`) },
      'tooManyClientIps'
    ],
    [{ access: 'anybody' }, 'badBody']
  ])('%# is refused', async (more, reason) => {
    const body = { password: 'secret', prefixes: [`${agent.net}.8.1/32`], ...more }
    expect((await agent.call('PUT', '/api/users/mistaken', body)).json['reason']).toBe(reason)
  })

  test('the last listed address is not taken by a classic verb, which would open it to everybody', async () => {
    const { name } = await user({ access: 'password_and_address', allowed_client_ips: [LISTED] })
    const taken = await agent.call('POST', '/api/del-whitelist-ip', { user: name, ip: LISTED })
    expect(taken.json['reason']).toBe('noClientIps')
  })

  test('what is kept tells older agents to restrict, and access by password is kept as it always was', async () => {
    const own = await testAgent()
    await lease(own.call, 'plain', [`${own.net}.1.1/32`], { access: 'password' })
    await lease(own.call, 'open', [`${own.net}.1.2/32`], { access: 'address', allowed_client_ips: [LISTED] })
    const lines = (await readFile(join(own.folder, 'state.journal'), 'utf8')).split('\n')
    expect(lines.find(line => line.includes('"plain"'))).not.toContain('access')
    expect(lines.find(line => line.includes('"open"'))).toContain(
      `"allowedClientIps":["${LISTED}/32"],"access":"address"`
    )
    const state = (await own.call('GET', '/api/state')).json
    const again = await startedAgain(own)
    expect((await again.call('GET', '/api/state')).json['users']).toEqual(state['users'])
    const request = `CONNECT ${echo.host} HTTP/1.1\r\nHost: x\r\n\r\n`
    await new RawClient(`${own.net}.1.2`, again.proxyPort, LISTED).send(request).take(/^HTTP\/1\.1 200/)
  })
})

test('a user with thousands of prefixes is let in by address in a worker, too, and IPv6 clients by their prefix', () => {
  const table = new AccessTable()
  const record = {
    password: 'p',
    prefixes: Array.from({ length: 3000 }, (_, n) => `10.${n >> 8}.${n & 255}.1/32`),
    denySet: '',
    allowedClientIps: ['192.0.2.7/32', '198.51.100.0/25', '2001:db8:5::/48'],
    access: 'address' as const
  }
  for (const piece of piecesOf([{ op: 'user', user: 'large', record }]))
    if (piece.type === 'ops') table.apply(piece.ops)
  const at = (client: string): unknown => table.openTo(parseAddress('10.5.6.1') ?? { v4: 0, v6: 0n }, client)
  for (const client of ['192.0.2.7', '198.51.100.127', '2001:db8:5:1::9'])
    expect(at(client)).toMatchObject({ user: 'large' })
  for (const client of ['192.0.2.8', '198.51.100.128', '2001:db8:6::9', '']) expect(at(client)).toBeNull()
  table.apply([{ op: 'user', user: 'large', record: null }])
  expect(at('192.0.2.7')).toBeNull()
})

test('wrong passwords of a listed client do not close its access by address', async () => {
  const limits = { failedLogins: 3, failedLoginMs: 1_000_000 }
  const own = await testAgent({ limits })
  await lease(own.call, 'u', [`${own.net}.1.1/32`], { access: 'address', allowed_client_ips: ['127.0.0.1'] })
  for (let n = 0; n < 5; n++)
    await proxied(`${own.net}.1.1`, own.proxyPort, 'u', `http://${target.host}/`, { password: `w${n}` })
  const open = new RawClient(`${own.net}.1.1`, own.proxyPort, '127.0.0.1')
  open.send(`GET http://${target.host}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  await until('an answer', () => open.text.startsWith('HTTP/1.1 200'))
})
