import { COPY_PAUSE_MINUTES, MOST_COPIES, type SentMail } from '@netlet/contract'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { auditLog } from '../../infra/tables.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { allJobs } from '../../workers.ts'
import { createHttpApp } from '../../app.ts'
import { blockAddresses } from './blocked-addresses.ts'
import type { MailOrder } from './mail-order.ts'
import { mailRetention } from './retention.ts'
import { sendMail } from './send-mail.ts'
import { mails } from './tables.ts'

let shop: TestShop
let admin: Awaited<ReturnType<TestShop['admin']>>

beforeAll(async () => {
  // No worker: each test sends what was asked for, when it wants to.
  shop = await startTestShop({ app: createHttpApp, queues: allJobs.map(({ queue }) => queue) })
  admin = await shop.admin({ username: 'boss' })
})
afterAll(() => shop?.close())

const orderTo = (to: string): MailOrder<'order-cancelled'> => ({
  to,
  key: `cancelled:${to}`,
  template: 'order-cancelled',
  data: { username: 'Ann', order_id: 'NL-1', product_name: 'Plan' }
})
const logged = async (to: string) =>
  (await admin.get<{ data: SentMail[] }>(`/api/settings/mails/?search=${encodeURIComponent(to)}`)).data.data
const again = (id: number) => admin.post(`/api/settings/mails/${id}/send_again/`, {})
const arrived = (to: string) => shop.outbox.mails.filter(mail => mail.to === to)
/** Sends the copies that were asked for, as the queue's worker would. */
async function sendCopies(order: MailOrder): Promise<void> {
  const waiting = await shop.ctx.db
    .select({ key: mails.key })
    .from(mails)
    .where(sql`${mails.to} = ${order.to} and ${mails.state} = 'waiting'`)
  for (const { key } of waiting) await sendMail(shop.ctx, { ...order, key }, key)
}
async function sent(to: string) {
  const order = orderTo(to)
  await sendMail(shop.ctx, order, 'first')
  const [mail] = await logged(to)
  if (!mail) throw new Error('the mail is not in the log')
  return { order, id: mail.id }
}
const pause = () => shop.advance(COPY_PAUSE_MINUTES * MINUTE)

test('a mail that was sent is sent again as a mail of its own, with what it said, and audited', async () => {
  const { order, id } = await sent('lost@example.com')
  expect(await logged(order.to)).toMatchObject([{ state: 'sent', send_again: 'possible' }])
  pause()
  expect(await again(id)).toMatchObject({ code: 2000 })
  expect(await logged(order.to)).toMatchObject([{ state: 'waiting', send_again: 'waits' }, { state: 'sent' }])
  await sendCopies(order)
  const [first, copy] = arrived(order.to)
  expect(copy?.subject).toBe(first?.subject)
  // But for each one's own link to unsubscribe.
  expect(copy?.text.split('http')[0]).toBe(first?.text.split('http')[0])
  expect(await logged(order.to)).toMatchObject([{ state: 'sent' }, { state: 'sent' }])
  const [entry] = await shop.ctx.db
    .select({ action: auditLog.action, after: auditLog.after })
    .from(auditLog)
    .where(sql`${auditLog.targetType} = 'mail' and ${auditLog.targetId} = ${String(id)}`)
  expect(entry).toEqual({ action: 'mail.send_again', after: { template: order.template, copy: 1 } })
})

test('of many clicks at once one sends a copy; the next is possible after a pause, and only so often, from each copy', async () => {
  const { order, id } = await sent('often@example.com')
  expect(await again(id)).toMatchObject({ status: 409, msg: expect.stringContaining('less than 10 minutes ago') })
  for (let copy = 1; copy <= MOST_COPIES; copy += 1) {
    pause()
    const newest = (await logged(order.to))[0]?.id ?? id
    const clicks = await Promise.all([again(id), again(newest), again(id)])
    expect(clicks.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409, 409])
    await sendCopies(order)
    expect(arrived(order.to)).toHaveLength(1 + copy)
  }
  pause()
  expect(await again(id)).toMatchObject({ status: 409, msg: 'This mail has been sent again 5 times already' })
})

test('no copy of a mail with a code, of one that nobody needed, or to an address that takes none', async () => {
  const code: MailOrder<'sign-up-code'> = {
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

  const { id, order } = await sent('gone@example.com')
  const block = { address: order.to, cause: 'bounced', reason: '550', source: 'smtp', at: shop.ctx.now() } as const
  await command(shop.ctx, SYSTEM, unit => blockAddresses(unit, [block]))
  pause()
  expect(await again(id)).toMatchObject({ status: 409, msg: expect.stringContaining('takes no mail') })
  const needless = { ...orderTo('gone@example.com'), key: 'cancelled:needless' }
  await sendMail(shop.ctx, needless, 'first')
  expect((await logged(order.to))[0]).toMatchObject({ state: 'skipped', send_again: 'needless' })
})

test('when what a mail said is not kept any more, nothing is kept to send it again', async () => {
  const { id, order } = await sent('old@example.com')
  const contents = mailRetention.find(({ what }) => what === 'mail_contents')
  shop.advance(DAY)
  await command(shop.ctx, SYSTEM, unit => contents?.remove(unit, shop.ctx.now(), 1000) ?? Promise.resolve(0))
  expect(await logged(order.to)).toMatchObject([{ state: 'sent', send_again: 'not_kept' }])
  expect((await again(id)).status).toBe(404)
})
