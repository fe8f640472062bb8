import { eq, sql } from '../../infra/db/drizzle.ts'
import { expect, test } from 'vitest'
import { closeDatabase, openDatabase } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import { addSession } from '../../testing/session.ts'
import { startTestShop, TEST_PASSWORD } from '../../testing/shop.ts'
import { nameKey } from './attempts.ts'
import { loginFailures, sessions, users } from './tables.ts'
import { accountRoutesWithPorts, failed, solvedCaptcha, visitorFromAnywhere } from './accounts.fixture.ts'
import { useStarted } from '../../testing/use-started.ts'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createCaptcha } from './captcha.ts'
import { hashPassword, ofAccount, passwordsAreFull, verifyPassword } from './passwords.ts'
import { clientAddress, clientNetwork } from '../../infra/http/client-address.ts'
import { browserName, deviceName } from './logins.ts'

const shop = useStarted(() => startTestShop({ routes: accountRoutesWithPorts }))

const LOGIN = '/api/auth/login'
const WRONG = 'The username, email or password is not correct'
const THROTTLED = { status: 429, code: 429, msg: 'Too many failed logins. Please wait 15 minutes and try again.' }

test('many guesses at once from one client get no further than twenty for an account', async () => {
  const { user } = await shop.customer()
  const client = shop.visitor({ ip: '198.51.100.77' })
  const keys = await Promise.all(Array.from({ length: 24 }, () => solvedCaptcha(shop)))
  const replies = await Promise.all(
    keys.map(captcha => client.post(LOGIN, { username: user.username, password: 'Wrong#2026', ...captcha }))
  )
  expect(replies.filter(reply => reply.msg === WRONG).length).toBeLessThanOrEqual(20)
  expect(replies.some(reply => reply.code === 429)).toBe(true)
  await failed(shop, nameKey(user.username, '198.51.100.77'), 20)
  const right = { username: user.username, password: TEST_PASSWORD }
  expect(await client.post(LOGIN, { ...right, ...(await solvedCaptcha(shop)) })).toMatchObject(THROTTLED)
})

test('an office logs in at once from one address, and no more guesses at once are tried than one by one', async () => {
  const people = await Promise.all(Array.from({ length: 8 }, () => shop.customer()))
  const office = () => shop.visitor({ ip: '198.51.100.60' })
  const right = await Promise.all(
    people.map(({ user }) => office().post(LOGIN, { username: user.username, password: TEST_PASSWORD }))
  )
  expect(right.map(reply => reply.code)).toEqual(people.map(() => 2000))
  expect(await shop.ctx.db.$count(loginFailures, eq(loginFailures.key, 'ip:198.51.100.60'))).toBe(0)

  const guesses = await Promise.all(
    people.map(({ user }) => office().post(LOGIN, { username: user.username, password: 'Wrong#2026' }))
  )
  expect(guesses.filter(reply => reply.msg === WRONG)).toHaveLength(3)
  expect(guesses.filter(reply => reply.msg !== WRONG).every(reply => reply.code === 401)).toBe(true)
}, 60_000)

test('many attempts at once under one key wait for their turn with one connection of the database', async () => {
  const { db } = shop.ctx
  const flood = shop.visitor({ ip: '198.51.100.61' })
  // Its own connection, because the pool may have none left.
  const watcher = openDatabase(shop.ctx.config.databaseUrl, { max: 1 })
  const waiting = () =>
    watcher.$count(
      sql`pg_locks`,
      sql`locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`
    )
  // More than there are connections.
  const names = Array.from({ length: 20 }, (_, n) => `nobody${n}`)
  const [held, locked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holder = db.transaction(async tx => {
    await lock(tx, 'asks', 'ip:198.51.100.61')
    locked.resolve()
    await held.promise
  })
  await locked.promise
  const tries = Promise.all(names.map(username => flood.post(LOGIN, { username, password: 'Wrong#2026' })))
  const seen = new Set<number>()
  await expect.poll(waiting, { timeout: 20_000 }).toBeGreaterThan(0)
  for (let n = 0; n < 100; n++) seen.add(await waiting())
  held.resolve()
  await holder
  await closeDatabase(watcher)
  expect((await tries).filter(reply => reply.msg === WRONG)).toHaveLength(3)
  expect([...seen]).toEqual([1])
}, 60_000)

test('a stranger cannot lock an account: its owner, even an administrator, logs in from elsewhere with a captcha', async () => {
  for (const { user } of [await shop.customer(), await shop.admin()]) {
    const stranger = shop.visitor({ ip: '198.51.100.80' })
    await failed(shop, nameKey(user.username, '198.51.100.80'), 20)
    await failed(shop, nameKey(user.username), 20)
    const right = { username: user.username, password: TEST_PASSWORD }
    expect(await stranger.post(LOGIN, { ...right, ...(await solvedCaptcha(shop)) })).toMatchObject(THROTTLED)
    const owner = visitorFromAnywhere(shop)
    expect(await owner.post(LOGIN, right)).toMatchObject({ data: { require_captcha: true } })
    expect((await owner.post(LOGIN, { ...right, ...(await solvedCaptcha(shop)) })).code).toBe(2000)
  }
})

test.each([
  ['an IPv4 /24', (n: number) => `192.0.2.${n}`, 60],
  ['an IPv6 /56', (n: number) => `2001:db8:1:ab${(n + 16).toString(16)}::1`, 40],
  ['an IPv6 /48', (n: number) => `2001:db8:2:${n.toString(16)}00::1`, 60]
])('%s with a client for each guess cannot lock an account', async (_network, addressOf, most) => {
  const { user } = await shop.customer()
  for (let n = 1; n <= most; n++) {
    await failed(shop, nameKey(user.username, clientNetwork(addressOf(n))), 1)
    await failed(shop, nameKey(user.username), 1)
  }
  const [right, wrong] = [TEST_PASSWORD, 'Wrong#2026'].map(password => ({ username: user.username, password }))
  const next = shop.visitor({ ip: addressOf(most + 1) })
  expect(await next.post(LOGIN, { ...wrong, ...(await solvedCaptcha(shop)) })).toMatchObject(THROTTLED)
  const owner = visitorFromAnywhere(shop)
  expect((await owner.post(LOGIN, { ...right, ...(await solvedCaptcha(shop)) })).code).toBe(2000)
})

test('a flood from one client keeps no owner out, nor says that the account is guessed from everywhere', async () => {
  const { user } = await shop.customer()
  const right = { username: user.username, password: TEST_PASSWORD }
  const stranger = shop.visitor({ ip: '198.51.100.200' })
  for (let i = 0; i < 4; i += 1) await stranger.post(LOGIN, { ...right, password: 'x' })
  const flood = Array.from({ length: 60 }, () => stranger.post(LOGIN, { ...right, password: 'x' }))
  const owners = await Promise.all(
    Array.from({ length: 4 }, async () =>
      visitorFromAnywhere(shop).post(LOGIN, { ...right, ...(await solvedCaptcha(shop)) })
    )
  )
  expect(owners.map(reply => reply.code)).toEqual([2000, 2000, 2000, 2000])
  await Promise.all(flood)
  const { rows } = await shop.ctx.db.execute(
    sql`select 1 from pgboss.job where name = 'send-mail' and data ->> 'template' = 'login-guesses' and data ->> 'to' = ${user.email}`
  )
  expect(rows).toHaveLength(0)
}, 120_000)

test('guesses from everywhere end at a hundred, the owner is told once, and a browser that it knows gets in', async () => {
  const { user } = await shop.customer()
  const right = { username: user.username, password: TEST_PASSWORD }
  const known = visitorFromAnywhere(shop)
  expect((await known.post(LOGIN, right)).code).toBe(2000)
  await failed(shop, nameKey(user.username), 100)
  for (let i = 0; i < 3; i += 1)
    expect(await visitorFromAnywhere(shop).post(LOGIN, { ...right, ...(await solvedCaptcha(shop)) })).toMatchObject(
      THROTTLED
    )
  const { rows } = await shop.ctx.db.execute(
    sql`select 1 from pgboss.job where name = 'send-mail' and data ->> 'template' = 'login-guesses' and data ->> 'to' = ${user.email}`
  )
  expect(rows).toHaveLength(1)
  expect(await known.post(LOGIN, right)).toMatchObject({ code: 2000 })
  // Strangers stay blocked: the owner's login does not lower their count.
  expect((await visitorFromAnywhere(shop).post(LOGIN, { ...right, ...(await solvedCaptcha(shop)) })).code).toBe(429)
})

test('a browser that has logged in is counted by itself, and is unknown after another password', async () => {
  const { user } = await shop.customer()
  const other = await shop.customer()
  const right = { username: user.username, password: TEST_PASSWORD }
  const known = visitorFromAnywhere(shop)
  await known.post(LOGIN, right)
  const device = known.cookies.get('netlet_device') ?? ''
  for (let i = 0; i < 3; i += 1) await known.post(LOGIN, { ...right, password: 'x' })
  expect(await known.post(LOGIN, right)).toMatchObject({ data: { require_captcha: true } })
  // Its failures do not count for the account.
  expect((await visitorFromAnywhere(shop).post(LOGIN, right)).code).toBe(2000)

  // It proves nothing about another account, and must be signed.
  await failed(shop, nameKey(other.user.username), 100)
  await failed(shop, nameKey(user.username), 100)
  const elsewhere = { username: other.user.username, password: TEST_PASSWORD }
  expect((await known.post(LOGIN, { ...elsewhere, ...(await solvedCaptcha(shop)) })).code).toBe(429)
  const forger = visitorFromAnywhere(shop)
  for (const forged of [`${device}x`, device.replace(/^\d+/, String(other.user.id)), '..', 'x', `${user.id}..`]) {
    forger.cookies.set('netlet_device', forged)
    expect((await forger.post(LOGIN, { ...right, ...(await solvedCaptcha(shop)) })).code, forged).toBe(429)
  }
  forger.cookies.set('netlet_device', device)
  expect((await forger.post(LOGIN, { ...right, ...(await solvedCaptcha(shop)) })).code).toBe(2000)
  await shop.ctx.db
    .update(users)
    .set({ passwordHash: await hashPassword(TEST_PASSWORD) })
    .where(eq(users.id, user.id))
  forger.cookies.set('netlet_device', device)
  expect((await forger.post(LOGIN, { ...right, ...(await solvedCaptcha(shop)) })).code).toBe(429)
})

test('wrong captchas count for the client that sent them, and not against the account', async () => {
  const { user } = await shop.customer()
  const right = { username: user.username, password: TEST_PASSWORD }
  const client = visitorFromAnywhere(shop)
  for (let i = 0; i < 3; i += 1) await client.post(LOGIN, { ...right, password: 'x' })
  const miss = async () => {
    const { captcha_id, captcha } = await solvedCaptcha(shop)
    return client.post(LOGIN, { ...right, captcha_id, captcha: captcha + 1 })
  }
  expect((await miss()).msg).toBe('The captcha code is not correct')
  const last = []
  for (let i = 0; i < 19; i += 1) last.push(await miss())
  expect(last.at(-1)).toMatchObject(THROTTLED)
  const { rows } = await shop.ctx.db.execute(sql`select 1 from login_failures where key = ${nameKey(user.username)}`)
  expect(rows).toHaveLength(3)
  // A missing captcha is not a failure: the form only now shows one.
  const form = visitorFromAnywhere(shop)
  for (let i = 0; i < 21; i += 1) expect((await form.post(LOGIN, right)).code).toBe(401)
  expect((await form.post(LOGIN, { ...right, ...(await solvedCaptcha(shop)) })).code).toBe(2000)
})

test('failures by the address say nothing of the username that belongs to it, nor the other way round', async () => {
  for (const failures of [3, 100]) {
    const { user } = await shop.customer({ username: `pair${failures}`, email: `p.${failures}@example.org` })
    const right = { password: TEST_PASSWORD }
    for (const [failing, other] of [
      [user.email, user.username],
      [user.username, user.email]
    ] as const) {
      const stranger = visitorFromAnywhere(shop)
      await failed(shop, nameKey(failing), failures)
      const there = { ...right, ...(await solvedCaptcha(shop)), username: failing }
      if (failures === 100) expect(await stranger.post(LOGIN, there)).toMatchObject(THROTTLED)
      // The reply is the same as without failures.
      const guess = await visitorFromAnywhere(shop).post(LOGIN, { username: other, password: 'x' })
      expect(guess).toMatchObject({ code: 401, msg: WRONG, data: { reason: 'wrong_login' } })
      expect(guess.data).not.toHaveProperty('require_captcha')
      expect((await visitorFromAnywhere(shop).post(LOGIN, { ...right, username: other })).code).toBe(2000)
      await shop.ctx.db.execute(sql`delete from login_failures`)
    }
  }
})

test('fifty failures from one address stop it', async () => {
  const { user } = await shop.customer()
  await failed(shop, 'ip:198.51.100.7', 50)
  const right = { username: user.username, password: TEST_PASSWORD }
  expect((await shop.visitor({ ip: '198.51.100.7' }).post(LOGIN, right)).code).toBe(429)
  expect((await shop.visitor({ ip: '198.51.100.8' }).post(LOGIN, right)).code).toBe(2000)
})

/** More than may wait. */
const FLOOD = 104

/** Keeps this many passwords in the queue until it is stopped; by default of strangers in as many networks. */
function flood(callerOf = (n: number) => ({ key: `network ${n}`, first: false }), count = FLOOD) {
  let checked = 0
  const over = new AbortController()
  const check = async (_: unknown, n: number) => {
    while (!over.signal.aborted) {
      await verifyPassword(undefined, 'Wrong#2026', callerOf(n))
      checked++
    }
  }
  const all = Promise.all(Array.from({ length: count }, check))
  return {
    checked: () => checked,
    stop: async () => {
      over.abort()
      await all
    }
  }
}

test('in a flood a browser that has logged in before gets in at once, and a stranger is asked to come again', async () => {
  const { user } = await shop.customer()
  const right = { username: user.username, password: TEST_PASSWORD }
  const known = visitorFromAnywhere(shop)
  expect((await known.post(LOGIN, right)).code).toBe(2000)
  const { checked, stop } = flood()
  await expect.poll(checked).toBeGreaterThan(0)
  expect(await visitorFromAnywhere(shop).post(LOGIN, right)).toMatchObject({
    status: 503,
    data: { reason: 'unavailable' }
  })
  // Neither waits behind them, nor does a file that is read: only some passwords are checked in between.
  for (const work of [() => readFile(fileURLToPath(import.meta.url)), () => known.post(LOGIN, right)]) {
    const before = checked()
    const done = await work()
    expect(checked() - before).toBeLessThan(FLOOD / 2)
    if ('code' in done) expect(done.code).toBe(2000)
  }
  await stop()
  expect((await visitorFromAnywhere(shop).post(LOGIN, right)).code).toBe(2000)
}, 60_000)

test.each([
  ['one account with many known browsers', () => ofAccount(0), FLOOD],
  // A network's next password would be refused.
  ['one network', () => ({ key: '203.0.113.9', first: false }), 22]
])(
  'a flood of %s keeps no stranger and no other account waiting',
  async (_name, callerOf, count) => {
    const { user } = await shop.customer()
    const right = { username: user.username, password: TEST_PASSWORD }
    const known = visitorFromAnywhere(shop)
    expect((await known.post(LOGIN, right)).code).toBe(2000)
    const { checked, stop } = flood(callerOf, count)
    await expect.poll(checked).toBeGreaterThan(0)
    expect(passwordsAreFull(callerOf())).toBe(true)
    for (const caller of [visitorFromAnywhere(shop), known]) {
      const before = checked()
      expect((await caller.post(LOGIN, right)).code).toBe(2000)
      expect(checked() - before).toBeLessThan(FLOOD / 2)
    }
    await stop()
  },
  60_000
)

test('an account keeps its newest 50 sessions, and is logged in to 100 times in 15 minutes', async () => {
  const { user } = await shop.customer()
  const right = { username: user.username, password: TEST_PASSWORD }
  const first = visitorFromAnywhere(shop)
  expect((await first.post(LOGIN, right)).code).toBe(2000)
  for (let nth = 1; nth < 50; nth++) await addSession(shop.ctx, user.id)
  expect((await visitorFromAnywhere(shop).post(LOGIN, right)).code).toBe(2000)
  expect((await first.get(LOGIN)).code).toBe(401)
  expect(await shop.ctx.db.$count(sessions, eq(sessions.userId, user.id))).toBe(50)
  await failed(shop, `log-in:${user.id}`, 97)
  expect((await visitorFromAnywhere(shop).post(LOGIN, right)).code).toBe(2000)
  expect(await visitorFromAnywhere(shop).post(LOGIN, right)).toMatchObject({ status: 429 })
}, 60_000)

test('an unknown name waits for its password to be checked, as any other', async () => {
  let left = 40
  const others = Array.from({ length: left }, async (_, n) => {
    await verifyPassword(undefined, 'Wrong#2026', { key: `network ${n}`, first: false })
    left -= 1
  })
  const reply = await visitorFromAnywhere(shop).post(LOGIN, { username: 'nobody9', password: 'x' })
  // Earlier ones have been checked, except for some that run beside it.
  expect(reply).toMatchObject({ code: 401, msg: WRONG })
  expect(left).toBeLessThan(20)
  await Promise.all(others)
})

test.each([
  ['many networks', (n: number) => `198.51.${n}.1`, 150, 49],
  ['one network', () => '198.51.100.9', 30, 19]
])(
  'of captchas for %s at once so many are drawn, and the rest is refused',
  async (_name, ipOf, count, over) => {
    const asked = Array.from({ length: count }, (_, n) =>
      createCaptcha(shop.ctx, { kind: 'visitor', ip: ipOf(n), forwardedFor: null })
    )
    const made = await Promise.all(asked)
    const refused = made.filter(captcha => !captcha.ok)
    expect(refused).toHaveLength(over)
    expect(new Set(refused.map(captcha => !captcha.ok && captcha.reason))).toEqual(new Set(['unavailable']))
    expect((await shop.visitor().get('/api/auth/captcha')).code).toBe(2000)
  },
  60_000
)

test.each([
  ['198.51.100.7', '198.51.100.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:0db8:0001:0002::'],
  ['2001:db8:1:2::1', '2001:0db8:0001:0002::'],
  ['2001:0DB8:0001:0002::1', '2001:0db8:0001:0002::'],
  ['2001:db8::1', '2001:0db8:0000:0000::'],
  ['::1', '0000:0000:0000:0000::'],
  ['fe80::1', 'fe80:0000:0000:0000::']
])('%s counts as %s', (address, network) => {
  expect(clientNetwork(address)).toBe(network)
})

test.each([
  ['198.51.100.7', '198.51.100.7'],
  ['::ffff:198.51.100.7', '198.51.100.7'],
  ['fe80::1%eth0', 'fe80::1'],
  ['not an address', '127.0.0.1'],
  ['198.51.100.7:443', '127.0.0.1']
])('a client that is said to be %s is %s', (ip, address) => {
  const request = { ip, socket: { remoteAddress: '127.0.0.1' } } as Parameters<typeof clientAddress>[0]
  expect(clientAddress(request)).toBe(address)
})

test.each([
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Safari/537.36',
    'Chrome on Linux'
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
    'Safari on iOS'
  ],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:133.0) Gecko/20100101 Firefox/133.0', 'Firefox on Windows'],
  ['-', '-'],
  [`own-program/${'1'.repeat(300)}`, null]
])('%s is shown as %s', (userAgent, name) => {
  const shown = deviceName(userAgent)
  if (name === null) expect(shown.length).toBeLessThanOrEqual(70)
  else expect(shown).toBe(name)
})

test('a browser’s name is one of a few dozen, for any user agent', () => {
  expect(browserName('Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:133.0) Gecko/20100101 Firefox/133.0')).toBe(
    'Firefox'
  )
  for (const made of ['own-program/1', 'x'.repeat(500), '', undefined]) expect(browserName(made)).toBe('other')
})
