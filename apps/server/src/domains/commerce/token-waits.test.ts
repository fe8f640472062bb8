import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { until } from '../../../../sandbox/src/testing/harness.ts'
import { HOUR, SECOND } from '../../infra/clock.ts'
import { closeDatabase, openDatabase } from '../../infra/db/client.ts'
import { LOCKS } from '../../infra/db/locks.ts'
import { withSessionLock } from '../../infra/db/session-lock.ts'
import { writeSettings } from '../settings/index.ts'
import { openPlatform } from './platform.ts'
import { renewToken } from './jobs.ts'
import { platformTokens } from './tables.ts'
import { asked, call, fails, resetTokens, sandbox, shop, startTokenShop, stopTokenShop } from './token.fixture.ts'

beforeAll(startTokenShop)
beforeEach(resetTokens)
afterAll(stopTokenShop)

/** How many sessions hold or await the lock for requesting a token. */
const locks = () =>
  shop.ctx.db.$count(
    sql`pg_locks where locktype = 'advisory' and classid = ${LOCKS.platformToken} and objid = 0 and database = (select oid from pg_database where datname = current_database())`
  )

test('calls of one process that wait for a token poll the database as one', async () => {
  const { lockSession } = shop.ctx.db
  const before = await asked()
  const looks: number[] = []
  const use = lockSession.use.bind(lockSession)
  const spy = vi.spyOn(lockSession, 'use').mockImplementation(work => (looks.push(performance.now()), use(work)))
  onTestFinished(() => spy.mockRestore())
  const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>()
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
  // Another process asks, and the platform is silent.
  const elsewhere = openDatabase(shop.ctx.config.databaseUrl, { max: 1 })
  onTestFinished(() => closeDatabase(elsewhere))
  const other = withSessionLock(elsewhere, 'platformToken', 0, () => (hold(), isOver))
  await isHeld
  const calls = Array.from({ length: 20 }, () => call())
  // Together they query every 50 ms; separately, twenty times as often.
  const LOOKS = 10
  await until('looks with a pause before each', () => {
    const last = looks.slice(-LOOKS)
    return last.length === LOOKS && (last.at(-1) ?? 0) - (last[0] ?? 0) >= (LOOKS - 1) * 45
  })
  end()
  await other
  expect((await Promise.all(calls)).every(reply => reply.ok)).toBe(true)
  expect((await asked()) - before).toBe(1)
})

test('the longer no token is given, the less often one is asked for: each minute at last', async () => {
  await asked({ fault: { kind: 'error500', next: 99 } })
  let now = shop.ctx.now().getTime()
  const pauses: number[] = []
  for (const wait of [0, 3, 7, 20, 40, 3600]) {
    now += wait * SECOND
    expect(await fails({ ...shop.ctx, now: () => new Date(now) })).toBe('server_error')
    const [row] = await shop.ctx.db.select().from(platformTokens)
    pauses.push(((row?.retryAt?.getTime() ?? 0) - now) / SECOND)
  }
  expect(pauses).toEqual([2, 3, 10, 30, 60, 60])
})

test('a process that still has other credentials leaves the token of those that are saved', async () => {
  const elsewhere = new URL(sandbox.url)
  elsewhere.hostname = 'localhost'
  await writeSettings(shop.ctx, { shopify_shop_url: elsewhere.origin })
  const old = await openPlatform(shop.ctx)
  await writeSettings(shop.ctx, { shopify_shop_url: sandbox.url })
  expect(await fails()).toBe('ok')
  const before = await asked()
  expect(old.ok && (await old.data.shop())).toMatchObject({ ok: true })
  expect(await fails()).toBe('ok')
  expect((await asked()) - before).toBe(1)
  expect(await shop.ctx.db.$count(platformTokens)).toBe(2)
  // The next token for the saved credentials deletes the others.
  shop.advance(20 * HOUR)
  await renewToken(shop.ctx)
  expect(await shop.ctx.db.$count(platformTokens)).toBe(1)
})

// The last test: it closes the platform, which ends the waiting.
test('while a renewal waits for a silent platform, calls go on with the token that lives', async () => {
  expect(await fails()).toBe('ok')
  shop.advance(20 * HOUR)
  const before = await asked({ fault: { kind: 'timeout', next: 1 } })
  const limited = { ...shop.ctx, platformLimits: { timeoutMs: 60_000, sleep: async () => {} } }
  const renewing = renewToken(limited)
  await until('the renewal', async () => (await locks()) === 1)
  expect(await Promise.all([fails(limited), fails(limited), fails(limited)])).toEqual(['ok', 'ok', 'ok'])
  expect((await asked()) - before).toBe(0)
  // The renewal still waits.
  expect(await locks()).toBe(1)
  await sandbox.close()
  await renewing
})
