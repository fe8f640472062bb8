import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { HeadBuffer } from '../src/proxy/head-buffer.ts'
import { parseRequestHead } from '../src/proxy/request-head.ts'
import { ResponseReader, parseResponseHead } from '../src/proxy/response-reader.ts'
import type { Owner } from '../src/turns.ts'
import { basic, proxied, RawClient, tcpTarget, until } from './test-agent.ts'
import { testPlane } from './test-plane.ts'

// Heads of strangers and targets that cost much work or memory.

const lines = (count: number) => Array.from({ length: count }, (_, n) => `X-${n}: y`).join('\r\n')
const get = (fields: string) => `GET http://open.test/ HTTP/1.1\r\nHost: open.test\r\n${fields}`

describe('a head', () => {
  test('has at most 500 lines', () => {
    expect(parseRequestHead(get(lines(499))).ok).toBe(true)
    expect(parseRequestHead(get(lines(500))).ok).toBe(false)
    expect(parseResponseHead(`HTTP/1.1 200 OK\r\n${lines(500)}`, 'GET', 1)).not.toBe(null)
    expect(parseResponseHead(`HTTP/1.1 200 OK\r\n${lines(501)}`, 'GET', 1)).toBe(null)
  })

  test('names at most a kilobyte of connection options, which are left out', () => {
    const named = Array.from({ length: 150 }, (_, n) => `x-${n}`).join(',')
    const parsed = parseRequestHead(get(`Connection: ${named}\r\nX-7: y\r\nKept: y`))
    expect(parsed.ok && parsed.head.forward).toContain('Kept: y')
    expect(parsed.ok && parsed.head.forward).not.toContain('X-7')
    expect(parseRequestHead(get(`Connection: ${'a,'.repeat(600)}a`)).ok).toBe(false)
    const answer = parseResponseHead(`HTTP/1.1 200 OK\r\nConnection: ${named}\r\nX-7: y\r\nKept: y`, 'GET', 1)
    expect(answer?.forward).toContain('Kept: y')
    expect(answer?.forward).not.toContain('X-7')
    expect(parseResponseHead(`HTTP/1.1 200 OK\r\nConnection: ${'a,'.repeat(600)}a`, 'GET', 1)).toBe(null)
  })

  test('of a target repeats its length, or is folded, as often as it may have bytes of lists, and lines', () => {
    const answer = (fields: string) => parseResponseHead(`HTTP/1.1 200 OK\r\n${fields}`, 'GET', 1)
    expect(answer(`Content-Length: ${'5,'.repeat(100)}5`)?.framing).toEqual({ kind: 'length', length: 5 })
    expect(answer(`Content-Length: ${'5,'.repeat(600)}5`)).toBe(null)
    expect(answer(Array.from({ length: 80 }, () => 'Content-Length: 5').join('\r\n'))).toBe(null)
    expect(answer(`A: b${'\r\n c'.repeat(499)}`)).not.toBe(null)
    expect(answer(`A: b${'\r\n c'.repeat(500)}`)).toBe(null)
    expect(answer(`A: b${'\nC: d'.repeat(500)}`)).toBe(null)
  })
})

test('a head that comes byte by byte is searched once, and copied a few times', () => {
  const parsed = parseRequestHead(get('Accept: */*'))
  if (!parsed.ok) throw new Error(parsed.reason)
  let [searched, copied] = [0, 0]
  const { indexOf, copy } = Buffer.prototype
  vi.spyOn(Buffer.prototype, 'indexOf').mockImplementation(function (this: Buffer, what, from) {
    searched += this.length - Number(from ?? 0)
    return indexOf.call(this, what, from)
  })
  vi.spyOn(Buffer.prototype, 'copy').mockImplementation(function (this: Buffer, ...to) {
    copied += this.length
    return copy.apply(this, to)
  })
  vi.spyOn(Buffer, 'concat').mockImplementation(() => {
    throw new Error('all of it is copied')
  })
  onTestFinished(() => void vi.restoreAllMocks())
  const bytes = Buffer.from(`HTTP/1.1 200 OK\r\nX: ${'y'.repeat(30_000)}`)
  const [reader, buffer] = [new ResponseReader(parsed.head, 65_536), new HeadBuffer()]
  for (const read of [
    (byte: Buffer) => void reader.read(byte),
    (byte: Buffer) => {
      buffer.push(byte, 0)
      buffer.next(32_768, 0)
    }
  ]) {
    searched = copied = 0
    for (let at = 0; at < bytes.length; at++) read(bytes.subarray(at, at + 1))
    expect(searched).toBeLessThan(10 * bytes.length)
    expect(copied).toBeLessThan(10 * bytes.length)
  }
})

test('the answer of a target is the same in pieces of any size', () => {
  const parsed = parseRequestHead(get('Accept: */*'))
  if (!parsed.ok) throw new Error(parsed.reason)
  const sent = Buffer.from(
    `HTTP/1.1 100 Continue\r\n${lines(40)}\r\n\r\nHTTP/1.1 200 OK\r\n${lines(300)}\r\nContent-Length: 5\r\n\r\nhello`
  )
  const readIn = (size: number): string => {
    const reader = new ResponseReader(parsed.head, 65_536)
    const out: Buffer[] = []
    for (let at = 0; at < sent.length; at += size) {
      const piece = Buffer.from(sent.subarray(at, at + size))
      const { write, state } = reader.read(piece)
      out.push(...write.map(chunk => Buffer.from(chunk)))
      // The next read may overwrite the piece.
      piece.fill(0)
      expect(state).toBe(at + size < sent.length ? 'more' : 'done')
    }
    return Buffer.concat(out).toString()
  }
  const whole = readIn(sent.length)
  expect(whole).toContain('hello')
  for (const size of [1, 2, 3, 100, 1000, 4096]) expect(readIn(size)).toBe(whole)
})

test('long heads of strangers are read in turns of the loop, short ones at once', async () => {
  const target = await tcpTarget(socket => void socket.on('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n')))
  const { plane, port } = await testPlane()
  let later = 0
  const goOnLater = plane.turns.later.bind(plane.turns)
  plane.turns.later = (...args) => {
    later++
    goOnLater(...args)
  }
  const url = `http://127.0.0.1:${target.port}/`
  expect((await proxied('127.0.0.1', port, 'u', url)).status).toBe(204)
  expect(later).toBe(0)
  // Every turn is out of time.
  plane.turns.isOver = () => true
  const client = new RawClient('127.0.0.1', port)
  client.send(`GET ${url} HTTP/1.1\r\nHost: a\r\nX-Long: ${'y'.repeat(1000)}\r\n\r\n`)
  await until('its answer', () => client.text.startsWith('HTTP/1.1 407'))
  expect(later).toBeGreaterThan(0)
})

test('long heads of one client wait for each other, those of another have turns between them', async () => {
  const { plane, port } = await testPlane()
  const { turns } = plane
  const waiting: Array<[Owner, () => void]> = []
  const done: Owner[] = []
  const goOnLater = turns.later.bind(turns)
  turns.isOver = () => true
  turns.later = (owner, work) => void waiting.push([owner, work])
  const head = `GET http://open.test/ HTTP/1.1\r\nHost: open.test\r\nX-Long: ${'y'.repeat(1000)}\r\n\r\n`
  for (let n = 0; n < 8; n++) new RawClient('127.0.0.1', port, '127.0.0.2').send(head)
  await until('all of them to wait', () => waiting.length === 8)
  const late = new RawClient('127.0.0.1', port, '127.0.0.3').send(head)
  await until('the other one to wait', () => waiting.length === 9)
  turns.isOver = () => false
  for (const [owner, work] of waiting)
    goOnLater(owner, () => {
      done.push(owner)
      work()
    })
  await until('the answer', () => late.text.startsWith('HTTP/1.1 407'))
  await until('all of them to be read', () => done.length === 9)
  expect(new Set(done).size).toBe(2)
  expect(done.indexOf(waiting[8]?.[0] ?? '')).toBe(1)
})

test('what strangers keep of heads is bounded: the oldest make room, and those that log in keep theirs', async () => {
  const target = await tcpTarget(socket => void socket.on('data', () => socket.write('answer')))
  const { plane, port } = await testPlane({ limits: { heldHeadBytes: 35_000 } })
  const customer = new RawClient('127.0.0.1', port)
  customer.send(`CONNECT 127.0.0.1:${target.port} HTTP/1.1\r\nHost: a\r\n${basic('u')}X-Long: ${'y'.repeat(5000)}`)
  await until('it to be there', () => plane.connections === 1)
  customer.send('\r\n\r\n')
  await until('the tunnel', () => customer.text.startsWith('HTTP/1.1 200'))
  const strangers: RawClient[] = []
  for (let n = 0; n < 6; n++) {
    const stranger = new RawClient('127.0.0.1', port)
    stranger.send(`GET http://open.test/ HTTP/1.1\r\nX-Long: ${'y'.repeat(5000)}`)
    strangers.push(stranger)
    await until('room', () => plane.connections <= 4 && plane.figures.accepted === n + 2)
  }
  await until('the oldest to have gone', () => strangers.filter(({ closed }) => closed).length === 3)
  expect(strangers.slice(3).some(({ closed }) => closed)).toBe(false)
  expect(plane.figures.outcomes['too-many-open']).toBe(3)
  customer.send('ping')
  await until('an answer', () => customer.text.endsWith('answer'))
})

test('beginnings of short heads are counted, too, until the head is whole', async () => {
  const { plane, port, accepted } = await testPlane({ limits: { heldHeadBytes: 100_000 } })
  const begin = `GET http://open.test/ HTTP/1.1\r\nX-Short: ${'y'.repeat(900)}`
  const strangers = Array.from({ length: 120 }, () => new RawClient('127.0.0.1', port).send(begin))
  const refused = () => plane.figures.outcomes['too-many-open'] ?? 0
  const isRead = ({ destroyed, bytesRead }: (typeof accepted)[number]) => destroyed || bytesRead === begin.length
  await until('all heads', () => accepted.length === 120 && accepted.every(isRead))
  await until('room', () => plane.connections + refused() === 120)
  const open = plane.connections
  expect(open).toBeGreaterThan(40)
  expect(open).toBeLessThanOrEqual(100_000 / begin.length)
  for (const stranger of strangers) stranger.send('\r\n\r\n')
  const answered = () => strangers.filter(({ text }) => text.startsWith('HTTP/1.1 407')).length
  await until('the others to be answered', () => answered() === open)
  // Answered strangers hold no memory, so as many others can begin and none has to go.
  for (let n = 0; n < open; n++) new RawClient('127.0.0.1', port).send(begin)
  const begun = () => accepted.slice(120).filter(({ bytesRead }) => bytesRead === begin.length).length
  await until('what they sent', () => begun() === open)
  expect(plane.connections).toBe(2 * open)
})
