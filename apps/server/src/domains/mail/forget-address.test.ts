import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createHttpApp } from '../../app.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { allQueues } from '../../workers.ts'
import { enqueueMail, forgetAddress } from './index.ts'
import type { MailOrder } from './mail-order.ts'
import { sendMail } from './send-mail.ts'
import { mails } from './tables.ts'

// Nothing works on the queue: the test runs the jobs.
let shop: TestShop
beforeAll(async () => {
  shop = await startTestShop({ app: createHttpApp, queues: allQueues })
})
afterAll(() => shop?.close())
beforeEach(async () => {
  await shop.ctx.db.execute(sql`delete from pgboss.job`)
  await shop.ctx.db.delete(mails)
})

const HERS = 'Ottilie.Quist@example.org'
const mailTo = (to: string): MailOrder<'order-cancelled'> => ({
  to,
  key: `test:${to.length}`,
  template: 'order-cancelled',
  data: { username: 'Ottilie', order_id: 'NL-1', product_name: 'Plan' }
})
const enqueue = (order: MailOrder) => command(shop.ctx, SYSTEM, async unit => enqueueMail(unit, order))
const forget = (email: string) => {
  const since = new Date(0)
  const addresses = [{ address: email, from: since, until: null }]
  const user = { username: 'Ottilie', email, since, namedSince: since, names: ['Ottilie'], addresses }
  return command(shop.ctx, SYSTEM, unit => forgetAddress(unit, user))
}
type Kept = { name: string; data: MailOrder; output: unknown }
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
  expect(shop.outbox.mails.map(mail => mail.to)).toEqual([`x${HERS}`])
  expect(await shop.ctx.db.select({ state: mails.state }).from(mails).orderBy(mails.id)).toEqual([
    { state: 'skipped' },
    { state: 'sent' }
  ])
})

test('what waits to be sent to the address and addresses somebody else is sent, but not the answer to a ticket', async () => {
  const former: MailOrder = { ...mailTo(HERS), key: 'test:1', data: { ...mailTo(HERS).data, username: 'Rudi' } }
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
  const output = JSON.stringify({ message: `Mail not sent. 550 <${HERS}> is full` })
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

test('the mail that says that an account was deleted leaves nothing of it, also where it fails for good', async () => {
  const gone = { username: 'Ottilie', at: '2026-11-21T10:00:00.000Z' }
  shop.outbox.fail(400, 1, { errors: [{ message: `No such user: ${HERS}`, field: 'personalizations.0.to.0.email' }] })
  await sendMail(shop.ctx, { to: HERS, key: 'account-deleted:1', template: 'account-deleted', data: gone }, 'job')
  const [kept] = await shop.ctx.db.select().from(mails)
  expect(kept).toMatchObject({ state: 'failed', errorCode: 'rejected' })
  expect(JSON.stringify(kept)).not.toMatch(/ottilie/i)
})
