import { createHmac, generateKeyPairSync } from 'node:crypto'
import { request } from 'node:http'
import type { BlockedAddress, MailSettings, Page, UserDetail } from '@netlet/contract'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { launchAlone } from '../../../../sandbox/src/testing/harness.ts'
import { type Happened, MAILGUN_KEY, type OutboxMail } from '../../../../sandbox/src/outbox/reports.ts'
import type { Sandbox } from '../../../../sandbox/src/sandbox.ts'
import { startTestShop } from '../../testing/shop.ts'
import { readSettings, writeSettings } from '../settings/index.ts'
import { blockAddresses, blockOf, liftBlock, recordMailEvents } from './blocked-addresses.ts'
import { forgetAddress } from './recipient.ts'
import { sendMail } from './send-mail.ts'
import { useStarted } from '../../testing/use-started.ts'
import { cancelledMail, readMailLog } from './mail.fixture.ts'
import { blockedAddresses, reportTokens } from './tables.ts'
import { mailRetention } from './index.ts'
import type { MailRequest } from './render-mail.ts'

// The stand-in's mail services accept the mails and send signed reports. No worker runs: the test runs the jobs.
const SHOP = 'http://shop.test'
const service: Sandbox = useStarted(() =>
  launchAlone(SHOP, {
    fetch: (address, init) =>
      fetch(String(address instanceof Request ? address.url : address).replace(SHOP, shop.url), init)
  })
)
const shop = useStarted(() => startTestShop({ config: { sendgridUrl: service.url, mailgunUrl: service.url } }))
const admin = useStarted(() => shop.admin({ username: 'boss' }))

beforeAll(async () => {
  const answer = await fetch(`${service.url}/sandbox/mail/webhook_key`)
  const { public_key: key } = (await answer.json()) as { public_key: string }
  await writeSettings(shop.ctx, {
    sendgrid_webhook_key: key,
    mailgun_webhook_key: MAILGUN_KEY,
    mailgun_api_key: 'key',
    mailgun_sender_domain: 'mg.example.com'
  })
})
beforeEach(() => writeSettings(shop.ctx, { email_method: 'sendgrid' }))

let count = 0
/** An optional mail; `test-mail` cannot be switched off. */
const send = async (to: string, template: 'order-cancelled' | 'test-mail' = 'order-cancelled') => {
  count += 1
  const key = `test:${to}:${count}`
  const data = { at: shop.ctx.now().toISOString() }
  const request: MailRequest = template === 'test-mail' ? { to, key, template, data } : cancelledMail(to, { key })
  await sendMail(shop.ctx, request, `job${count}`)
  return request
}
const logged = (to: string) => readMailLog(admin, to)
const blocks = async (search: string) =>
  (await admin.get<Page<BlockedAddress>>(`/api/settings/mail_blocks/?search=${encodeURIComponent(search)}`)).data.data
/** Has the service report the fate of the last mail to an address. @returns the shop's reply */
async function report(to: string, happened: Happened): Promise<string> {
  const mails = (await (await fetch(`${service.url}/outbox.json`)).json()) as OutboxMail[]
  const id = mails.find(mail => mail.to === to)?.id
  const body = new URLSearchParams({ happened })
  return (await fetch(`${service.url}/outbox/${id}/report`, { method: 'POST', body })).text()
}

test.each(['sendgrid', 'mailgun'] as const)('%s: an address that takes no mail is written to no more', async method => {
  await writeSettings(shop.ctx, { email_method: method })
  const to = `Gone.${method}@example.com`
  await send(to)
  for (const harmless of ['deferred', 'blocked'] as const) {
    expect(await report(to, harmless)).toContain('Told the shop')
    expect(await blockOf(shop.ctx.db, to)).toBeNull()
  }
  expect((await logged(to))[0]).toMatchObject({ state: 'bounced', error_code: 'rejected' })
  await send(to)
  expect(await report(to, 'bounced')).toContain('Told the shop')
  expect(await report(to, 'bounced')).toContain('Told the shop')
  expect(await blocks(to)).toMatchObject([
    { address: to.toLowerCase(), cause: 'bounced', source: method, reason: expect.stringContaining('does not exist') }
  ])
  const [bounced, refused] = await logged(to)
  expect(bounced).toMatchObject({ state: 'bounced', error_code: 'bounced' })
  expect(refused).toMatchObject({ state: 'bounced', error: expect.stringContaining('policy') })
  await send(to.toUpperCase(), 'test-mail')
  expect((await logged(to))[0]).toMatchObject({ state: 'skipped', error_code: 'bounced' })
})

test('who calls a mail spam gets only what cannot be switched off', async () => {
  const to = 'annoyed@example.com'
  await send(to)
  expect(await report(to, 'complained')).toContain('Told the shop')
  expect((await logged(to))[0]).toMatchObject({ state: 'sent', error_code: 'complained' })
  await send(to)
  expect((await logged(to))[0]).toMatchObject({ state: 'skipped', error_code: 'complained' })
  await send(to, 'test-mail')
  expect((await logged(to))[0]).toMatchObject({ state: 'sent', error_code: null })
  // A bounce is the stronger cause, and a complaint does not replace it.
  await report(to, 'bounced')
  await report(to, 'complained')
  expect(await blockOf(shop.ctx.db, to)).toBe('bounced')
})

test('an unsigned report is refused, and changes nothing', async () => {
  const to = 'safe@example.com'
  await send(to)
  const stranger = shop.visitor()
  const event = [{ email: to, event: 'bounce', timestamp: 1_780_000_000 }]
  expect((await stranger.post('/api/mail/sendgrid_events', event)).status).toBe(401)
  const forged = {
    signature: { timestamp: '1', token: 'x', signature: '0'.repeat(64) },
    'event-data': { event: 'complained', recipient: to, timestamp: 1_780_000_000 }
  }
  expect((await stranger.post('/api/mail/mailgun_events', forged)).status).toBe(401)
  expect(await blockOf(shop.ctx.db, to)).toBeNull()
})

test.each(['sendgrid', 'mailgun'] as const)(
  '%s: a page, half a report and one that breaks off change nothing, and the next one counts',
  async name => {
    const to = `report.${name}@example.com`
    await writeSettings(shop.ctx, { email_method: name })
    await send(to)
    const url = new URL(`/api/mail/${name}_events`, shop.url)
    const whole = JSON.stringify({ signature: {}, 'event-data': { event: 'failed', recipient: to } })
    const bodies = [
      ['text/html', '<html>Something is in the way</html>'],
      ['application/json', '<html>Something is in the way</html>'],
      ['application/json', whole.slice(0, whole.length / 2)]
    ] as const
    for (const [type, body] of bodies) {
      const reply = await fetch(url, { method: 'POST', headers: { 'content-type': type }, body })
      expect([400, 401, 415], `${type} ${body}`).toContain(reply.status)
    }
    // It announces more than it sends, and disconnects.
    const asked = request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': String(whole.length + 100) }
    })
    asked.on('error', () => {})
    asked.write(whole, () => asked.destroy())
    await new Promise(left => asked.once('close', left))
    expect(await blockOf(shop.ctx.db, to)).toBeNull()
    expect(await report(to, 'bounced')).toContain('Told the shop')
    expect(await blockOf(shop.ctx.db, to)).toBe('bounced')
  }
)

test.each(['sendgrid', 'mailgun'] as const)(
  '%s: a report signed with a former key is refused, until the key is entered',
  async name => {
    const to = `rotated.${name}@example.com`
    await writeSettings(shop.ctx, { email_method: name })
    await send(to)
    const { sendgrid_webhook_key, mailgun_webhook_key } = await readSettings(shop.ctx.db, shop.ctx.secrets)
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'der' })
    await writeSettings(shop.ctx, {
      sendgrid_webhook_key: other.toString('base64'),
      mailgun_webhook_key: 'another key'
    })
    expect(await report(to, 'bounced')).toContain('401')
    expect(await blockOf(shop.ctx.db, to)).toBeNull()
    await writeSettings(shop.ctx, { sendgrid_webhook_key, mailgun_webhook_key })
    expect(await report(to, 'bounced')).toContain('Told the shop')
    expect(await blockOf(shop.ctx.db, to)).toBe('bounced')
  }
)

test('a report about another address says nothing about the mail', async () => {
  const { to, key } = await send('right@example.com')
  const event = { happened: 'bounced', address: 'wrong@example.com', key, reason: 'full', at: shop.ctx.now() } as const
  await command(shop.ctx, SYSTEM, unit => recordMailEvents(unit, 'sendgrid', [event]))
  expect((await logged(to))[0]).toMatchObject({ state: 'sent', error_code: null })
})

test('an operator lifts a block, and earlier reports do not restore it', async () => {
  const to = 'mended@example.com'
  const at = shop.ctx.now()
  const event = { happened: 'bounced', address: to, key: null, reason: 'full', at } as const
  const take = (when: Date) =>
    command(shop.ctx, SYSTEM, unit =>
      recordMailEvents(unit, 'sendgrid', [
        { ...event, at: when },
        { ...event, at: when }
      ])
    )
  await take(at)
  const [block] = await blocks(to)
  shop.advance(MINUTE)
  const path = `/api/settings/mail_blocks/${block?.id}/lift/`
  expect(await admin.post(path, {})).toMatchObject({ code: 2000 })
  expect((await admin.post(path, {})).status).toBe(404)
  expect(await blocks(to)).toEqual([])
  await take(at)
  expect(await blockOf(shop.ctx.db, to)).toBeNull()
  await send(to)
  expect((await logged(to))[0]).toMatchObject({ state: 'sent' })
  // The service's clock is ahead, but the block can be lifted.
  shop.advance(MINUTE)
  await take(new Date(shop.ctx.now().getTime() + 1000 * MINUTE))
  expect(await blockOf(shop.ctx.db, to)).toBe('bounced')
  shop.advance(MINUTE)
  expect(await admin.post(path, {})).toMatchObject({ code: 2000 })
  expect(await blockOf(shop.ctx.db, to)).toBeNull()
})

test('reports of the same addresses at once, in any sequence, do not hold each other up', async () => {
  const addresses = Array.from({ length: 600 }, (_, i) => `many${i}@example.com`)
  const block = (list: string[]) =>
    command(shop.ctx, SYSTEM, unit =>
      blockAddresses(
        unit,
        list.map(address => ({ address, cause: 'bounced', reason: '', source: 'mailgun', at: shop.ctx.now() }))
      )
    )
  await Promise.all([block(addresses), block(addresses.toReversed()), block(addresses)])
  expect(await shop.ctx.db.$count(blockedAddresses)).toBeGreaterThanOrEqual(600)
})

test('a report that comes before the answer to the mail was written down is not lost', async () => {
  const to = 'quick@example.com'
  const request = cancelledMail(to, { key: 'quick:1' })
  const early = {
    happened: 'bounced',
    address: to,
    key: request.key,
    reason: 'no such user',
    at: shop.ctx.now()
  } as const
  const { ctx } = shop
  const take = () => command(ctx, SYSTEM, unit => recordMailEvents(unit, 'sendgrid', [early]))
  // The service reports before it has replied.
  const quick = { ...ctx, config: { ...ctx.config, sendgridUrl: `${service.url}/quick` } }
  const original = globalThis.fetch
  globalThis.fetch = async (address, init) => {
    await take()
    return original(typeof address === 'string' ? address.replace('/quick', '') : address, init)
  }
  try {
    await sendMail(quick, request, 'quick')
  } finally {
    globalThis.fetch = original
  }
  expect((await logged(to))[0]).toMatchObject({ state: 'bounced', error: 'no such user', error_code: 'bounced' })
})

test('the user, the console and the deletion of an account know of it', async () => {
  const customer = await shop.customer({ username: 'bouncy' })
  const { email, id } = customer.user
  await command(shop.ctx, SYSTEM, unit =>
    blockAddresses(unit, [{ address: email, cause: 'bounced', reason: 'x', source: 'smtp', at: shop.ctx.now() }])
  )
  expect((await customer.get<MailSettings>('/api/users/u/mail_settings/')).data.blocked).toBe('bounced')
  expect((await admin.get<UserDetail>(`/api/users/u/${id}/`)).data.mail_blocked).toBe('bounced')
  const who = {
    username: 'bouncy',
    email,
    since: new Date(0),
    namedSince: new Date(0),
    names: ['bouncy'],
    addresses: [{ address: email, from: new Date(0), until: null }]
  }
  await command(shop.ctx, SYSTEM, unit => forgetAddress(unit, who))
  expect(await blockOf(shop.ctx.db, email)).toBeNull()
})

/** Mailgun signs a time and a token, but not its report. */
const signed = (token: string, ago = 0) => {
  const timestamp = String(Math.floor((shop.ctx.now().getTime() - ago) / 1000))
  return { timestamp, token, signature: createHmac('sha256', MAILGUN_KEY).update(`${timestamp}${token}`).digest('hex') }
}
const reportAs = (signature: object, recipient: string, event: object = { severity: 'permanent', reason: 'bounce' }) =>
  shop.visitor().post('/api/mail/mailgun_events', {
    signature,
    'event-data': { event: 'failed', recipient, timestamp: shop.ctx.now().getTime() / 1000, ...event }
  })

test('a signature counts for one report: with another address it answers the same and changes nothing', async () => {
  const signature = signed('one')
  expect((await reportAs(signature, 'first@example.com')).status).toBe(200)
  for (const victim of ['demo1@example.com', 'admin2@example.com'])
    expect((await reportAs(signature, victim)).status).toBe(200)
  expect(await blockOf(shop.ctx.db, 'first@example.com')).toBe('bounced')
  expect(await blockOf(shop.ctx.db, 'demo1@example.com')).toBeNull()
  expect(await blockOf(shop.ctx.db, 'admin2@example.com')).toBeNull()
  // Nor does it restore a block that an operator lifted, with any time.
  const [row] = await blocks('first@example.com')
  expect(await liftBlock(shop.ctx, SYSTEM, row?.id ?? 0)).toMatchObject({ ok: true })
  shop.advance(MINUTE)
  expect((await reportAs(signature, 'first@example.com')).status).toBe(200)
  expect(await blockOf(shop.ctx.db, 'first@example.com')).toBeNull()
})

test('one that said nothing of an address counts as well, and several at once are one', async () => {
  const harmless = signed('delivered')
  expect((await reportAs(harmless, 'reader@example.com', { event: 'delivered' })).status).toBe(200)
  expect((await reportAs(harmless, 'reader@example.com')).status).toBe(200)
  expect(await blockOf(shop.ctx.db, 'reader@example.com')).toBeNull()
  const many = signed('many')
  const victims = ['a@example.com', 'b@example.com', 'c@example.com']
  for (const { status } of await Promise.all(victims.map(victim => reportAs(many, victim)))) expect(status).toBe(200)
  const blocked = await Promise.all(victims.map(victim => blockOf(shop.ctx.db, victim)))
  expect(blocked.filter(cause => cause !== null)).toHaveLength(1)
})

test('a signature of another day is refused', async () => {
  for (const [token, ago] of [
    ['old', 365 * DAY],
    ['half', 13 * HOUR],
    ['ahead', -HOUR]
  ] as const)
    expect((await reportAs(signed(token, ago), 'old@example.com')).status).toBe(401)
  expect(await blockOf(shop.ctx.db, 'old@example.com')).toBeNull()
  expect((await reportAs(signed('late', 8 * HOUR), 'old@example.com')).status).toBe(200)
})

test('tokens are kept for longer than a signature counts, and not for ever', async () => {
  const entry = mailRetention.find(({ what }) => what === 'mail_report_tokens')
  expect(entry?.keep).toEqual({ ms: DAY })
  await reportAs(signed('kept'), 'kept@example.com')
  shop.advance(13 * HOUR)
  await reportAs(signed('new'), 'new@example.com')
  const before = new Date(shop.ctx.now().getTime() - 12 * HOUR)
  await command(shop.ctx, SYSTEM, async unit => expect(await entry?.remove(unit, before, 1000)).toBeGreaterThan(0))
  expect(await shop.ctx.db.$count(reportTokens)).toBe(1)
})
