import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openReplyCache } from './offers.ts'
import { type KeyStock, openStockBoard, type StockKey } from './stock-board.ts'

const log = pino({ level: 'silent' })

/** A clock that moves only by `advance`. */
function clock() {
  let at = 0
  return { now: () => new Date(at), advance: (ms: number) => (at += ms) }
}

/** Replies in the order that the test chooses. */
function delayedCount() {
  const asked: { key: StockKey; answer: (stock: number) => void; fail: () => void }[] = []
  const count = (key: StockKey) =>
    new Promise<KeyStock>((answer, reject) => {
      asked.push({
        key,
        answer: stock => answer({ stock, rules: [] }),
        fail: () => reject(new Error('the database is away'))
      })
    })
  return { asked, count }
}

const settled = () => new Promise(resolve => setImmediate(resolve))
const key: StockKey = { groupId: 1, step: 8, family: 'ipv4' }

test('a figure is fetched once for all who ask, and kept for 10 seconds', async () => {
  const time = clock()
  const { asked, count } = delayedCount()
  const board = openStockBoard({ count, now: time.now, log })
  const readers = [board.read([key, key]), board.read([key])]
  expect(asked).toHaveLength(1)
  asked[0]?.answer(64)
  for (const stockOf of await Promise.all(readers)) expect(stockOf(key).stock).toBe(64)
  time.advance(9_999)
  expect((await board.read([key]))(key).stock).toBe(64)
  expect(asked).toHaveLength(1)
})

test('from 10 to 30 seconds the old figure serves while a new one is fetched; after that, readers wait', async () => {
  const time = clock()
  const { asked, count } = delayedCount()
  const board = openStockBoard({ count, now: time.now, log })
  const first = board.read([key])
  asked[0]?.answer(64)
  await first
  time.advance(10_000)
  expect((await board.read([key]))(key).stock).toBe(64)
  expect((await board.read([key]))(key).stock).toBe(64)
  expect(asked).toHaveLength(2)
  asked[1]?.answer(56)
  await settled()
  expect((await board.read([key]))(key).stock).toBe(56)
  time.advance(30_000)
  const late = board.read([key])
  asked[2]?.answer(48)
  expect((await late)(key).stock).toBe(48)
})

test('a fetch that failed behind the reader does no harm and is tried again', async () => {
  const time = clock()
  const { asked, count } = delayedCount()
  const board = openStockBoard({ count, now: time.now, log })
  const first = board.read([key])
  asked[0]?.answer(64)
  await first
  time.advance(15_000)
  await board.read([key])
  asked[1]?.fail()
  await settled()
  expect((await board.read([key]))(key).stock).toBe(64)
  expect(asked).toHaveLength(3)
})

test('after forget an old figure serves no later call, even if it was just being fetched', async () => {
  const time = clock()
  const { asked, count } = delayedCount()
  const board = openStockBoard({ count, now: time.now, log })
  const before = board.read([key])
  board.forget()
  const after = board.read([key])
  expect(asked).toHaveLength(2)
  asked[1]?.answer(0)
  asked[0]?.answer(64)
  await before
  expect((await after)(key)).not.toBeUndefined()
  const later = board.read([key])
  asked[2]?.answer(0)
  expect((await later)(key).stock).toBe(0)
})

const cache = (time: ReturnType<typeof clock>, bounds: { maxEntries?: number; maxBytes?: number } = {}) =>
  openReplyCache({ ttl: 2000, maxEntries: 10, maxBytes: 1000, now: time.now, ...bounds })

test('a reply is made once for all who ask at once, and again when it is too old', async () => {
  const time = clock()
  const replies = cache(time)
  let made = 0
  const ask = async () => (await replies.get('key', async () => ({ made: ++made }))).toString()
  expect(await Promise.all([ask(), ask(), ask()])).toEqual(['{"made":1}', '{"made":1}', '{"made":1}'])
  time.advance(1999)
  expect(await ask()).toBe('{"made":1}')
  time.advance(1)
  expect(await ask()).toBe('{"made":2}')
  // The clock was set back, so the entry's age is meaningless.
  time.advance(-3_600_000)
  expect(await ask()).toBe('{"made":3}')
})

test('a reply that was being read while the catalogue changed is not kept', async () => {
  const replies = cache(clock())
  const { promise, resolve: finish } = Promise.withResolvers<string>()
  const old = replies.get('key', () => promise)
  replies.clear()
  const fresh = replies.get('key', async () => 'new')
  finish('old')
  expect((await old).toString()).toBe('"old"')
  expect((await fresh).toString()).toBe('"new"')
  expect((await replies.get('key', async () => 'never asked')).toString()).toBe('"new"')
})

test('a failure is not kept', async () => {
  const replies = cache(clock())
  await expect(replies.get('key', () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect((await replies.get('key', async () => 1)).toString()).toBe('1')
})

test('the least recently asked goes when there are too many entries or bytes; a giant is never kept', async () => {
  const few = cache(clock(), { maxEntries: 2 })
  const remade: string[] = []
  const ask = async (key: string, size = 1) => {
    await few.get(key, async () => {
      remade.push(key)
      return 'x'.repeat(size)
    })
  }
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await ask(key)
  expect(remade).toEqual(['a', 'b', 'c', 'b'])
  await ask('giant', 900)
  await ask('giant', 900)
  expect(remade.slice(4)).toEqual(['giant', 'giant'])

  const small = cache(clock(), { maxBytes: 400 })
  let made = 0
  const fill = (key: string) => small.get(key, async () => `${++made}${'x'.repeat(90)}`)
  for (const key of ['1', '2', '3', '4', '5']) await fill(key)
  await fill('5')
  expect(made).toBe(5)
  await fill('1')
  expect(made).toBe(6)
})
