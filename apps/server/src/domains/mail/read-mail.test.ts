import { LANGUAGES, type AuditEntry, type MailDetail, type Page } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { expect, test, beforeEach } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { startTestShop } from '../../testing/shop.ts'
import { mailRetention, enqueueMail, forgetAddress } from './index.ts'
import { type MailRequest, renderRequest } from './render-mail.ts'
import { sendMail } from './send-mail.ts'
import { cancelledMail, readMailLog } from './mail.fixture.ts'
import { mailChoices, mailContents, mails } from './tables.ts'
import { TEMPLATES, type Template } from './templates/index.ts'
import { useStarted } from '../../testing/use-started.ts'

// No worker runs: the test runs the jobs.
const shop = useStarted(() => startTestShop({}))
const admin = useStarted(() => shop.admin({ username: 'boss' }))

const CODE = '481516'
const sealedCode = () => ({
  sealed_code: shop.ctx.secrets.seal(CODE).toString('base64'),
  expires_at: new Date(shop.ctx.now().getTime() + 10 * MINUTE).toISOString()
})
const cancelled = (to: string, username = 'Ann', language: MailRequest['language'] = 'en') =>
  cancelledMail(to, {
    key: `cancelled:${to.length}:${to.slice(0, 2)}`,
    language,
    data: { username, order_id: 'NL-1', product_name: 'Plan' }
  })
const open = async (to: string) => {
  const [mail] = await readMailLog(admin, to)
  return (await admin.get<MailDetail>(`/api/settings/mails/${mail?.id}/`)).data
}
const contents = async () => (await shop.ctx.db.select().from(mailContents)).length

test('a mail is shown as the mail service was given it, in its language, and the reading is written down', async () => {
  const request = cancelled('read@example.com', 'Ann', 'zh-CN')
  await sendMail(shop.ctx, request, 'job')
  const [sent] = shop.outbox.mails.filter(({ to }) => to === request.to)
  const shown = await open(request.to)
  expect(shown).toMatchObject({ state: 'sent', language: 'zh-CN', content: { subject: sent?.subject } })
  // The unsubscribe link is for the recipient only.
  const token = /token=([\w-]+)/.exec(sent?.text ?? '')?.[1] ?? ''
  expect(token.length).toBeGreaterThan(20)
  expect(shown.content?.text).toBe(sent?.text.replace(token, '••••••'))
  expect(shown.content?.html).toBe(sent?.html.replace(token, '••••••'))
  const log = await admin.get<Page<AuditEntry>>('/api/settings/audit_log/?limit=1')
  expect(log.data.data).toMatchObject([
    { action: 'mail.read', target_id: String(shown.id), actor: 'boss', after: { template: 'order-cancelled' } }
  ])
  expect((await admin.get('/api/settings/mails/999999/')).status).toBe(404)
})

test('a stored mail contains no code, for any template and language', async () => {
  for (const template of Object.keys(TEMPLATES) as Template[])
    for (const language of LANGUAGES) {
      const code = sealedCode()
      const data = { ...TEMPLATES[template].sample, ...code, sealed_proof: code.sealed_code }
      const request = { to: 'all@example.com', key: 'x', language, template, data } as MailRequest
      const { sent, kept, oneClick } = await renderRequest(shop.ctx, request, TEMPLATES[template].kind)
      const asked = ['sealed_code', 'sealed_proof'].some(name => name in TEMPLATES[template].sample)
      expect(sent.text.includes(CODE), template).toBe(asked)
      // A sample has no token.
      const token = oneClick?.split('token=')[1] || CODE
      for (const secret of [CODE, data.sealed_code, token])
        expect(Object.values(kept).join().includes(secret), `${template} ${language}`).toBe(false)
      if (asked) expect(kept.text).toContain('••••••')
    }
})

test('a code that was mailed is in no table, and its mail is shown with dots', async () => {
  const request: MailRequest = { to: 'code@example.com', key: 'code:1', template: 'forgot-code', data: sealedCode() }
  await sendMail(shop.ctx, request, 'job')
  expect(shop.outbox.mails.find(({ to }) => to === request.to)?.text).toContain(CODE)
  const shown = await open(request.to)
  expect(JSON.stringify(shown)).not.toContain(CODE)
  expect(shown.content?.text).toContain('••••••')
  const { rows } = await shop.ctx.db.execute<{ found: number }>(
    sql`select count(*)::int as found from mail_contents c where c::text like ${`%${CODE}%`}`
  )
  expect(rows).toEqual([{ found: 0 }])
})

test('a permanently failed mail shows what would have been sent, and after Send again what was', async () => {
  const request = cancelled('failed@example.com')
  shop.outbox.fail(400, 1, { errors: [{ message: 'No.', field: 'personalizations.0.to.0.email' }] })
  await sendMail(shop.ctx, request, 'job')
  const failed = await open(request.to)
  expect(failed).toMatchObject({ state: 'failed', content: { subject: 'Your order was cancelled: Plan' } })
  expect((await admin.post(`/api/settings/mails/${failed.id}/send_again/`, {})).code).toBe(2000)
  await sendMail(shop.ctx, request, 'again')
  expect(await open(request.to)).toMatchObject({ state: 'sent', content: failed.content })
})

test('an unneeded mail stores nothing', async () => {
  await sendMail(shop.ctx, cancelled('nobody@deleted.invalid'), 'job')
  expect(await open('nobody@deleted.invalid')).toMatchObject({ state: 'skipped', content: null })
})

test('what mails said goes when its days are over, and that they were sent stays', async () => {
  await sendMail(shop.ctx, cancelled('old@example.com'), 'job')
  const entry = mailRetention.find(({ what }) => what === 'mail_contents')
  expect(entry?.keep).toEqual({ setting: 'keep_mail_contents_days' })
  const before = new Date(shop.ctx.now().getTime() + DAY)
  expect(await command(shop.ctx, SYSTEM, async unit => entry?.remove(unit, before, 1000))).toBeGreaterThan(0)
  expect(await contents()).toBe(0)
  expect(await open('old@example.com')).toMatchObject({ state: 'sent', content: null })
})

test('deleting a user takes what mails said to it, at its former addresses too, and its own download has it before', async () => {
  const customer = await shop.customer({ username: 'Quentina', email: 'quentina@example.com' })
  await customer.put('/api/users/u/mail_settings/', { payments: true, proxies: false, expiry: true })
  await sendMail(shop.ctx, cancelled('quentina@example.com', 'Quentina'), 'job')
  const moved = { username: 'Quentina', at: shop.ctx.now().toISOString(), email: 'quentina@example.com' }
  await sendMail(shop.ctx, { to: 'before@example.com', key: 'm', template: 'email-changed', data: moved }, 'job')
  await sendMail(shop.ctx, cancelled('other@example.com', 'Quentin'), 'job')
  const own = await (await customer.fetch('/api/users/u/data_export')).text()
  expect(own).toContain('Your order was cancelled: Plan')
  const kept = await contents()
  expect((await admin.delete(`/api/users/u/${customer.user.id}/`)).code).toBe(2000)
  expect(await contents()).toBe(kept - 2)
  expect(await shop.ctx.db.$count(mailChoices)).toBe(0)
  const { rows } = await shop.ctx.db.execute(
    sql`select 1 from mails m left join mail_contents c on c.mail_id = m.id
      where (m::text || coalesce(c::text, '')) ~* 'quentina|before@'`
  )
  expect(rows).toEqual([])
  expect(await open('other@example.com')).toMatchObject({ content: { subject: 'Your order was cancelled: Plan' } })
})

test('nothing is written down of what a mail said whose recipient is forgotten while it is on its way', async () => {
  const customer = await shop.customer({ username: 'Rosamund', email: 'rosamund@example.com' })
  shop.outbox.cut(1, () => admin.delete(`/api/users/u/${customer.user.id}/`))
  await sendMail(shop.ctx, cancelled('rosamund@example.com', 'Rosamund'), 'job')
  const { rows } = await shop.ctx.db.execute(sql`select 1 from mail_contents c where c::text ~* 'rosamund'`)
  expect(rows).toEqual([])
})

beforeEach(async () => {
  await shop.ctx.db.execute(sql`delete from pgboss.job`)
  await shop.ctx.db.delete(mails)
})

const HERS = 'Ottilie.Quist@example.org'
const mailTo = (to: string) =>
  cancelledMail(to, { key: `test:${to.length}`, data: { username: 'Ottilie', order_id: 'NL-1', product_name: 'Plan' } })
const enqueue = (request: MailRequest) => command(shop.ctx, SYSTEM, async unit => enqueueMail(unit, request))
const forget = (email: string) => {
  const since = new Date(0)
  const addresses = [{ address: email, from: since, until: null }]
  const user = { username: 'Ottilie', email, since, namedSince: since, names: ['Ottilie'], addresses }
  return command(shop.ctx, SYSTEM, unit => forgetAddress(unit, user))
}
type Kept = { name: string; data: MailRequest; output: unknown }
const jobs = async () =>
  (await shop.ctx.db.execute<Kept>(sql`select name, data, output from pgboss.job order by data ->> 'key'`)).rows

test('a mail that waits is not sent once its address is forgotten, and those of others are', async () => {
  await enqueue(mailTo(HERS))
  await enqueue(mailTo(`x${HERS}`))
  await forget(HERS.toLowerCase())
  const [hers, other] = await jobs()
  expect(JSON.stringify(hers)).not.toMatch(/ottilie/i)
  expect(other?.data).toEqual(mailTo(`x${HERS}`))
  for (const waiting of [hers, other]) if (waiting) await sendMail(shop.ctx, waiting.data, 'job')
  expect(shop.outbox.mails.filter(mail => mail.to.includes(HERS)).map(mail => mail.to)).toEqual([`x${HERS}`])
  expect(await shop.ctx.db.select({ state: mails.state }).from(mails).orderBy(mails.id)).toEqual([
    { state: 'skipped' },
    { state: 'sent' }
  ])
})

test('a waiting mail to the address that names another user is sent, except for the answer to a ticket', async () => {
  const former: MailRequest = { ...mailTo(HERS), key: 'test:1', data: { ...mailTo(HERS).data, username: 'Rudi' } }
  const answer = { username: 'O. Quist', ticket: 1, message: 'Help me', answer: 'We do' }
  await enqueue(former)
  await enqueue({ to: HERS, key: 'test:2', template: 'ticket-answer', data: answer })
  await forget(HERS)
  const [kept, gone] = await jobs()
  expect(kept?.data).toEqual(former)
  expect(JSON.stringify(gone)).not.toMatch(/quist|help/i)
})

test('a dead letter of a mail, and one that has ended, lose what they said and what the service answered', async () => {
  const data = JSON.stringify(mailTo(HERS))
  const output = JSON.stringify({ message: `Email not sent. 550 <${HERS}> is full` })
  await shop.ctx.db.execute(sql`insert into pgboss.job (name, data, output, state, source_name) values
    ('dead-letter', ${data}::jsonb, ${output}::jsonb, 'created', 'send-mail'),
    ('dead-letter', ${JSON.stringify({ to: HERS })}::jsonb, null, 'created', 'tag-platform-order'),
    ('send-mail', ${data}::jsonb, ${output}::jsonb, 'retry', null),
    ('send-mail', ${data}::jsonb, null, 'completed', null)`)
  await forget(HERS)
  const kept = await jobs()
  const ofMails = kept.filter(({ data: { key } }) => key)
  expect(ofMails.map(({ name }) => name).toSorted()).toEqual(['dead-letter', 'send-mail', 'send-mail'])
  expect(JSON.stringify(ofMails)).not.toMatch(/ottilie/i)
  expect(ofMails.map(({ data: { key, template } }) => `${template} ${key}`)).toEqual(
    Array.from({ length: 3 }, () => `order-cancelled ${mailTo(HERS).key}`)
  )
})

test('a mail that is on its way while its address is forgotten is neither sent again nor kept', async () => {
  shop.outbox.cut(1, () => forget(HERS))
  await sendMail(shop.ctx, mailTo(HERS), 'job')
  expect(await jobs()).toEqual([])
  const [kept] = await shop.ctx.db.select().from(mails)
  expect(kept).toMatchObject({ to: 'deleted', state: 'failed', error: null, carried: null })
})

test('the mail about a deleted account leaves no trace of it, even if it fails permanently', async () => {
  const gone = { username: 'Ottilie', at: '2026-11-21T10:00:00.000Z' }
  shop.outbox.fail(400, 1, { errors: [{ message: `No such user: ${HERS}`, field: 'personalizations.0.to.0.email' }] })
  await sendMail(shop.ctx, { to: HERS, key: 'account-deleted:1', template: 'account-deleted', data: gone }, 'job')
  const [kept] = await shop.ctx.db.select().from(mails)
  expect(kept).toMatchObject({ state: 'failed', errorCode: 'rejected' })
  expect(JSON.stringify(kept)).not.toMatch(/ottilie/i)
})
