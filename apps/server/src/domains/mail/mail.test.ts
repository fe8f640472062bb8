import { readFileSync } from 'node:fs'
import { sql } from '../../infra/db/drizzle.ts'
import { expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { startTestShop } from '../../testing/shop.ts'
import { writeSettings } from '../settings/index.ts'
import { enqueueMail, mailJobs } from './index.ts'
import { URGENT } from '../../infra/jobs.ts'
import { DEFAULT_BRAND } from './mail.fixture.ts'
import { renderTemplate, TEMPLATES, type Template } from './templates/index.ts'
import { useStarted } from '../../testing/use-started.ts'
import { priorityOf } from './send-mail.ts'

const shop = useStarted(() => startTestShop({ routes: () => undefined, jobs: mailJobs }))

const reminder = (username = 'Ann') => ({
  username,
  order_id: 'A1',
  product_name: 'Plan <b>&',
  proxies: 8,
  expires_at: '2026-11-24T10:00:00.000Z',
  last: false,
  renew_url: 'https://shop.example.com/renew?a=1&b="2"'
})
const context = {
  language: 'en' as const,
  shopUrl: 'https://shop.example.com',
  brand: DEFAULT_BRAND,
  now: new Date('2026-11-21T10:00:00Z'),
  open: (text: string) => text
}

test.each(['en', 'zh-CN'])('each template has a name in the console: %s', language => {
  const file = new URL(`../../../../web/src/i18n/admin.${language}.json`, import.meta.url)
  const words = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
  expect(Object.keys(TEMPLATES).filter(template => !words[`mails.name.${template}`])).toEqual([])
})

test('a mail goes out if, and only if, the transaction commits', async () => {
  const { db } = shop.ctx
  const send = (to: string, fail: boolean) =>
    command(shop.ctx, SYSTEM, async unit => {
      enqueueMail(unit, { to, template: 'expiry-reminder', data: reminder(), key: `reminder:${to}` })
      if (fail) throw new Error('rolled back')
    })
  await expect(send('never@example.com', true)).rejects.toThrow('rolled back')
  await send('sent@example.com', false)
  const [mail] = await shop.outbox.waitFor('sent@example.com')
  expect(mail?.subject).toBe('Your proxies expire on 2026-11-24 10:00 UTC')
  expect(mail?.text).toContain('Renew this order: https://shop.example.com/renew?a=1&b="2"')
  const { rows } = await db.execute(sql`select 1 from pgboss.job where data->>'to' = 'never@example.com'`)
  expect(rows).toEqual([])
})

test('while one mail waits, asking again for the same cause adds none', async () => {
  const order = { to: 'a@example.com', template: 'expiry-reminder', data: reminder(), key: 'reminder:1' } as const
  for (let n = 0; n < 2; n++) await command(shop.ctx, SYSTEM, async unit => enqueueMail(unit, order))
  const { rows } = await shop.ctx.db.execute(sql`select 1 from pgboss.job where data->>'to' = ${order.to}`)
  expect(rows).toHaveLength(1)
})

test('a mail service that fails is asked again; a recipient that it refuses is not', async () => {
  const { db } = shop.ctx
  const data = { subject: 'Server down', text: 'fr-1 does not respond.' }
  shop.outbox.fail(503, 1)
  await command(shop.ctx, SYSTEM, async unit =>
    enqueueMail(unit, { to: 'again@example.com', template: 'admin-notice', data, key: 'notice:again' })
  )
  await shop.drain()
  shop.advance(MINUTE)
  expect(await shop.outbox.waitFor('again@example.com')).toHaveLength(1)

  const field = 'personalizations.0.to.0.email'
  shop.outbox.fail(400, 1, { errors: [{ message: 'Does not contain a valid address.', field }] })
  await command(shop.ctx, SYSTEM, async unit =>
    enqueueMail(unit, { to: 'refused@example.com', template: 'admin-notice', data, key: 'notice:refused' })
  )
  await shop.drain()
  const { rows } = await db.execute(sql`select state from pgboss.job where data->>'to' = 'refused@example.com'`)
  expect(rows).toEqual([{ state: 'completed' }])
  expect(shop.outbox.mails.some(mail => mail.to === 'refused@example.com')).toBe(false)
})

test('a code that expired while it waited is not sent', async () => {
  const { db, secrets, now } = shop.ctx
  const sealed_code = secrets.seal('123456').toString('base64')
  const expired = { sealed_code, expires_at: new Date(now().getTime() - 1000).toISOString() }
  await command(shop.ctx, SYSTEM, async unit =>
    enqueueMail(unit, { to: 'late@example.com', template: 'sign-up-code', data: expired, key: 'code:late' })
  )
  await shop.drain()
  const { rows } = await db.execute(sql`select state from pgboss.job where data->>'to' = 'late@example.com'`)
  expect(rows).toEqual([{ state: 'completed' }])
  expect(shop.outbox.mails.some(mail => mail.to === 'late@example.com')).toBe(false)
})

test('without a key the mail waits for an administrator to set one', async () => {
  const { db } = shop.ctx
  await writeSettings(shop.ctx, { sendgrid_api_key: '' })
  const data = { subject: 'Later', text: 'x' }
  await command(shop.ctx, SYSTEM, async unit =>
    enqueueMail(unit, { to: 'later@example.com', template: 'admin-notice', data, key: 'notice:later' })
  )
  await shop.drain()
  const { rows } = await db.execute<{ output: unknown }>(
    sql`select output from pgboss.job where data->>'to' = 'later@example.com' and state = 'retry'`
  )
  expect(JSON.stringify(rows[0]?.output)).toContain('Enter the SendGrid API key under Web Settings, Email.')
  await writeSettings(shop.ctx, { sendgrid_api_key: 'test' })
  shop.advance(MINUTE)
  expect(await shop.outbox.waitFor('later@example.com')).toHaveLength(1)
})

test('what people typed is text in the HTML, and one line in the subject', () => {
  const mail = renderTemplate('expiry-reminder', reminder('<script>alert(1)</script>'), context)
  expect(mail.html).toMatch(/^<!DOCTYPE html PUBLIC .*><html dir="ltr" lang="en">/)
  expect(mail.html).not.toContain('<!--$-->')
  expect(mail.html).not.toContain('<script')
  expect(mail.html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  expect(mail.html).toContain('Plan &lt;b&gt;&amp;')
  expect(mail.html).toContain('href="https://shop.example.com/renew?a=1&amp;b=&quot;2&quot;"')
  expect(mail.text).toContain('<script>alert(1)</script>')
  const notice = renderTemplate('admin-notice', { subject: 'Down\r\nBcc: all@example.com', text: 'x' }, context)
  expect(notice.subject).toBe('Down Bcc: all@example.com')
})

test('the mail of a delivery says what was delivered, until when, and links to it', () => {
  const data = { ...reminder(), dashboard_url: 'https://shop.example.com/dashboard/index/proxies' }
  const { text } = renderTemplate('proxies-delivered', data, context)
  for (const said of ['Plan <b>&', ': 8\n', '2026-11-24 10:00 UTC', data.dashboard_url]) expect(text).toContain(said)
})

test('a code is in the mail, with how long it is valid', () => {
  const data = { sealed_code: '042137', expires_at: '2026-11-21T10:10:00.000Z' }
  for (const template of ['sign-up-code', 'forgot-code'] as const) {
    const mail = renderTemplate(template, data, context)
    expect(mail.text).toContain('    042137')
    expect(mail.html).toContain('042137')
    expect(mail.text).toContain('valid for 10 minutes')
    expect(mail.subject).not.toContain('042137')
  }
})

test('a code leaves before the reminders and notices that were waiting already, and mails of an order before news', async () => {
  await shop.drain()
  const at = new Date(shop.ctx.now().getTime() + 600_000).toISOString()
  const order = { username: 'Ann', order_id: 'NL-1', product_name: 'Plan' }
  const incident = { ...TEMPLATES['status-incident'].sample, started_at: at, sealed_token: '' }
  const code = { sealed_code: shop.ctx.secrets.seal('123456').toString('base64'), expires_at: at }
  const before = shop.outbox.mails.length
  await command(shop.ctx, SYSTEM, async unit => {
    enqueueMail(unit, { to: 'subscriber@example.com', template: 'status-incident', data: incident, key: 'a' })
    enqueueMail(unit, {
      to: 'concerned@example.com',
      template: 'server-outage',
      data: { ...order, addresses: 8, since: at },
      key: 'b'
    })
    enqueueMail(unit, { to: 'buyer@example.com', template: 'order-cancelled', data: order, key: 'c' })
    enqueueMail(unit, { to: 'owner@example.com', template: 'sign-up-code', data: code, key: 'd' })
  })
  await shop.drain()
  const [first, second, ...news] = shop.outbox.mails.slice(before).map(({ to }) => to.split('@')[0])
  expect([first, second]).toEqual(['owner', 'buyer'])
  expect(new Set(news)).toEqual(new Set(['concerned', 'subscriber']))
})

test('no mail but one with a code takes the workers that are kept for urgent ones', () => {
  const all = Object.keys(TEMPLATES) as Template[]
  const urgent = all.filter(template => priorityOf({ template, data: TEMPLATES[template].sample }) >= URGENT)
  expect(urgent).toEqual(all.filter(template => 'sealed_code' in TEMPLATES[template].sample))
})
