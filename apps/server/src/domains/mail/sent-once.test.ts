import { eq, sql } from '../../infra/db/drizzle.ts'
import { expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { startTestShop } from '../../testing/shop.ts'
import { allJobs, allQueues } from '../../workers.ts'
import { createHttpApp } from '../../app.ts'
import { enqueueMail, mailRetention } from './index.ts'
import { TEMPLATES } from './templates/index.ts'
import { sendMail } from './send-mail.ts'
import { useStarted } from '../../testing/use-started.ts'
import { cancelledMail, readMailLog } from './mail.fixture.ts'
import { COPY_PAUSE_MINUTES, LANGUAGES, type MailChoices, type MailPreview, MOST_COPIES } from '@netlet/contract'
import { auditLog } from '../../infra/tables.ts'
import { blockAddresses } from './blocked-addresses.ts'
import { mails } from './tables.ts'
import type { MailRequest } from './render-mail.ts'

const shop = useStarted(() =>
  startTestShop({
    app: createHttpApp,
    jobs: allJobs.filter(({ queue }) => queue.name === 'send-mail'),
    queues: allQueues
  })
)
const admin = useStarted(() => shop.admin({ username: 'boss' }))

const cancelled = (to: string, key: string, language: MailRequest['language'] = 'en') =>
  cancelledMail(to, { key, language })
const ask = (request: MailRequest) => command(shop.ctx, SYSTEM, async unit => enqueueMail(unit, request))
const logged = (search: string) => readMailLog(admin, search)
const ended = async (to: string, count = 1) => {
  await shop.drain()
  const found = await logged(to)
  expect(found.filter(mail => mail.state !== 'waiting')).toHaveLength(count)
  return found
}
/** SendGrid's words. */
const NO_SUCH_RECIPIENT = {
  errors: [{ message: 'Does not contain a valid address.', field: 'personalizations.0.to.0.email' }]
}
/** One click, posted as mail programs do (RFC 8058); `fill` is another part of the form. */
const multipart = (path: string, fill = '') => {
  const part = (name: string, value: string) =>
    `--xx\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  return fetch(`${shop.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=xx' },
    body: `${part('List-Unsubscribe', 'One-Click')}${part('fill', fill)}--xx--\r\n`
  })
}
const sentTo = (to: string) => shop.outbox.mails.filter(mail => mail.to === to)

test('a cause is mailed about once, for ever', async () => {
  const request = cancelled('once@example.com', 'cancelled:1')
  await ask(request)
  const [mail] = await ended(request.to)
  expect(mail).toMatchObject({ state: 'sent', template: 'order-cancelled', kind: 'payments', error: null })
  expect(mail?.provider_id).not.toBeNull()
  // Enqueued again after the first was sent, by other jobs and concurrently.
  await Promise.all(['a', 'b', 'c'].map(jobId => sendMail(shop.ctx, request, jobId)))
  await ask(request)
  await ask(cancelled('once@example.com', 'cancelled:2'))
  await ended(request.to, 2)
  expect(sentTo(request.to)).toHaveLength(2)
})

test('jobs of the same mail at once: one sends it, the others wait for what came of it', async () => {
  const request = cancelled('race@example.com', 'cancelled:3')
  const tries = await Promise.allSettled(['a', 'b', 'c', 'd'].map(jobId => sendMail(shop.ctx, request, jobId)))
  expect(tries.filter(one => one.status === 'fulfilled').length).toBeGreaterThan(0)
  for (const one of tries) if (one.status === 'rejected') expect(String(one.reason)).toContain('Another job is sending')
  expect(sentTo(request.to)).toHaveLength(1)
})

test('a mail whose job died while it was sent is sent by the next one', async () => {
  const request = cancelled('died@example.com', 'cancelled:4')
  const now = shop.ctx.now()
  await shop.ctx.db.execute(sql`insert into mails (created_at, key, "to", template, kind, language, job_id, claimed_at)
    values (now(), ${request.key}, ${request.to}, ${request.template}, 'payments', 'en', 'dead', ${now})`)
  await expect(sendMail(shop.ctx, request, 'next')).rejects.toThrow('Another job is sending')
  shop.advance(3 * MINUTE)
  await sendMail(shop.ctx, request, 'next')
  expect(sentTo(request.to)).toHaveLength(1)
})

test('a permanently refused mail and an unneeded one say why', async () => {
  shop.outbox.fail(400, 1, NO_SUCH_RECIPIENT)
  await ask(cancelled('refused@example.com', 'cancelled:5'))
  const [refused] = await ended('refused@example.com')
  expect(refused?.state).toBe('failed')
  expect(refused?.error).toContain('refused the email')
  await ask(cancelled('deleted-3@deleted.invalid', 'cancelled:6'))
  expect(await ended('deleted-3@deleted.invalid')).toMatchObject([
    { state: 'skipped', error: 'the address does not exist', error_code: 'no_such_address' }
  ])
  expect(sentTo('deleted-3@deleted.invalid')).toEqual([])
})

test('a customer switches kinds of mail off; security notices and codes still come', async () => {
  const customer = await shop.customer({ username: 'quiet', email: 'Quiet@example.com' })
  const path = '/api/users/u/mail_settings/'
  expect((await customer.get<MailChoices>(path)).data).toEqual({
    payments: true,
    proxies: true,
    expiry: true,
    blocked: null
  })
  const choices = { payments: false, proxies: true, expiry: true }
  expect((await customer.put(path, choices)).data).toEqual(choices)
  expect((await customer.get(path)).data).toEqual({ ...choices, blocked: null })
  // Only these can be chosen.
  expect((await customer.put(path, { payments: false })).status).toBe(400)
  expect((await customer.put(path, { ...choices, payments: 'no' })).status).toBe(400)
  await ask(cancelled('quiet@example.com', 'cancelled:7'))
  expect(await ended('quiet@example.com')).toMatchObject([
    { state: 'skipped', error: 'turned off by its recipient', error_code: 'switched_off' }
  ])
  const sealed_code = shop.ctx.secrets.seal('123456').toString('base64')
  const expires_at = new Date(shop.ctx.now().getTime() + MINUTE).toISOString()
  await ask({ to: 'quiet@example.com', template: 'forgot-code', data: { sealed_code, expires_at }, key: 'code:7' })
  expect(await ended('quiet@example.com', 2)).toMatchObject([{ state: 'sent' }, { state: 'skipped' }])
  // They have no unsubscribe link.
  const [code] = sentTo('quiet@example.com')
  expect([code?.text.includes('unsubscribe'), code?.headers['List-Unsubscribe']]).toEqual([false, undefined])
  // The choice belongs to the person and moves to the new address.
  const me = await admin.get<{ data: { id: number; version: string; username: string }[] }>(
    '/api/users/u/?search=quiet'
  )
  const { id, version } = me.data.data[0] ?? { id: 0, version: '' }
  expect((await admin.put(`/api/users/u/${id}/`, { email: 'moved@example.com', version })).code).toBe(2000)
  expect((await customer.get(path)).data).toEqual({ ...choices, blocked: null })
})

test('a whole address finds its own mails, in any case; a part finds all that have it', async () => {
  await ask(cancelled('bob@parts.example', 'parts:1'))
  await ask(cancelled('jimbob@parts.example', 'parts:2'))
  await ended('@parts.example', 2)
  const found = async (text: string) => (await logged(text)).map(mail => mail.to)
  expect(await found('Bob@Parts.example')).toEqual(['bob@parts.example'])
  // Both jobs run concurrently, so either mail may be logged first.
  expect((await found('ob@parts.example')).toSorted()).toEqual(['bob@parts.example', 'jimbob@parts.example'])
  expect(await found('jimbob')).toEqual(['jimbob@parts.example'])
})

test('the link in a mail switches off its kind without a login, by a page and by one click of a mail program', async () => {
  const request = cancelled('link@example.com', 'cancelled:8')
  await ask(request)
  const [mail] = await shop.outbox.waitFor(request.to)
  const page = /http:\/\/shop\.example\.com\/unsubscribe\?token=([\w-]+)/.exec(mail?.text ?? '')
  expect(page).not.toBeNull()
  expect(mail?.html).toContain(page?.[0])
  const header = mail?.headers['List-Unsubscribe'] ?? ''
  expect(mail?.headers['List-Unsubscribe-Post']).toBe('List-Unsubscribe=One-Click')
  const oneClick = new URL(header.slice(1, -1))
  expect(oneClick.pathname).toBe('/api/mail/unsubscribe/')
  // The link does not contain the address, and opening it changes nothing: mail scanners open every link.
  expect(decodeURIComponent(header)).not.toContain('link@')
  const opened = await fetch(`${shop.url}${oneClick.pathname}${oneClick.search}`, { redirect: 'manual' })
  expect([opened.status, opened.headers.get('location')]).toEqual([302, `/unsubscribe?token=${page?.[1]}`])
  const visitor = shop.visitor()
  for (const token of [
    '',
    'x',
    `${page?.[1]}x`,
    shop.ctx.secrets.seal('["other","link@example.com","payments"]').toString('base64url')
  ]) {
    expect((await visitor.post(`/api/mail/unsubscribe/?token=${token}`)).status, token).toBe(400)
  }
  await ask(cancelled(request.to, 'cancelled:9'))
  expect((await ended(request.to, 2)).every(({ state }) => state === 'sent')).toBe(true)
  const clicked = await fetch(`${shop.url}${oneClick.pathname}${oneClick.search}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click'
  })
  expect(clicked.status).toBe(200)
  const again = await visitor.post(`/api/mail/unsubscribe/?token=${page?.[1]}`)
  expect(again.data).toEqual({ kind: 'payments' })
  await ask(cancelled(request.to, 'cancelled:10'))
  const all = await ended(request.to, 3)
  expect(all.find(({ state }) => state === 'skipped')?.error).toBe('turned off by its recipient')
  // No other call accepts a form.
  expect((await multipart('/api/auth/login')).status).toBe(415)
  const form = await fetch(`${shop.url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'username=a'
  })
  expect(form.status).toBe(415)
})

test('one click is taken as the form that mail programs should send, and no larger one', async () => {
  const request = cancelled('multipart@example.com', 'cancelled:30')
  await ask(request)
  const [mail] = await shop.outbox.waitFor(request.to)
  const oneClick = new URL((mail?.headers['List-Unsubscribe'] ?? '').slice(1, -1))
  expect((await multipart(oneClick.pathname + oneClick.search, 'x'.repeat(20_000))).status).toBe(413)
  const clicked = await multipart(oneClick.pathname + oneClick.search)
  expect([clicked.status, await clicked.json()]).toMatchObject([200, { data: { kind: 'payments' } }])
  await ask(cancelled(request.to, 'cancelled:31'))
  expect((await ended(request.to, 2)).map(({ state }) => state).toSorted()).toEqual(['sent', 'skipped'])
  // Links of the status page also work, with a valid token.
  expect((await multipart('/api/status/unsubscribe/?token=x')).status).toBe(400)
})

test('mails come in the language that the user chose', async () => {
  const customer = await shop.customer({ username: 'reader' })
  expect((await customer.put('/api/users/u/language/', { language: 'zh-CN' })).code).toBe(2000)
  expect((await customer.put('/api/users/u/language/', { language: 'fr' })).status).toBe(400)
  const { rows } = await shop.ctx.db.execute(sql`select language from users where username = 'reader'`)
  expect(rows).toEqual([{ language: 'zh-CN' }])
  await ask(cancelled('zh@example.com', 'cancelled:11', 'zh-CN'))
  const [mail] = await shop.outbox.waitFor('zh@example.com')
  expect(mail?.subject).toBe('您的订单已取消：Plan')
  expect(mail?.text).toContain('不再接收此类邮件')
})

test('the console shows every template in both languages, and no code', async () => {
  const { data } = await admin.get<MailPreview[]>('/api/settings/mail_templates/')
  expect(data).toHaveLength(Object.keys(TEMPLATES).length * LANGUAGES.length)
  for (const { template, language, subject, html, text } of data) {
    for (const part of [subject, html, text]) {
      expect(part, `${template} ${language}`).not.toBe('')
      expect(part, `${template} ${language}`).not.toMatch(/undefined|\[object|NaN|Invalid Date/)
    }
    if (language === 'zh-CN' && !['admin-notice', 'notice'].includes(template))
      expect(subject, template).toMatch(/[\u4e00-\u9fff]/)
  }
})

const again = (id: number) => admin.post(`/api/settings/mails/${id}/send_again/`, {})
/** Sends the requested copies, as a worker would. */
async function sendCopies(request: MailRequest): Promise<void> {
  const waiting = await shop.ctx.db
    .select({ key: mails.key })
    .from(mails)
    .where(sql`${mails.to} = ${request.to} and ${mails.state} = 'waiting'`)
  for (const { key } of waiting) await sendMail(shop.ctx, { ...request, key }, key)
}
async function sent(to: string) {
  const request = cancelledMail(to)
  await sendMail(shop.ctx, request, 'first')
  const [mail] = await logged(to)
  if (!mail) throw new Error('the mail is not in the log')
  return { request, id: mail.id }
}
const pause = () => shop.advance(COPY_PAUSE_MINUTES * MINUTE)

test('a mail that was sent is sent again as a mail of its own, with what it said, and audited', async () => {
  const { request, id } = await sent('lost@example.com')
  expect(await logged(request.to)).toMatchObject([{ state: 'sent', send_again: 'possible' }])
  pause()
  expect(await again(id)).toMatchObject({ code: 2000 })
  expect(await logged(request.to)).toMatchObject([{ state: 'waiting', send_again: 'waits' }, { state: 'sent' }])
  await sendCopies(request)
  const [first, copy] = sentTo(request.to)
  expect(copy?.subject).toBe(first?.subject)
  // Except for each one's own unsubscribe link.
  expect(copy?.text.split('http')[0]).toBe(first?.text.split('http')[0])
  expect(await logged(request.to)).toMatchObject([{ state: 'sent' }, { state: 'sent' }])
  const [entry] = await shop.ctx.db
    .select({ action: auditLog.action, after: auditLog.after })
    .from(auditLog)
    .where(sql`${auditLog.targetType} = 'mail' and ${auditLog.targetId} = ${String(id)}`)
  expect(entry).toEqual({ action: 'mail.send_again', after: { template: request.template, copy: 1 } })
})

test('of many clicks at once one sends a copy; the next is possible after a pause, and only so often, from each copy', async () => {
  const { request, id } = await sent('often@example.com')
  expect(await again(id)).toMatchObject({ status: 409, msg: expect.stringContaining('less than 10 minutes ago') })
  for (let copy = 1; copy <= MOST_COPIES; copy += 1) {
    pause()
    const newest = (await logged(request.to))[0]?.id ?? id
    const clicks = await Promise.all([again(id), again(newest), again(id)])
    expect(clicks.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409, 409])
    await sendCopies(request)
    expect(sentTo(request.to)).toHaveLength(1 + copy)
  }
  pause()
  expect(await again(id)).toMatchObject({ status: 409, msg: 'This email has already been resent 5 times' })
})

test('no copy of a mail with a code, of an unneeded one, or to an address that takes none', async () => {
  const code: MailRequest<'sign-up-code'> = {
    to: 'code@example.com',
    key: 'code:1',
    template: 'sign-up-code',
    data: {
      sealed_code: shop.ctx.secrets.seal('123456').toString('base64'),
      expires_at: new Date(shop.ctx.now().getTime() + 10 * MINUTE).toISOString()
    }
  }
  await sendMail(shop.ctx, code, 'first')
  const [withCode] = await logged(code.to)
  expect(withCode).toMatchObject({ state: 'sent', send_again: 'not_kept' })
  const [row] = await shop.ctx.db.select({ carried: mails.carried }).from(mails).where(eq(mails.key, code.key))
  expect(row?.carried).toBeNull()
  pause()
  expect((await again(withCode?.id ?? 0)).status).toBe(404)

  const { id, request } = await sent('gone@example.com')
  const block = { address: request.to, cause: 'bounced', reason: '550', source: 'smtp', at: shop.ctx.now() } as const
  await command(shop.ctx, SYSTEM, unit => blockAddresses(unit, [block]))
  pause()
  expect(await again(id)).toMatchObject({ status: 409, msg: expect.stringContaining('is blocked') })
  const needless = { ...cancelledMail('gone@example.com'), key: 'cancelled:needless' }
  await sendMail(shop.ctx, needless, 'first')
  expect((await logged(request.to))[0]).toMatchObject({ state: 'skipped', send_again: 'needless' })
})

test('when what a mail said is not kept any more, nothing is kept to send it again', async () => {
  const { id, request } = await sent('old@example.com')
  const contents = mailRetention.find(({ what }) => what === 'mail_contents')
  shop.advance(DAY)
  await command(shop.ctx, SYSTEM, unit => contents?.remove(unit, shop.ctx.now(), 1000) ?? Promise.resolve(0))
  expect(await logged(request.to)).toMatchObject([{ state: 'sent', send_again: 'not_kept' }])
  expect((await again(id)).status).toBe(404)
})
