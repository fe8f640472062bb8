// In TLS 1.3 a server may ask for a second hello in clear text. The agent judges its name, too.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type ConnectionOptions, type TlsOptions } from 'node:tls'
import { beforeAll, expect, test } from 'vitest'
import { newCertificate } from './certificates.ts'
import { bytesOf, hello, serverName } from './names.ts'
import { basic, onEnd, RawClient, tcpTarget, until } from './test-agent.ts'
import { testPlane } from './test-plane.ts'

const RETRY = 'cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c'
/** A server's first message with these random bytes. */
const answer = (random: string): Buffer =>
  Buffer.from(`160303002c020000280303${random}0013010000`.padEnd(2 * (5 + 44), '0'), 'hex')
const retry = answer(RETRY)
const goesOn = answer('07'.repeat(32))
const WARNING = Buffer.from([21, 3, 3, 0, 2, 1, 112])
const CHANGE_CIPHER = Buffer.from([20, 3, 3, 0, 1, 1])
const EARLY_DATA = Buffer.concat([Buffer.from([23, 3, 3, 0, 40]), Buffer.alloc(40, 22)])

const open = hello([serverName('open.test')])
const denied = hello([serverName('denied.test')])

let proxy: number
beforeAll(async () => {
  proxy = (await testPlane({ denied: ['denied.test'] })).port
})

async function tunnelTo(port: number): Promise<RawClient> {
  const client = new RawClient('127.0.0.1', proxy)
  client.send(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: a\r\n${basic('u')}\r\n`)
  await client.take(/\r\n\r\n/)
  return client
}

/** A tunnel whose target answers the first hello with `says`. `got` returns what the target received. */
async function afterHello(says: Buffer[], first = open): Promise<{ client: RawClient; got: () => Buffer }> {
  let got: Buffer = Buffer.alloc(0)
  const target = await tcpTarget(socket => {
    socket.once('data', () => {
      for (const piece of says) socket.write(piece)
    })
    socket.on('data', (chunk: Buffer) => (got = Buffer.concat([got, chunk])))
  })
  const client = await tunnelTo(target.port)
  client.send(first)
  await client.bytes(Buffer.concat(says).length)
  return { client, got: () => got }
}

test.each([
  ['at once', []],
  ['behind a change of ciphers', [CHANGE_CIPHER]],
  ['behind early data', [CHANGE_CIPHER, EARLY_DATA, EARLY_DATA]]
])('a second hello with a denied name is reset before the target has it: %s', async (_name, before) => {
  for (const says of [[retry], [WARNING, retry], bytesOf(retry)]) {
    for (const second of [[denied], bytesOf(denied), [hello([serverName('denied.test')], 9)]]) {
      const { client, got } = await afterHello(says)
      for (const piece of [...before, ...second]) client.send(piece)
      await until('the reset', () => client.closed)
      expect(got().toString('latin1')).not.toContain('denied')
    }
  }
})

test('it is reset also where the server has not asked for it, or where it is in the record of the first', async () => {
  const { client, got } = await afterHello([], Buffer.concat([open, EARLY_DATA, denied]))
  await until('the reset', () => client.closed)
  expect(got().toString('latin1')).not.toContain('denied')

  const messages = [open, denied].map(bytes => bytes.subarray(5))
  const head = Buffer.from([22, 3, 1, 0, 0])
  head.writeUInt16BE(Buffer.concat(messages).length, 3)
  const together = await afterHello([], Buffer.concat([head, ...messages]))
  await until('the reset', () => together.client.closed)
  expect(together.got()).toHaveLength(0)
})

test('it has to show the name of the first', async () => {
  const same = await afterHello([retry])
  same.client.send(Buffer.concat([CHANGE_CIPHER, open, EARLY_DATA, denied]))
  const all = Buffer.concat([open, CHANGE_CIPHER, open, EARLY_DATA, denied])
  await until('all of it', () => same.got().length === all.length)
  expect(same.got()).toEqual(all)

  const other = await afterHello([retry])
  other.client.send(hello([serverName('other.test')]))
  await until('the reset', () => other.client.closed)
})

test('nothing is looked at when the server goes on by the first hello, or does not speak TLS', async () => {
  for (const says of [[goesOn], [WARNING, goesOn], bytesOf(goesOn), [Buffer.from('SSH-2.0\r\n')]]) {
    const { client, got } = await afterHello(says)
    const rest = Buffer.concat([Buffer.from([22, 3]), denied])
    client.send(rest)
    await until('all of it', () => got().length === open.length + rest.length)
  }
})

test.each<[string, TlsOptions, ConnectionOptions]>([
  ['TLS 1.3', {}, {}],
  ['TLS 1.3 with a second hello', { ecdhCurve: 'P-521' }, { ecdhCurve: 'X25519:P-521' }],
  ['TLS 1.2', { maxVersion: 'TLSv1.2' }, {}]
])('what programs really send passes: %s', async (_name, serverOptions, clientOptions) => {
  const server = createServer({ ...serverOptions, ...(await newCertificate()) }, socket => {
    socket.on('error', () => undefined)
    socket.pipe(socket)
  })
  onEnd(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { socket: raw } = await tunnelTo((server.address() as AddressInfo).port)
  raw.removeAllListeners('data')
  const client = connect({ socket: raw, servername: 'open.test', rejectUnauthorized: false, ...clientOptions })
  onEnd(() => client.destroy())
  await once(client, 'secureConnect')
  const sent = Buffer.alloc(200_000, 22)
  client.write(sent)
  let back = 0
  client.on('data', (chunk: Buffer) => (back += chunk.length))
  await until('all of it', () => back === sent.length)
})
