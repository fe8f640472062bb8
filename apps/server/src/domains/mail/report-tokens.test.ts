import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHttpApp } from '../../app.ts'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { writeSettings } from '../settings/index.ts'
import { blockOf, liftBlock } from './blocked-addresses.ts'
import { mailRetention } from './retention.ts'
import { blockedAddresses, reportTokens } from './tables.ts'

const KEY = 'signing-key'
let shop: TestShop
beforeAll(async () => {
  shop = await startTestShop({ app: createHttpApp })
  await writeSettings(shop.ctx, { mailgun_webhook_key: KEY })
})
afterAll(() => shop?.close())

/** What Mailgun signs: a time and a token, and nothing of what it reports. */
const signed = (token: string, ago = 0) => {
  const timestamp = String(Math.floor((shop.ctx.now().getTime() - ago) / 1000))
  return { timestamp, token, signature: createHmac('sha256', KEY).update(`${timestamp}${token}`).digest('hex') }
}
const report = (signature: object, recipient: string, event: object = { severity: 'permanent', reason: 'bounce' }) =>
  shop.visitor().post('/api/mail/mailgun_events', {
    signature,
    'event-data': { event: 'failed', recipient, timestamp: shop.ctx.now().getTime() / 1000, ...event }
  })

test('a signature counts for one report: with another address it answers the same and changes nothing', async () => {
  const signature = signed('one')
  expect((await report(signature, 'first@example.com')).status).toBe(200)
  for (const victim of ['demo1@example.com', 'admin2@example.com'])
    expect((await report(signature, victim)).status).toBe(200)
  expect(await blockOf(shop.ctx.db, 'first@example.com')).toBe('bounced')
  expect(await blockOf(shop.ctx.db, 'demo1@example.com')).toBeNull()
  expect(await blockOf(shop.ctx.db, 'admin2@example.com')).toBeNull()
  // Nor does it bring back what an operator lifted, whatever time it says.
  const [row] = await shop.ctx.db.select({ id: blockedAddresses.id }).from(blockedAddresses)
  expect(await liftBlock(shop.ctx, SYSTEM, row?.id ?? 0)).toMatchObject({ ok: true })
  shop.advance(MINUTE)
  expect((await report(signature, 'first@example.com')).status).toBe(200)
  expect(await blockOf(shop.ctx.db, 'first@example.com')).toBeNull()
})

test('one that said nothing of an address counts as well, and several at once are one', async () => {
  const harmless = signed('delivered')
  expect((await report(harmless, 'reader@example.com', { event: 'delivered' })).status).toBe(200)
  expect((await report(harmless, 'reader@example.com')).status).toBe(200)
  expect(await blockOf(shop.ctx.db, 'reader@example.com')).toBeNull()
  const many = signed('many')
  const victims = ['a@example.com', 'b@example.com', 'c@example.com']
  for (const { status } of await Promise.all(victims.map(victim => report(many, victim)))) expect(status).toBe(200)
  const blocked = await Promise.all(victims.map(victim => blockOf(shop.ctx.db, victim)))
  expect(blocked.filter(cause => cause !== null)).toHaveLength(1)
})

test('a signature of another day is refused', async () => {
  for (const [token, ago] of [
    ['old', 365 * DAY],
    ['half', 13 * HOUR],
    ['ahead', -HOUR]
  ] as const)
    expect((await report(signed(token, ago), 'old@example.com')).status).toBe(401)
  expect(await blockOf(shop.ctx.db, 'old@example.com')).toBeNull()
  expect((await report(signed('late', 8 * HOUR), 'old@example.com')).status).toBe(200)
})

test('tokens are kept for longer than a signature counts, and not for ever', async () => {
  const entry = mailRetention.find(({ what }) => what === 'mail_report_tokens')
  expect(entry?.keep).toEqual({ ms: DAY })
  await report(signed('kept'), 'kept@example.com')
  shop.advance(13 * HOUR)
  await report(signed('new'), 'new@example.com')
  const before = new Date(shop.ctx.now().getTime() - 12 * HOUR)
  await command(shop.ctx, SYSTEM, async unit => expect(await entry?.remove(unit, before, 1000)).toBeGreaterThan(0))
  expect(await shop.ctx.db.$count(reportTokens)).toBe(1)
})
