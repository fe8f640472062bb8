import { createHash, randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { Targets } from './targets.ts'
import { Broken, credentials, dial, piece, type Place, type Wire, Wrong } from './wire.ts'

type Any = (most: number) => number
/** What a customer does with its proxy. It throws `Wrong` for other bytes than it should get, `Broken` for an end before its time. */
export type Scenario = (place: Place, targets: Targets, any: Any) => Promise<void>

const FROM = '127.0.0.1'

function compare(what: string, got: Buffer, expected: Buffer): void {
  if (!got.equals(expected)) throw new Wrong(`${what}: other bytes than were sent`)
}

function statusOf(head: string): void {
  const status = head.slice(9, 12)
  if (status !== '200') throw new Broken(`status ${status}`)
}

/** @returns whether another request may follow on this connection */
async function answer(wire: Wire, what: string, expected: Buffer): Promise<boolean> {
  const head = await wire.head()
  statusOf(head)
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? -1)
  if (length !== expected.length) throw new Wrong(`${what}: ${length} bytes in place of ${expected.length}`)
  compare(what, await wire.bytes(length), expected)
  return !/^connection: close\r$/im.test(head)
}

const request = (place: Place, to: string, path: string, more: string, method = 'GET'): string =>
  `${method} http://${to}${path} HTTP/1.1\r\nHost: ${to}\r\n${credentials(place)}${more}\r\n`

const download: Scenario = async (place, { http }, any) => {
  const wire = await dial(place, FROM)
  const [from, count] = [any(500_000), 1 + any(300_000)]
  wire.write(request(place, `127.0.0.1:${http}`, `/${from}/${count}`, 'Connection: close\r\n'))
  await answer(wire, 'a download', piece(from, count))
  await wire.end()
  wire.socket.destroy()
}

const keptAlive: Scenario = async (place, { http }, any) => {
  let wire = await dial(place, FROM)
  for (let n = 0; n < 6; n++) {
    const [from, count] = [any(500_000), 1 + any(5000)]
    wire.write(request(place, `127.0.0.1:${http}`, `/${from}/${count}`, ''))
    if (await answer(wire, 'a kept connection', piece(from, count))) continue
    // A process that was replaced says so.
    wire.socket.destroy()
    wire = await dial(place, FROM)
  }
  wire.socket.end()
}

const upload: Scenario = async (place, { http }, any) => {
  const wire = await dial(place, FROM)
  const body = piece(any(500_000), 1 + any(300_000))
  const head = request(
    place,
    `127.0.0.1:${http}`,
    '/',
    `Content-Length: ${body.length}\r\nConnection: close\r\n`,
    'POST'
  )
  wire.write(head).write(body)
  const digest = createHash('sha256').update(body).digest('hex')
  const answered = await wire.head()
  statusOf(answered)
  if ((await wire.bytes(digest.length)).toString() !== digest) throw new Wrong('an upload: other bytes arrived')
  wire.socket.destroy()
}

/** Sends a piece through an open tunnel, ends, and gets it back. */
async function echoed(wire: Wire, what: string, any: Any): Promise<void> {
  const sent = piece(any(500_000), 1 + any(200_000))
  wire.write(sent)
  wire.socket.end()
  compare(what, await wire.bytes(sent.length), sent)
  await wire.end()
  wire.socket.destroy()
}

const connectHead = (place: Place, port: number): string =>
  `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${credentials(place)}\r\n`

const tunnel: Scenario = async (place, { echo }, any) => {
  const wire = (await dial(place, FROM)).write(connectHead(place, echo))
  statusOf(await wire.head())
  await echoed(wire, 'a tunnel', any)
}

const tlsTunnel: Scenario = async (place, { echo }, any) => {
  const wire = (await dial(place, FROM, true)).write(connectHead(place, echo))
  statusOf(await wire.head())
  await echoed(wire, 'a tunnel inside TLS', any)
}

const port = (value: number): number[] => [value >> 8, value & 255]

async function socks(place: Place, command: number, to: number): Promise<{ wire: Wire; bound: number }> {
  const { user, password } = place
  const wire = await dial(place, FROM)
  wire.write(Buffer.from([5, 1, 2, 1, user.length, ...Buffer.from(user), password.length, ...Buffer.from(password)]))
  const said = await wire.bytes(4)
  if (said[1] !== 2 || said[3] !== 0) throw new Broken('SOCKS5 login refused')
  wire.write(Buffer.from([5, command, 0, 1, 127, 0, 0, 1, ...port(to)]))
  const reply = await wire.bytes(10)
  if (reply[1] !== 0) throw new Broken(`SOCKS5 reply ${reply[1]}`)
  return { wire, bound: reply.readUInt16BE(8) }
}

const socksTunnel: Scenario = async (place, { echo }, any) => {
  const { wire } = await socks(place, 1, echo)
  await echoed(wire, 'a SOCKS5 tunnel', any)
}

const datagrams: Scenario = async (place, { udp }, any) => {
  const { wire, bound } = await socks(place, 3, 0)
  const client = createSocket('udp4')
  try {
    client.bind(0, FROM)
    await once(client, 'listening')
    const answers: Buffer[] = []
    client.on('message', data => answers.push(data))
    const head = Buffer.from([0, 0, 0, 1, 127, 0, 0, 1, ...port(udp)])
    const name = randomBytes(16)
    const data = Buffer.concat([head, name, piece(any(500_000), any(1000))])
    // Hostile associations send to ports beside the target's, and this may be one of them.
    const own = () => answers.find(answer => answer.includes(name))
    // They may be lost, also over the loopback.
    for (let n = 0; n < 100 && own() === undefined; n++) {
      client.send(data, bound, place.ip)
      await new Promise(resolve => setTimeout(resolve, 20 + n))
    }
    const answer = own()
    if (answer === undefined) throw new Broken('no datagram came back')
    compare('a datagram', answer, data)
  } finally {
    client.close()
    wire.socket.end()
  }
}

export const honest: Record<string, Scenario> = {
  download,
  'kept connection': keptAlive,
  upload,
  tunnel,
  'tunnel inside TLS': tlsTunnel,
  'SOCKS5 tunnel': socksTunnel,
  datagrams
}
