/// <reference types="node" />
// Uses Node's own EventSource, web locks and broadcast channel, with a real server.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Change } from '@netlet/contract'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { followChanges, type Feed } from './change-feed.ts'

type Seen = { request: IncomingMessage; response: ServerResponse }
const opened: Seen[] = []
const answers: ((seen: Seen) => void)[] = []
const stream = ({ response }: Seen) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write('retry: 10\n\n')
}
const status = (code: number) => (seen: Seen) => void seen.response.writeHead(code).end()

const server = createServer((request, response) => {
  const seen = { request, response }
  opened.push(seen)
  ;(answers.shift() ?? stream)(seen)
})
let url = ''
const stops: (() => void)[] = []

beforeEach(async () => {
  opened.length = 0
  answers.length = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/events`
})
afterEach(async () => {
  for (const stop of stops.splice(0)) stop()
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

const statusOf = async (address: string) => {
  const ending = new AbortController()
  try {
    return (await fetch(address, { signal: ending.signal })).status
  } catch {
    return 0
  } finally {
    ending.abort()
  }
}

function tab(userId = 1, feed: Partial<Feed> = {}) {
  const seen = { changes: [] as Change[], resets: 0, connected: false }
  const stop = followChanges(
    { url, userId, EventSource, statusOf, delays: { first: 1, most: 20 }, ...feed },
    {
      changes: changes => void seen.changes.push(...changes),
      reset: () => void seen.resets++,
      connected: connected => void (seen.connected = connected)
    }
  )
  stops.push(stop)
  return { seen, stop }
}
const shared = { locks: navigator.locks, openChannel: (name: string) => new BroadcastChannel(name) }
const send = (index: number, text: string) => opened.at(index)?.response.write(text)
const change = (id: number) => `id: ${id}\nevent: change\ndata: {"changes":[{"resource":"order","id":${id}}]}\n\n`

const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 30_000 })

describe('one connection', () => {
  it('hands on changes and resets, and takes what it cannot read for a reset', async () => {
    const { seen } = tab()
    await eventually(() => expect(seen.connected).toBe(true))
    send(-1, change(7))
    await eventually(() => expect(seen.changes).toEqual([{ resource: 'order', id: 7 }]))
    send(-1, 'event: reset\ndata: \n\nevent: change\ndata: not json\n\n')
    await eventually(() => expect(seen.resets).toBe(2))
  })

  it('is connected again by itself, and says what it saw last', async () => {
    const { seen } = tab()
    await eventually(() => expect(seen.connected).toBe(true))
    send(-1, change(41))
    await eventually(() => expect(seen.changes).toHaveLength(1))
    opened[0]?.response.end()
    await eventually(() => expect(opened).toHaveLength(2))
    expect(opened[1]?.request.headers['last-event-id']).toBe('41')
    await eventually(() => expect(seen.connected).toBe(true))
    expect(seen.resets).toBe(0)
  })

  it('retries while the server fails, and then reports a reset', async () => {
    answers.push(status(503), status(503), status(502), status(502))
    const { seen } = tab()
    await eventually(() => expect(seen).toMatchObject({ connected: true, resets: 1 }))
    // Each refusal, and each request for its status.
    expect(opened).toHaveLength(5)
  })

  it.each([401, 403, 404, 429])('is left alone after %d', async code => {
    answers.push(status(code), status(code))
    const asked = vi.fn(statusOf)
    const { seen } = tab(1, { statusOf: asked })
    await eventually(() => expect(asked).toHaveBeenCalledOnce())
    await asked.mock.results[0]?.value
    // Long enough for every possible retry: another tab's next connection comes after it.
    const other = tab()
    await eventually(() => expect(other.seen.connected).toBe(true))
    expect(opened).toHaveLength(3)
    expect(seen).toMatchObject({ connected: false, resets: 0 })
  })
})

describe('several tabs', () => {
  it('share one connection', async () => {
    const first = tab(1, shared)
    await eventually(() => expect(first.seen.connected).toBe(true))
    const second = tab(1, shared)
    await eventually(() => expect(second.seen.connected).toBe(true))
    send(-1, change(3))
    await eventually(() => expect(second.seen.changes).toEqual([{ resource: 'order', id: 3 }]))
    expect(first.seen.changes).toEqual(second.seen.changes)
    expect(opened).toHaveLength(1)
  })

  it('go on with another connection when the one that had it is closed', async () => {
    const first = tab(1, shared)
    await eventually(() => expect(first.seen.connected).toBe(true))
    const second = tab(1, shared)
    await eventually(() => expect(second.seen.connected).toBe(true))
    first.stop()
    await eventually(() => expect(opened).toHaveLength(2))
    // No tab was connected in between.
    await eventually(() => expect(second.seen).toMatchObject({ resets: 1, connected: true }))
    send(-1, change(9))
    await eventually(() => expect(second.seen.changes).toEqual([{ resource: 'order', id: 9 }]))
    expect(first.seen.changes).toEqual([])
  })

  it('reconnect when another user signs in in one of them', async () => {
    const first = tab(1, shared)
    await eventually(() => expect(first.seen.connected).toBe(true))
    tab(2, shared)
    await eventually(() => expect(opened).toHaveLength(2))
    await eventually(() => expect(first.seen.connected).toBe(true))
  })
})
