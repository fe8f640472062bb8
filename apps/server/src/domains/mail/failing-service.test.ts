import type { Health, SentMail } from '@netlet/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { createHttpApp } from '../../app.ts'
import { allQueues } from '../../workers.ts'
import type { MailOrder } from './mail-order.ts'
import { sendMail } from './send-mail.ts'

// Nothing works on the queue: the test runs the jobs, at the times that it chooses.
let shop: TestShop
let admin: Awaited<ReturnType<TestShop['admin']>>
beforeAll(async () => {
  shop = await startTestShop({ app: createHttpApp, queues: allQueues })
  admin = await shop.admin({ username: 'boss' })
})
afterAll(() => shop?.close())

const mailTo = (to: string): MailOrder<'order-cancelled'> => ({
  to,
  key: `test:${to}`,
  template: 'order-cancelled',
  data: { username: 'Ann', order_id: 'NL-1', product_name: 'Plan' }
})
const logged = async (to: string) =>
  (await admin.get<{ data: SentMail[] }>(`/api/settings/mails/?search=${encodeURIComponent(to)}`)).data.data[0]
const copies = (to: string) => shop.outbox.mails.filter(mail => mail.to === to).length
const waiting = async (to: string) => {
  const { rows } = await shop.ctx.db.execute<{ start_after: string }>(
    `select start_after from pgboss.job where name = 'send-mail' and state = 'created' and data ->> 'to' = '${to}'`
  )
  return rows.map(row => Date.parse(row.start_after))
}
/** What the job carries that sends a mail to this address. */
const asked = async (to: string): Promise<MailOrder> => {
  const { rows } = await shop.ctx.db.execute<{ data: MailOrder }>(
    `select data from pgboss.job where name = 'send-mail' and data ->> 'to' = '${to}' order by created_on desc limit 1`
  )
  if (!rows[0]) throw new Error('no job sends it')
  return rows[0].data
}
const healthOfMail = async () => (await admin.get<Health>('/api/settings/health/')).data.mail

test('a service that takes a mail and does not answer gets it at most twice more, after long pauses', async () => {
  const order = mailTo('cut@example.com')
  shop.outbox.cut(10)
  await sendMail(shop.ctx, order, 'first')
  expect(await logged(order.to)).toMatchObject({ state: 'waiting', error_code: 'network' })
  const [next] = await waiting(order.to)
  expect(next).toBeGreaterThan(shop.ctx.now().getTime() + 9 * MINUTE)
  shop.advance(10 * MINUTE)
  await sendMail(shop.ctx, order, 'second')
  shop.advance(HOUR)
  await sendMail(shop.ctx, order, 'third')
  expect(await logged(order.to)).toMatchObject({ state: 'failed' })
  shop.advance(HOUR)
  await sendMail(shop.ctx, order, 'fourth')
  expect(copies(order.to)).toBe(3)
  shop.outbox.cut(0)
})

test.each([
  [404, { message: 'Domain not found: mg.example.com' }],
  [400, { errors: [{ message: 'The from address does not match a verified Sender Identity.', field: 'from' }] }],
  [413, {}]
])('a service that refuses with %i because of the set-up loses no mail', async (status, body) => {
  const order = mailTo(`setup${status}@example.com`)
  shop.outbox.fail(status, 1, body)
  await expect(sendMail(shop.ctx, order, 'first')).rejects.toThrow(`HTTP ${status}`)
  expect(await logged(order.to)).toMatchObject({ state: 'waiting' })
  expect((await healthOfMail())?.error).toContain(`HTTP ${status}`)
  await sendMail(shop.ctx, order, 'first')
  expect(copies(order.to)).toBe(1)
})

test('a mail that failed for good counts on the health page, and an administrator sends it again', async () => {
  const order = mailTo('again@example.com')
  const before = (await healthOfMail())?.failed ?? 0
  const field = 'personalizations.0.to.0.email'
  shop.outbox.fail(400, 1, { errors: [{ message: 'Does not contain a valid address.', field }] })
  await sendMail(shop.ctx, order, 'first')
  const failed = await logged(order.to)
  expect(failed).toMatchObject({ state: 'failed', error_code: 'rejected' })
  expect((await healthOfMail())?.failed).toBe(before + 1)
  const path = `/api/settings/mails/${failed?.id}/send_again/`
  expect(await admin.post(path, {})).toMatchObject({ code: 2000 })
  expect(await waiting(order.to)).toHaveLength(1)
  expect((await admin.post(path, {})).status).toBe(404)
  await sendMail(shop.ctx, order, 'second')
  expect(await logged(order.to)).toMatchObject({ state: 'sent' })
  expect((await healthOfMail())?.failed).toBe(before)
})

/** A mail that the service refuses for a day, and for `more` tries after it; an administrator has it sent again. @returns its order */
async function sentAgainAfterADay(to: string, more: number): Promise<MailOrder> {
  const order = mailTo(to)
  shop.outbox.fail(404, 2 + more)
  await expect(sendMail(shop.ctx, order, 'first')).rejects.toThrow('HTTP 404')
  shop.advance(23 * HOUR)
  await sendMail(shop.ctx, order, 'first')
  const failed = await logged(to)
  expect(failed).toMatchObject({ state: 'failed', error_code: 'server_error' })
  expect(await admin.post(`/api/settings/mails/${failed?.id}/send_again/`, {})).toMatchObject({ code: 2000 })
  return asked(to)
}

test('a mail that the service refused for a day has failed, and can be sent again as well', async () => {
  const order = await sentAgainAfterADay('day@example.com', 0)
  await sendMail(shop.ctx, order, 'second')
  expect(await logged(order.to)).toMatchObject({ state: 'sent' })
})

test('a mail that is sent again after a day is tried for a day more', async () => {
  const order = await sentAgainAfterADay('days@example.com', 2)
  await expect(sendMail(shop.ctx, order, 'second')).rejects.toThrow('HTTP 404')
  expect(await logged(order.to)).toMatchObject({ state: 'waiting' })
  shop.advance(23 * HOUR)
  await sendMail(shop.ctx, order, 'second')
  expect(await logged(order.to)).toMatchObject({ state: 'failed' })
})

test('429 with Retry-After: the mail leaves no sooner than the service says, and then at once', async () => {
  const order = mailTo('busy@example.com')
  shop.outbox.fail(429, 1, {}, { 'retry-after': '90' })
  await sendMail(shop.ctx, order, 'first')
  expect(await logged(order.to)).toMatchObject({ state: 'waiting', error_code: 'throttled' })
  const [next] = await waiting(order.to)
  // The queue goes by the machine's clock.
  expect((next ?? 0) - Date.now()).toBeGreaterThan(80_000)
  expect((next ?? 0) - Date.now()).toBeLessThan(91_000)
  // Another job has it then, within the time in which the first one's claim would count.
  shop.advance(90_000)
  await sendMail(shop.ctx, order, 'second')
  expect(await logged(order.to)).toMatchObject({ state: 'sent' })
  expect(copies(order.to)).toBe(1)
})

test('a service that goes on to ask for a second is asked more and more seldom', async () => {
  const order = mailTo('second@example.com')
  const pauses: number[] = []
  for (let tries = 1; tries <= 9; tries++) {
    shop.outbox.fail(429, 1, {}, { 'retry-after': '1' })
    await sendMail(shop.ctx, order, `try-${tries}`)
    const [next = 0] = await waiting(order.to)
    pauses.push(Math.round((next - Date.now()) / 5000) * 5)
    await shop.ctx.db.execute(`delete from pgboss.job where name = 'send-mail' and data ->> 'to' = '${order.to}'`)
  }
  expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 320, 600, 600])
  await sendMail(shop.ctx, order, 'last')
  expect(await logged(order.to)).toMatchObject({ state: 'sent' })
})

test('a page that something in between answers with 200 loses no mail', async () => {
  const order = mailTo('page@example.com')
  shop.outbox.fail(200, 1, '<html>Sign in to the network</html>')
  await expect(sendMail(shop.ctx, order, 'first')).rejects.toThrow('in place of SendGrid')
  expect(await logged(order.to)).toMatchObject({ state: 'waiting' })
  await sendMail(shop.ctx, order, 'first')
  expect(await logged(order.to)).toMatchObject({ state: 'sent' })
})
