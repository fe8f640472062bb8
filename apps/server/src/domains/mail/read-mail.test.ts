import { LANGUAGES, type AuditEntry, type MailDetail, type Page, type SentMail } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHttpApp } from '../../app.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { allQueues } from '../../workers.ts'
import { mailRetention } from './index.ts'
import { renderOrder } from './render-order.ts'
import type { MailOrder } from './mail-order.ts'
import { sendMail } from './send-mail.ts'
import { mailContents } from './tables.ts'
import { TEMPLATES, type Template } from './templates/index.ts'

// Nothing works on the queue: the test runs the jobs.
let shop: TestShop
let admin: Awaited<ReturnType<TestShop['admin']>>
beforeAll(async () => {
  shop = await startTestShop({ app: createHttpApp, queues: allQueues })
  admin = await shop.admin({ username: 'boss' })
})
afterAll(() => shop?.close())

const CODE = '481516'
const sealedCode = () => ({
  sealed_code: shop.ctx.secrets.seal(CODE).toString('base64'),
  expires_at: new Date(shop.ctx.now().getTime() + 10 * MINUTE).toISOString()
})
const cancelled = (to: string, username = 'Ann', language: MailOrder['language'] = 'en'): MailOrder => ({
  to,
  key: `cancelled:${to.length}:${to.slice(0, 2)}`,
  language,
  template: 'order-cancelled',
  data: { username, order_id: 'NL-1', product_name: 'Plan' }
})
const logged = async (search: string) =>
  (await admin.get<Page<SentMail>>(`/api/settings/mails/?search=${encodeURIComponent(search)}`)).data.data
const open = async (to: string) => {
  const [mail] = await logged(to)
  return (await admin.get<MailDetail>(`/api/settings/mails/${mail?.id}/`)).data
}
const contents = async () => (await shop.ctx.db.select().from(mailContents)).length

test('a mail is shown as the mail service was given it, in its language, and the reading is written down', async () => {
  const order = cancelled('read@example.com', 'Ann', 'zh-CN')
  await sendMail(shop.ctx, order, 'job')
  const [sent] = shop.outbox.mails.filter(({ to }) => to === order.to)
  const shown = await open(order.to)
  expect(shown).toMatchObject({ state: 'sent', language: 'zh-CN', content: { subject: sent?.subject } })
  // The link to unsubscribe is its recipient's alone.
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

test('no code stands in what is kept of a mail, whatever the template and the language', async () => {
  for (const template of Object.keys(TEMPLATES) as Template[])
    for (const language of LANGUAGES) {
      const data = { ...TEMPLATES[template].sample, ...sealedCode() }
      const order = { to: 'all@example.com', key: 'x', language, template, data } as MailOrder
      const { sent, kept, oneClick } = await renderOrder(shop.ctx, order, TEMPLATES[template].kind)
      const asked = 'sealed_code' in TEMPLATES[template].sample
      expect(sent.text.includes(CODE), template).toBe(asked)
      // A sample has no token.
      const token = oneClick?.split('token=')[1] || CODE
      for (const secret of [CODE, data.sealed_code, token])
        expect(Object.values(kept).join().includes(secret), `${template} ${language}`).toBe(false)
      if (asked) expect(kept.text).toContain('••••••')
    }
})

test('a code that was mailed is in no table, and its mail is shown with dots', async () => {
  const order: MailOrder = { to: 'code@example.com', key: 'code:1', template: 'forgot-code', data: sealedCode() }
  await sendMail(shop.ctx, order, 'job')
  expect(shop.outbox.mails.find(({ to }) => to === order.to)?.text).toContain(CODE)
  const shown = await open(order.to)
  expect(JSON.stringify(shown)).not.toContain(CODE)
  expect(shown.content?.text).toContain('••••••')
  const { rows } = await shop.ctx.db.execute<{ found: number }>(
    sql`select count(*)::int as found from mail_contents c where c::text like ${`%${CODE}%`}`
  )
  expect(rows).toEqual([{ found: 0 }])
})

test('one that failed for good shows what would have been sent, and after Send again what was', async () => {
  const order = cancelled('failed@example.com')
  shop.outbox.fail(400, 1, { errors: [{ message: 'No.', field: 'personalizations.0.to.0.email' }] })
  await sendMail(shop.ctx, order, 'job')
  const failed = await open(order.to)
  expect(failed).toMatchObject({ state: 'failed', content: { subject: 'Your order was cancelled: Plan' } })
  expect((await admin.post(`/api/settings/mails/${failed.id}/send_again/`, {})).code).toBe(2000)
  await sendMail(shop.ctx, order, 'again')
  expect(await open(order.to)).toMatchObject({ state: 'sent', content: failed.content })
})

test('nothing is kept of a mail that nobody needed', async () => {
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
  await sendMail(shop.ctx, cancelled('quentina@example.com', 'Quentina'), 'job')
  const moved = { username: 'Quentina', at: shop.ctx.now().toISOString(), email: 'quentina@example.com' }
  await sendMail(shop.ctx, { to: 'before@example.com', key: 'm', template: 'email-changed', data: moved }, 'job')
  await sendMail(shop.ctx, cancelled('other@example.com', 'Quentin'), 'job')
  const own = await (await customer.fetch('/api/users/u/data_export')).text()
  expect(own).toContain('Your order was cancelled: Plan')
  const kept = await contents()
  expect((await admin.delete(`/api/users/u/${customer.user.id}/`)).code).toBe(2000)
  expect(await contents()).toBe(kept - 2)
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
