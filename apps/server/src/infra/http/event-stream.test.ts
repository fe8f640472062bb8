import { eq } from '../db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { users } from '../../domains/accounts/tables.ts'
import { writeSettings } from '../../domains/settings/index.ts'
import { TEST_PASSWORD, type TestShop } from '../../testing/shop.ts'
import type { ChangeFeed } from '../change-feed.ts'
import { changesIn, eventually, openStream, startShop } from './event-stream.fixture.ts'

describe('the event stream', () => {
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

  test('is server-sent events without buffering, with the headers of every reply', async () => {
    const stream = await openStream(shop, admin)
    expect(stream.status).toBe(200)
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'x-frame-options': 'SAMEORIGIN'
    })
    expect(stream.headers['content-security-policy']).toContain("default-src 'self'")
    // Comments show that the stream is alive.
    await eventually(() =>
      expect(
        stream
          .text()
          .split('\n')
          .filter(line => line === ':').length
      ).toBeGreaterThan(2)
    )
    expect(stream.events()).toEqual([])
  })

  test('tells administrators everything, customers their own changes, and neither whose they are', async () => {
    const [all, own, others] = [
      await openStream(shop, admin),
      await openStream(shop, customer),
      await openStream(shop, other)
    ]
    publish([
      { resource: 'order', id: 5 },
      { resource: 'order', id: 5, userId: customer.user.id },
      { resource: 'server', id: 6 },
      { resource: 'order', id: 7, userId: other.user.id }
    ])
    await eventually(() => expect(changesIn(all)).toHaveLength(3))
    await eventually(() => expect(changesIn(own)).toEqual([{ resource: 'order', id: 5 }]))
    await eventually(() => expect(changesIn(others)).toEqual([{ resource: 'order', id: 7 }]))
    expect(changesIn(all)).toEqual([
      { resource: 'order', id: 5 },
      { resource: 'server', id: 6 },
      { resource: 'order', id: 7 }
    ])
    expect(all.text() + own.text() + others.text()).not.toMatch(/userId/i)
    expect(all.events()[0]).toMatchObject({ event: 'change', id: expect.stringMatching(/^\d+$/) })
  })

  test('tells customers that a public resource has changed, but not which row', async () => {
    const [all, own] = [await openStream(shop, admin), await openStream(shop, customer)]
    publish([
      { resource: 'product', id: 5 },
      { resource: 'product', id: 6 },
      { resource: 'gift_card', id: 7 },
      { resource: 'server', id: 8 },
      { resource: 'ticket', id: 9 },
      { resource: 'settings' }
    ])
    await eventually(() => expect(changesIn(all)).toHaveLength(6))
    await eventually(() =>
      expect(changesIn(own)).toEqual([{ resource: 'product' }, { resource: 'gift_card' }, { resource: 'settings' }])
    )
  })

  test('tells each of many customers that something may be theirs', async () => {
    const own = await openStream(shop, customer)
    publish([
      { resource: 'server', id: 1 },
      ...Array.from({ length: 900 }, (_, at) => ({ resource: 'order' as const, id: at, userId: 1_000_000 + at }))
    ])
    await eventually(() => expect(changesIn(own)).toEqual([{ resource: 'order' }]))
  })

  test('shows an administrator who views the shop as a user what that user sees', async () => {
    await admin.post('/api/users/admin/switch-user', { user_id: customer.user.id })
    const stream = await openStream(shop, admin)
    publish([
      { resource: 'order', id: 1, userId: other.user.id },
      { resource: 'order', id: 2, userId: customer.user.id }
    ])
    await eventually(() => expect(changesIn(stream)).toEqual([{ resource: 'order', id: 2 }]))
  })

  test('goes on after the last event that a browser got', async () => {
    const first = await openStream(shop, customer)
    publish([{ resource: 'order', id: 1, userId: customer.user.id }])
    await eventually(() => expect(first.events()).toHaveLength(1))
    const id = first.events()[0]?.id ?? ''
    first.close()
    const watcher = await openStream(shop, admin)
    publish([{ resource: 'order', id: 2, userId: customer.user.id }])
    await eventually(() => expect(changesIn(watcher)).toHaveLength(1))
    publish([{ resource: 'order', id: 3, userId: other.user.id }])
    await eventually(() => expect(changesIn(watcher)).toHaveLength(2))
    const again = await openStream(shop, customer, { 'last-event-id': id })
    publish([{ resource: 'order', id: 4, userId: customer.user.id }])
    await eventually(() => expect(changesIn(again)).toContainEqual({ resource: 'order', id: 4 }))
    expect(again.events().map(event => event.event)).toEqual(['change', 'change'])
    expect(changesIn(again)).toEqual([
      { resource: 'order', id: 2 },
      { resource: 'order', id: 4 }
    ])
  })

  test('sends with a heartbeat the id of events that did not concern the reader', async () => {
    const stream = await openStream(shop, customer)
    const watcher = await openStream(shop, admin)
    publish([{ resource: 'server', id: 1 }])
    await eventually(() => expect(watcher.events()).toHaveLength(1))
    const id = watcher.events()[0]?.id
    await eventually(() => expect(stream.text()).toContain(`:\nid: ${id}\n\n`))
    expect(stream.events()).toEqual([])
  })

  test.each(['0', '999999999', 'nonsense', '-1', '1e3', ''])('starts afresh after an unknown event: %j', async id => {
    const stream = await openStream(shop, customer, { 'last-event-id': id })
    await eventually(() => expect(stream.events()).toEqual([{ event: 'reset', data: {} }]))
  })

  test('starts afresh if the missed events are more than a reader takes at once', async () => {
    const watcher = await openStream(shop, admin)
    publish([{ resource: 'faq', id: 1 }])
    await eventually(() => expect(watcher.events()).toHaveLength(1))
    const id = watcher.events()[0]?.id ?? ''
    for (let burst = 1; burst <= 8; burst++) {
      publish(Array.from({ length: 150 }, (_, at) => ({ resource: 'platform_event' as const, id: at })))
      await eventually(() => expect(watcher.events()).toHaveLength(burst + 1))
    }
    const again = await openStream(shop, admin, { 'last-event-id': id })
    await eventually(() => expect(again.events()).toEqual([{ event: 'reset', data: {} }]))
  })

  test('says that events may be missing when the database has cut the connection', async () => {
    const stream = await openStream(shop, customer)
    await shop.ctx.db.$client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'netlet changes' and datname = current_database()`
    )
    await eventually(() => expect(stream.events()).toEqual([{ event: 'reset', data: {} }]))
  })

  test.each([
    ['a ban', async () => admin.post(`/api/users/u/${customer.user.id}/baned_user/`)],
    ['a logout', async () => customer.get('/api/auth/logout')],
    [
      "an administrator's new password",
      async () => admin.post(`/api/users/u/${customer.user.id}/change_password/`, { password: 'Other#2026' })
    ],
    [
      'a password that was changed elsewhere',
      async () => {
        const elsewhere = shop.visitor()
        const { username } = customer.user
        await elsewhere.post('/api/auth/login', { username, password: TEST_PASSWORD })
        const body = { old_password: TEST_PASSWORD, new_password: 'Other#2026' }
        return elsewhere.post('/api/users/change_password', body)
      }
    ]
  ])('ends with the session: %s', async (_what, end) => {
    const [stream, stays] = [await openStream(shop, customer), await openStream(shop, other)]
    expect(await end()).toMatchObject({ code: 2000 })
    await eventually(() => expect(stream.ended()).toBe(true))
    expect(stays.ended()).toBe(false)
    expect((await openStream(shop, customer)).status).toBe(401)
  })

  test('follows the account: a former administrator loses the access', async () => {
    const boss = await shop.admin()
    const stream = await openStream(shop, boss)
    const body = { username: boss.user.username, email: boss.user.email, is_superuser: false }
    expect(await admin.put(`/api/users/u/${boss.user.id}/`, body)).toMatchObject({ code: 2000 })
    // Two heartbeats are enough.
    const beats = () =>
      stream
        .text()
        .split('\n')
        .filter(line => line === ':').length
    const before = beats()
    await eventually(() => expect(stream.ended() || beats() > before + 2).toBe(true))
    const [heard, watcher] = [stream.events().length, await openStream(shop, admin)]
    publish([{ resource: 'server', id: 77 }])
    await eventually(() => expect(changesIn(watcher)).toContainEqual({ resource: 'server', id: 77 }))
    expect(stream.events()).toHaveLength(heard)
  })

  test('ends for an operator who has to add a second factor first', async () => {
    const boss = await shop.admin()
    const stream = await openStream(shop, boss)
    await writeSettings(shop.ctx, { operators_need_second_factor: true })
    const secondFactorDueAt = new Date(shop.ctx.now().getTime() - 1)
    await shop.ctx.db.update(users).set({ secondFactorDueAt }).where(eq(users.id, boss.user.id))
    await eventually(() => expect(stream.ended()).toBe(true))
    expect((await openStream(shop, boss)).status).toBe(403)
    await writeSettings(shop.ctx, { operators_need_second_factor: false })
  })

  test('is not for visitors, other sites, and API keys', async () => {
    expect((await openStream(shop, shop.visitor())).status).toBe(401)
    expect((await openStream(shop, customer, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    const made = await customer.post<{ key: string }>('/api/users/api_keys/', {
      name: 'script',
      scopes: ['read', 'renew'],
      password: TEST_PASSWORD
    })
    const authorization = `Bearer ${made.data.key}`
    expect((await openStream(shop, shop.visitor(), { authorization })).status).toBe(403)
  })
})
