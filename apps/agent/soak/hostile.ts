import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { Scenario } from './honest.ts'
import { credentials, dial, piece, type Place } from './wire.ts'

const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))
/** Clients that mean ill come from addresses of their own. */
const from = (any: (most: number) => number): string => `127.99.0.${1 + any(20)}`
const connectHead = (place: Place, port: number): string =>
  `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${credentials(place)}\r\n`

/** What clients do that mean ill, or are broken. Nothing of it is to be left behind, whatever the agent answers. */
export const hostile: Record<string, Scenario> = {
  'a reader that does not read': async (place, { bulk }, any) => {
    const wire = (await dial(place, from(any))).write(connectHead(place, bulk))
    wire.socket.pause()
    await pause(any(400))
    wire.socket.destroy()
  },
  'a reader that dawdles': async (place, { bulk }, any) => {
    const wire = (await dial(place, from(any))).write(connectHead(place, bulk))
    for (let n = 0; n < 5; n++) {
      wire.socket.pause()
      await pause(any(60))
      wire.socket.resume()
      await pause(1)
    }
    wire.socket.resetAndDestroy()
  },
  'a head that drips': async (place, { http }, any) => {
    const wire = await dial(place, from(any))
    const head = `GET http://127.0.0.1:${http}/0/10 HTTP/1.1\r\n${credentials(place)}`
    for (const letter of head.slice(0, any(40))) {
      wire.write(letter)
      await pause(any(10))
    }
    wire.socket.destroy()
  },
  'half open': async (place, { echo }, any) => {
    const wire = (await dial(place, from(any))).write(any(2) === 0 ? connectHead(place, echo) : 'GET http://a')
    wire.socket.end()
    await pause(any(200))
    wire.socket.destroy()
  },
  garbage: async (place, _targets, any) => {
    const wire = await dial(place, from(any))
    for (let n = 0; n < 4; n++) {
      wire.write(piece(any(900_000), 1 + any(20_000)))
      await pause(any(10))
    }
    wire.socket.destroy()
  },
  'a tunnel that is reset': async (place, { echo }, any) => {
    const wire = (await dial(place, from(any))).write(connectHead(place, echo)).write(piece(0, any(50_000)))
    await pause(any(30))
    wire.socket.resetAndDestroy()
  },
  'many requests at once': async (place, { http }, any) => {
    const wire = await dial(place, from(any))
    const good = `GET http://127.0.0.1:${http}/0/10 HTTP/1.1\r\nHost: a\r\n${credentials(place)}\r\n`
    const refused = 'GET http://10.0.0.1/ HTTP/1.1\r\nHost: 10.0.0.1\r\n\r\n'
    wire.write(`${good}${refused.repeat(200)}${good}`)
    await pause(any(80))
    wire.socket.destroy()
  },
  'a handshake broken off': async (place, _targets, any) => {
    const hello = Buffer.concat([Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]), piece(0, 506)])
    const wire = (await dial(place, from(any))).write(hello.subarray(0, 1 + any(hello.length)))
    await pause(any(50))
    if (any(2) === 0) wire.socket.destroy()
    else wire.socket.resetAndDestroy()
  },
  'TLS that says nothing': async (place, _targets, any) => {
    const wire = await dial(place, from(any), true)
    await pause(any(50))
    wire.socket.destroy()
  },
  'wrong passwords': async (place, { http }, any) => {
    const wire = await dial(place, from(any))
    for (let n = 0; n < 3; n++) {
      const wrong = credentials({ user: place.user, password: `wrong-${any(1000)}` })
      wire.write(`GET http://127.0.0.1:${http}/0/1 HTTP/1.1\r\nHost: a\r\n${wrong}\r\n`)
    }
    await pause(any(30))
    wire.socket.destroy()
  },
  'an association that goes while datagrams fly': async (place, { udp }, any) => {
    const { user, password } = place
    const wire = await dial(place, from(any))
    wire.write(Buffer.from([5, 1, 2, 1, user.length, ...Buffer.from(user), password.length, ...Buffer.from(password)]))
    wire.write(Buffer.from([5, 3, 0, 1, 0, 0, 0, 0, 0, 0]))
    const bound = (await wire.bytes(14)).readUInt16BE(12)
    const client = createSocket('udp4')
    client.on('error', () => {})
    client.bind(0, wire.socket.localAddress)
    await once(client, 'listening')
    for (let n = 0; n < (bound > 0 ? 20 : 0); n++) {
      const to = [127, 0, 0, 1, (udp + n) >> 8, (udp + n) & 255]
      client.send(n % 3 === 0 ? piece(n, 50) : Buffer.from([0, 0, 0, 1, ...to]), bound, place.ip)
    }
    await pause(any(20))
    if (any(2) === 0) wire.socket.destroy()
    client.close()
    await pause(any(20))
    wire.socket.destroy()
  }
}

/** Many connections at once, with and without a request. */
export const floods: Record<string, Scenario> = {
  'a flood': async (place, _targets, any) => {
    const wires = await Promise.allSettled(Array.from({ length: 100 }, () => dial(place, from(any))))
    for (const each of wires) {
      if (each.status !== 'fulfilled') continue
      each.value.write('GET http://10.0.0.1/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    }
    await pause(any(10))
    for (const each of wires) if (each.status === 'fulfilled') each.value.socket.destroy()
  }
}
