import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { isLong } from '../../../scripts/testing/tier.ts'
import { RequestNames } from '../src/proxy/request-names.ts'
import { basic, RawClient, tcpTarget, until } from './test-agent.ts'
import { testPlane } from './test-plane.ts'

/** Much work for few bytes: each line has a name to judge. */
const LINE = 'x http://a.b\n'

/** A tunnel of a user with denied names, in which a request has begun. `laterTurns` counts its postponed work. */
async function judgedTunnel(port: number) {
  const { plane, port: proxy } = await testPlane({ denied: ['denied.test'] })
  let later = 0
  const { turns } = plane
  const goOnLater = turns.later.bind(turns)
  turns.later = (...args) => {
    later++
    goOnLater(...args)
  }
  const client = new RawClient('127.0.0.1', proxy)
  client.send(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: a\r\n${basic('u')}\r\n`)
  await until('the tunnel', () => client.text.includes('\r\n\r\n'))
  client.send('POST / HTTP/1.1\r\nHost: open.test\r\n\r\n')
  return { client, laterTurns: () => later }
}

describe('what a user with denied names sends through a tunnel', () => {
  test('is looked through in turns of the loop, and arrives whole with its end', async () => {
    const got = createHash('sha256')
    let ended = false
    let bytes = 0
    const target = await tcpTarget(socket => {
      socket.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        got.update(chunk)
      })
      socket.on('end', () => {
        ended = true
        socket.end('all')
      })
    })
    const { client, laterTurns } = await judgedTunnel(target.port)
    const sent = LINE.repeat(isLong ? 200_000 : 50_000)
    client.socket.end(sent, 'latin1')
    await until('the end', () => ended)
    const all = `POST / HTTP/1.1\r\nHost: open.test\r\n\r\n${sent}`
    expect(bytes).toBe(all.length)
    expect(got.digest('hex')).toBe(createHash('sha256').update(all).digest('hex'))
    expect(laterTurns()).toBeGreaterThan(3)
    await until('the answer', () => client.text.endsWith('all'))
  })

  test('is reset where a denied name is at the end of much, and reaches a target that reads slowly whole', async () => {
    let bytes = 0
    let slow = true
    const target = await tcpTarget(socket => {
      socket.on('error', () => undefined)
      socket.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (!slow) return
        socket.pause()
        setImmediate(() => socket.resume())
      })
    })
    const { client } = await judgedTunnel(target.port)
    client.socket.on('error', () => undefined)
    const sent = LINE.repeat(isLong ? 100_000 : 30_000)
    client.socket.write(sent, 'latin1')
    await until('all of it', () => bytes >= sent.length)
    slow = false
    client.socket.write(`${LINE.repeat(20_000)}GET / HTTP/1.1\r\nHost: www.denied.test\r\n\r\n`, 'latin1')
    await until('the reset', () => client.closed)
  })
})

function readingTime(text: string): number {
  const names = new RequestNames()
  names.read(Buffer.from('POST / HTTP/1.1\r\nHost: open.test\r\n\r\n'))
  const slice = Buffer.from(text, 'latin1').subarray(0, 8192)
  const before = performance.now()
  for (let n = 0; n < 8; n++) names.read(slice)
  return performance.now() - before
}

// Measures times, which a busy machine makes longer.
if (isLong)
  test('no bytes make the search for names take longer than their number does', () => {
    readingTime(LINE.repeat(700))
    const usual = Math.min(...Array.from({ length: 5 }, () => readingTime(LINE.repeat(700))))
    for (const text of [
      `\nhost:${'\x80'.repeat(8180)}/`,
      `\nhost:${'\x01'.repeat(8180)}/`,
      `\nhost:${'\r\n '.repeat(2700)}/`,
      `\n${'host:\r\n '.repeat(900)}`,
      `\n${' '.repeat(8180)}`,
      `\n${' \t'.repeat(4000)}x`,
      `\n${'a'.repeat(8180)}`,
      `\nx ${'a'.repeat(8180)}`,
      `\nx ${`${'a'.repeat(256)}_`.repeat(32)}`,
      `\n${'AAA '.repeat(2000)}`,
      `\n${'A'.repeat(8180)}`,
      `\nx http://${'.'.repeat(8000)} `,
      `\nx http://${'%41'.repeat(2700)} `,
      `\nx http://${'\\'.repeat(8000)} `,
      `\nx http://${'@'.repeat(8000)} `,
      `\nx http://${':'.repeat(8000)} `,
      `\nx http://${'['.repeat(8000)} `,
      `\nx http://${'\\'.repeat(8000)}%0a `,
      `\nhost: ${'/'.repeat(8000)}%0a `,
      `\nhost: ${'@'.repeat(8000)}%0a `,
      `\nhost: %0a${':'.repeat(8000)}%0a `,
      `\nx http://${'x'.repeat(8000)}`,
      '\n'.repeat(8192),
      '\r\n '.repeat(2730)
    ]) {
      const least = Math.min(...Array.from({ length: 5 }, () => readingTime(text)))
      // Both times come from one process and clock. A search that rereads bytes takes hundreds of times as long.
      expect(least / usual, JSON.stringify(text.slice(0, 30))).toBeLessThan(50)
    }
  })
