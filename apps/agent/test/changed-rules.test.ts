import { beforeAll, describe, expect, test } from 'vitest'
import { hello, serverName } from './names.ts'
import {
  lease,
  type RawClient,
  socks,
  socksAddress,
  tcpTarget,
  testAgent,
  type TestAgent,
  tunnel,
  until
} from './test-agent.ts'

// An open connection whose target is denied later.

const SITE = '127.0.0.1'
const FAR = '127.0.0.2'
let agent: TestAgent
let ip: string
let target: Awaited<ReturnType<typeof tcpTarget>>

beforeAll(async () => {
  agent = await testAgent({
    world: { resolve: (name, _family, answer) => answer({ ok: true, addresses: [name === 'far.test' ? FAR : SITE] }) },
    limits: { sweepMs: 20 }
  })
  target = await tcpTarget(socket => void socket.on('data', () => socket.write('answer')), '0.0.0.0')
  ip = `${agent.net}.1.1`
})

const deny = (denied_domains: string[], user = 'u') => lease(agent.call, user, [`${ip}/32`], { denied_domains })
const blacklist = async (verb: 'add' | 'del', domain: string) =>
  expect((await agent.call('POST', `/api/${verb}-blacklist`, { domain })).status).toBe(200)
const lines = async (): Promise<string> => (await agent.call('GET', '/api/export/access.log')).text

async function open(to: string): Promise<RawClient> {
  const { status, rawClient } = await tunnel(ip, agent.proxyPort, 'u', `${to}:${target.port}`)
  expect(status).toBe(200)
  return rawClient
}

async function openBySocks(to: string): Promise<RawClient> {
  const { code, rawClient } = await socks(ip, agent.proxyPort, 'u', socksAddress(to), target.port)
  expect(code).toBe(0)
  return rawClient
}

/** Whether the target answers through this connection. */
async function carries(client: RawClient, bytes: string | Buffer = 'ping'): Promise<boolean> {
  client.received = Buffer.alloc(0)
  client.send(bytes)
  await until('an answer or the end', () => client.closed || client.text.includes('answer'))
  return !client.closed
}

const request = (host: string) => `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`

describe('a list that denies what an open connection leads to', () => {
  test.each([
    ['CONNECT', open],
    ['SOCKS5', openBySocks]
  ])('ends it, and no other one: %s', async (_name, by) => {
    await deny([])
    const [denied, other] = [await by('www.site.test'), await by('other.test')]
    expect(await carries(denied)).toBe(true)
    await deny(['site.test'])
    await denied.over()
    expect(await carries(other)).toBe(true)
    await until('the log', async () => /site\.test:\d+ 200 \d+ \d+ \d+ denied-domain/.test(await lines()))
    other.socket.destroy()
  })

  test('the same by the name that a TLS client showed', async () => {
    await deny(['first.test'])
    const [denied, other] = [await open(SITE), await open(SITE)]
    expect(await carries(denied, hello([serverName('www.site.test')]))).toBe(true)
    expect(await carries(other, hello([serverName('other.test')]))).toBe(true)
    await deny(['first.test', 'site.test'])
    await denied.over()
    expect(await carries(other)).toBe(true)
    await until('the log', async () => / 200 \d+ \d+ \d+ denied-name/.test(await lines()))
    other.socket.destroy()
  })

  test('the same by its address', async () => {
    await deny([])
    const [denied, other] = [await open('far.test'), await open('other.test')]
    await deny([`${FAR}/32`])
    await denied.over()
    expect(await carries(other)).toBe(true)
    other.socket.destroy()
  })

  test('refuses the next request inside of it', async () => {
    await deny(['first.test'])
    const [client, other] = [await open(SITE), await open(SITE)]
    expect(await carries(client, request('open.test'))).toBe(true)
    expect(await carries(other, request('open.test'))).toBe(true)
    await deny(['first.test', 'site.test'])
    expect(await carries(client, request('www.site.test'))).toBe(false)
    expect(await carries(other, request('open.test'))).toBe(true)
    other.socket.destroy()
  })

  test('the blacklist does so for everybody, also for who had no denied names', async () => {
    await deny([])
    const [denied, other] = [await open('www.site.test'), await open('other.test')]
    await blacklist('add', 'site.test')
    await denied.over()
    expect(await carries(other)).toBe(true)
    await blacklist('del', 'site.test')
    other.socket.destroy()
  })

  test('a name that is denied while it is looked up is not dialled', async () => {
    const answers: Array<() => void> = []
    const slow = await testAgent({
      world: {
        resolve: (_name, _family, answer) => void answers.push(() => answer({ ok: true, addresses: [SITE] }))
      }
    })
    const [address, connections] = [`${slow.net}.1.1`, target.sockets.size]
    const put = (denied_domains: string[]) => lease(slow.call, 'u', [`${address}/32`], { denied_domains })
    await put([])
    const asked = tunnel(address, slow.proxyPort, 'u', `open.test:${target.port}`)
    await until('the question', () => answers.length > 0)
    await put([`${SITE}/32`])
    answers.shift()?.()
    expect((await asked).status).toBe(403)
    expect(target.sockets.size).toBe(connections)
  })
})
