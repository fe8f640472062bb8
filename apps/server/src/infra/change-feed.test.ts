import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { startRelay } from '../testing/relay.ts'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { withClient } from '../testing/server.ts'
import { openChangeFeed, type ChangeFeed, type ChangeFeedOptions, type FeedEvent } from './change-feed.ts'
import { closeDatabase, openDatabase, type Database } from './db/client.ts'
import { createLog } from './log.ts'

const log = createLog('test', 'silent')
let database: TestDatabase
let db: Database
const opened: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { max: 3 })
})
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

type Heard = ChangeFeed & { heard: (FeedEvent | null)[] }

async function open(options: Partial<ChangeFeedOptions> = {}): Promise<Heard> {
  const feed = await openChangeFeed({ databaseUrl: database.url, db, log, ...options })
  opened.push(() => feed.stop())
  const heard: (FeedEvent | null)[] = []
  feed.subscribe(event => heard.push(event))
  return { ...feed, heard }
}

const changesOf = ({ heard }: Heard) => heard.flatMap(event => event?.changes ?? [])
const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 30_000, interval: 20 })
/** Ends every listening connection, as a restart of the server does. */
const endListening = () =>
  withClient(database.url, client =>
    client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'netlet changes' and datname = current_database()`
    )
  )

test('two processes on one database hear each other and themselves, in one order', async () => {
  const [one, other] = [await open(), await open()]
  one.publish([{ resource: 'order', id: 7, userId: 3 }])
  other.publish([{ resource: 'server', id: 9 }])
  await eventually(() => expect(changesOf(one)).toHaveLength(2))
  await eventually(() => expect(changesOf(other)).toHaveLength(2))
  expect(changesOf(one)).toContainEqual({ resource: 'order', id: 7, userId: 3 })
  expect(changesOf(one)).toContainEqual({ resource: 'server', id: 9 })
  expect(other.heard).toEqual(one.heard)
})

test('what is published at once is one event, each change once', async () => {
  const feed = await open()
  for (let n = 0; n < 60; n++) feed.publish([{ resource: 'order', id: n % 20 }])
  await eventually(() => expect(changesOf(feed).length).toBeGreaterThan(0))
  expect(feed.heard).toHaveLength(1)
  expect(changesOf(feed)).toEqual(Array.from({ length: 20 }, (_, id) => ({ resource: 'order', id })))
})

test('a burst that is too large names only the resources, for everyone if customers are concerned', async () => {
  const feed = await open()
  feed.publish([
    { resource: 'server', id: 1 },
    ...Array.from({ length: 900 }, (_, id) => ({ resource: 'order' as const, id, userId: id }))
  ])
  const rough = [{ resource: 'server' }, { resource: 'order', everyone: true }]
  await eventually(() => expect(changesOf(feed)).toEqual(rough))
  // A larger burst does not fill the memory while it waits either.
  feed.heard.length = 0
  for (let id = 0; id < 5000; id++) feed.publish([{ resource: 'order', id, userId: id }])
  await eventually(() => expect(changesOf(feed)).toContainEqual({ resource: 'order', everyone: true }))
  expect(feed.heard).toHaveLength(1)
})

test('the events after one that is remembered', async () => {
  const feed = await open()
  for (const id of [1, 2, 3]) {
    feed.publish([{ resource: 'order', id }])
    await eventually(() => expect(feed.heard).toHaveLength(id))
  }
  const [first, second, third] = feed.heard as [FeedEvent, FeedEvent, FeedEvent]
  expect(feed.since(first.id)).toEqual([second, third])
  expect(feed.since(third.id)).toEqual([])
  expect(feed.since(first.id - 1)).toBeNull()
  expect(feed.since(NaN)).toBeNull()
})

test('a connection that was ended is opened again, and all listeners learn that events may be missing', async () => {
  const feed = await open()
  feed.publish([{ resource: 'order', id: 1 }])
  await eventually(() => expect(feed.heard).toHaveLength(1))
  const [before] = feed.heard as [FeedEvent]
  await endListening()
  await eventually(() => expect(feed.heard.at(-1)).toBeNull())
  expect(feed.since(before.id)).toBeNull()
  feed.publish([{ resource: 'order', id: 2 }])
  await eventually(() => expect(feed.heard.at(-1)).toMatchObject({ changes: [{ resource: 'order', id: 2 }] }))
})

test('publishing never fails: what cannot be sent follows when the database is back', async () => {
  const away = await relay(database.url)
  const gone = openDatabase(away.url, { max: 1 })
  opened.push(() => closeDatabase(gone))
  const feed = await open({ db: gone })
  away.close()
  expect(() => feed.publish([{ resource: 'order', id: 5 }])).not.toThrow()
  const failed = vi.spyOn(gone.$client, 'query')
  await eventually(() => expect(failed).toHaveBeenCalled())
  feed.publish([{ resource: 'order', id: 6 }])
  expect(feed.heard).toEqual([])
  away.reopen()
  const both = [
    { resource: 'order', id: 5 },
    { resource: 'order', id: 6 }
  ]
  await eventually(() => expect(changesOf(feed)).toEqual(expect.arrayContaining(both)))
})

test('a connection whose other side vanished silently is noticed', async () => {
  const between = await relay(database.url)
  const feed = await open({ databaseUrl: between.url, probe: { everyMs: 100, answerMs: 2000 } })
  const before = between.accepted()
  between.freeze()
  await eventually(() => expect(between.accepted()).toBeGreaterThan(before))
  between.thaw()
  await eventually(() => expect(feed.heard).toEqual([null]))
  feed.publish([{ resource: 'order', id: 2 }])
  await eventually(() => expect(changesOf(feed)).toEqual([{ resource: 'order', id: 2 }]))
})

test('a notification that is not ours counts as one that was missed', async () => {
  const feed = await open()
  for (const payload of ['', 'nonsense', '{}', '[1]', '["a",[]]']) {
    await withClient(database.url, client => client.query(`select pg_notify('netlet_changes', $1)`, [payload]))
  }
  await eventually(() => expect(feed.heard).toEqual([null, null, null, null, null]))
})

test('a listener that fails does not keep others from hearing', async () => {
  const feed = await openChangeFeed({ databaseUrl: database.url, db, log })
  opened.push(() => feed.stop())
  const heard: unknown[] = []
  feed.subscribe(() => {
    throw new Error('no')
  })
  const end = feed.subscribe(event => heard.push(event))
  feed.publish([{ resource: 'faq' }])
  await eventually(() => expect(heard).toHaveLength(1))
  end()
  const other = await open()
  feed.publish([{ resource: 'faq' }])
  await eventually(() => expect(other.heard).toHaveLength(1))
  expect(heard).toHaveLength(1)
})

test('a feed that stops sends what waits, and leaves no connection', async () => {
  const [stopping, other] = [await open(), await open()]
  stopping.publish([{ resource: 'tag', id: 4 }])
  await stopping.stop()
  await stopping.stop()
  await eventually(() => expect(changesOf(other)).toEqual([{ resource: 'tag', id: 4 }]))
  stopping.publish([{ resource: 'tag', id: 5 }])
  await other.stop()
  await eventually(async () => {
    const { rows } = await withClient(database.url, client =>
      client.query(`select 1 from pg_stat_activity where application_name = 'netlet changes'
                    and datname = current_database()`)
    )
    expect(rows).toEqual([])
  })
})

test('a feed that stops while it connects again leaves no connection either', async () => {
  const between = await relay(database.url)
  const feed = await open({ databaseUrl: between.url })
  const before = between.accepted()
  between.close()
  between.reopen()
  between.freeze()
  await eventually(() => expect(between.accepted()).toBeGreaterThan(before))
  const stopped = feed.stop()
  between.thaw()
  await stopped
  await eventually(() => expect(between.ended()).toBe(true))
})

async function relay(url: string) {
  const started = await startRelay(url)
  opened.push(async () => started.stop())
  return started
}
