import { once } from 'node:events'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { TestShop } from '../../testing/shop.ts'
import { openChangeFeed, type ChangeFeed } from '../change-feed.ts'
import { closeDatabase, openDatabase } from '../db/client.ts'
import { changesIn, eventually, openStream, startShop } from './event-stream.fixture.ts'

describe('an event stream', () => {
  let shop: TestShop
  let admin: Awaited<ReturnType<TestShop['admin']>>
  let customer: Awaited<ReturnType<TestShop['customer']>>
  let other: Awaited<ReturnType<TestShop['customer']>>

  beforeAll(async () => {
    shop = await startShop()
    shop.ctx.changes.subscribe(event => {
      for (const { resource, id } of event?.changes ?? []) if (resource === 'user' && id) signedUp.add(id)
    })
  })
  const signedUp = new Set<number>()
  beforeEach(async () => {
    ;[admin, customer, other] = [await shop.admin(), await shop.customer(), await shop.customer()]
    // Waits for the events of the sign-ups, which are no part of a test.
    await eventually(() => expect(signedUp).toContain(other.user.id))
  })
  afterAll(() => shop?.close())

  const publish: ChangeFeed['publish'] = changes => shop.ctx.changes.publish(changes)

  test('a person has ten at most; closing one makes room', async () => {
    const ten = await Promise.all(Array.from({ length: 10 }, () => openStream(shop, customer)))
    expect(ten.map(stream => stream.status)).toEqual(Array.from({ length: 10 }, () => 200))
    expect((await openStream(shop, customer)).status).toBe(429)
    expect((await openStream(shop, other)).status).toBe(200)
    // An administrator who views the shop as that user has a separate limit.
    await admin.post('/api/users/admin/switch-user', { user_id: customer.user.id })
    expect((await openStream(shop, admin)).status).toBe(200)
    ten[0]?.close()
    await eventually(async () => expect((await openStream(shop, customer)).status).toBe(200))
  })

  test('a HEAD request ends at once', async () => {
    const reply = await customer.fetch('/api/events', { method: 'HEAD' })
    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  })

  test('a reader that does not read is disconnected, and the others continue', async () => {
    const accepted = once(shop.app.server, 'connection') as Promise<[Socket]>
    const stuck = await openStream(shop, admin)
    const [atServer] = await accepted
    const reads = await openStream(shop, customer)
    stuck.response.pause()
    stuck.response.socket.pause()
    const padding = JSON.stringify(Array.from({ length: 200 }, (_, id) => ({ resource: 'platform_event', id })))
    let most = 0
    await eventually(async () => {
      most = Math.max(most, atServer.writableLength)
      // Many at once, because the kernel buffers some megabytes before we have to.
      await shop.ctx.db.$client.query(
        `select pg_notify('netlet_changes', '[' || nextval('change_event_id') || ',' || $1 || ']')
         from generate_series(1, 200)`,
        [padding]
      )
      most = Math.max(most, atServer.writableLength)
      expect(atServer.destroyed).toBe(true)
    })
    expect(most).toBeLessThan(100_000)
    publish([{ resource: 'order', id: 3, userId: customer.user.id }])
    await eventually(() => expect(changesIn(reads)).toEqual([{ resource: 'order', id: 3 }]))
  })

  test('while the database is away nothing is sent; then clients reload everything', async () => {
    const stream = await openStream(shop, customer)
    const query = vi.spyOn(shop.ctx.db.$client, 'query').mockRejectedValue(new Error('away'))
    try {
      const failed = query.mock.calls.length
      await eventually(() => expect(query.mock.calls.length).toBeGreaterThan(failed))
    } finally {
      query.mockRestore()
    }
    await eventually(() => expect(stream.events()).toEqual([{ event: 'reset', data: {} }]))
    expect(stream.ended()).toBe(false)
  })

  test('a client that left during the session lookup leaves nothing open', async () => {
    const gone = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const cookie = [...customer.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
        const asked = request(`${shop.url}/api/events`, { agent: false, headers: { cookie } })
        asked.on('error', () => undefined)
        asked.end()
        const [socket] = (await once(asked, 'socket')) as [Socket]
        await once(socket, 'connect')
        asked.destroy()
      })
    )
    expect(gone).toHaveLength(30)
    await eventually(async () => {
      const ten = await Promise.all(Array.from({ length: 10 }, () => openStream(shop, customer)))
      for (const stream of ten) stream.close()
      expect(ten.every(stream => stream.status === 200)).toBe(true)
    })
  })
})

describe('a process', () => {
  test('limits its streams over all people', async () => {
    const shop = await startShop({ mostStreams: 3 })
    try {
      const people = [await shop.customer(), await shop.customer(), await shop.admin()]
      for (const person of people) expect((await openStream(shop, person)).status).toBe(200)
      expect((await openStream(shop, await shop.customer())).status).toBe(429)
    } finally {
      await shop.close()
    }
  })

  test('that closes ends all streams at once, also those of clients that do not read', async () => {
    const shop = await startShop({ heartbeatMs: 60_000 })
    try {
      const admin = await shop.admin()
      const [reads, stuck] = [await openStream(shop, admin), await openStream(shop, admin)]
      stuck.response.socket.pause()
      const began = performance.now()
      await shop.app.close()
      expect(performance.now() - began).toBeLessThan(5000)
      await eventually(() => expect(reads.ended()).toBe(true))
    } finally {
      await shop.close()
    }
  })

  test('receives what another one publishes', async () => {
    const shop = await startShop()
    const db = openDatabase(shop.ctx.config.databaseUrl, { max: 1 })
    const { databaseUrl } = shop.ctx.config
    const feed = await openChangeFeed({ databaseUrl, db, log: shop.ctx.log })
    try {
      const stream = await openStream(shop, await shop.admin())
      feed.publish([{ resource: 'bulk_run', id: 8 }])
      await eventually(() => expect(changesIn(stream)).toEqual([{ resource: 'bulk_run', id: 8 }]))
    } finally {
      await feed.stop()
      await closeDatabase(db)
      await shop.close()
    }
  })
})
