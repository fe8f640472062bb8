import type { InboxEntry, Language } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { paidEvent } from '../../testing/buying.ts'
import { DEFAULT_BRAND } from '../mail/mail.fixture.ts'
import { renderTemplate, type Template, type TemplateData } from '../mail/templates/index.ts'
import { runTask } from '../delivery/tasks.ts'
import { deliveryPorts } from '../../workers.ts'
import { expireOrders } from '../delivery/index.ts'
import type { OrderRow } from '../orders/index.ts'
import { writeSettings } from '../settings/index.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'
import { one, tell } from './event-row.fixture.ts'
import { nextId } from './event-outcome.fixture.ts'
import { raisedNotices } from '../../testing/raised-notices.ts'
import { askRefund } from './ask-refund.fixture.ts'

let world: OrderShop
let buyer: Buyer
let boss: Buyer

beforeAll(async () => {
  world = await startOrderShop({ ruleCount: 1 })
  buyer = await world.customer('buyer1')
  boss = await world.admin('boss1')
}, 120_000)
afterAll(() => world?.close())

const ALL = { '11': 8, '901': 8 }

async function delivered() {
  const order = await world.place(buyer)
  const paid = paidEvent({ publicId: order.publicId, amount: '20.00', lines: ALL, id: nextId() })
  await tell(world, 'orders/paid', paid)
  await world.confirm()
  return { order: await world.row(order.id), paid }
}

/** The order's time is over, and the platform reports a renewal of it. @param at when it was paid */
async function renewEnded(order: OrderRow, at: Date) {
  const { ctx } = world.shop
  await world.advance((order.expiredAt?.getTime() ?? 0) + 60_000 - ctx.now().getTime())
  await expireOrders(ctx)
  await world.confirm()
  const paid = paidEvent({ publicId: order.publicId, amount: '20.00', lines: ALL, renewal: true, id: nextId() })
  return tell(world, 'orders/paid', { ...paid, processed_at: at.toISOString() })
}

const refund = (platformOrderId: number, amount: string, id = nextId()) =>
  tell(world, 'refunds/create', {
    id,
    order_id: platformOrderId,
    transactions: [{ kind: 'refund', status: 'success', amount, currency: 'USD' }]
  })

/** Texts of one template's mails about an order, oldest first. */
async function mailTexts(publicId: string, template: Template, language: Language = 'en'): Promise<string[]> {
  const { ctx } = world.shop
  const { rows } = await ctx.db.execute<{
    data: TemplateData<Template>
  }>(sql`select data -> 'data' as data from pgboss.job
    where name = 'send-mail' and data ->> 'template' = ${template} and data -> 'data' ->> 'order_id' = ${publicId}
    order by created_on, id`)
  const context = { language, brand: DEFAULT_BRAND, now: ctx.now(), shopUrl: ctx.config.publicUrl, open: () => '' }
  const mails = rows.map(({ data }) => renderTemplate(template, data, context))
  return mails.map(({ subject, text }) => `${subject}\n${text}`)
}

const notices = () => raisedNotices(world.shop.ctx.db)

test('a customer who paid twice reads that the proxies go on and the second payment goes back, in both languages', async () => {
  const { order } = await delivered()
  const again = paidEvent({ publicId: order.publicId, amount: '20.00', lines: ALL, id: nextId() })
  expect(await tell(world, 'orders/paid', again)).toMatchObject({ outcome: 'paid_twice' })
  const [mail] = await mailTexts(order.publicId, 'payment-again')
  expect(mail).toContain('You paid twice')
  expect(mail).toContain('your proxies are not affected')
  expect(mail).toContain('We will refund')
  expect((await mailTexts(order.publicId, 'payment-again', 'zh-CN'))[0]).toContain('第二笔付款')
  expect(await mailTexts(order.publicId, 'payment-not-delivered')).toEqual([])
})

test('a customer whose two payments both fall short reads that of each, and not of a second payment', async () => {
  const order = await world.place(buyer)
  const half = () =>
    paidEvent({ publicId: order.publicId, amount: '10.00', lines: { '11': 4, '901': 4 }, id: nextId() })
  const first = half()
  expect(await tell(world, 'orders/paid', first)).toMatchObject({ outcome: 'lines_missing' })
  expect(await tell(world, 'orders/paid', half())).toMatchObject({ outcome: 'lines_missing', unresolved: true })
  const mails = await mailTexts(order.publicId, 'payment-not-delivered')
  expect(mails).toHaveLength(2)
  for (const mail of mails) expect(mail).toContain('The payment does not cover the order.')
  expect(await mailTexts(order.publicId, 'payment-again')).toEqual([])
  const path = `/api/orders/order_list/${order.id}/refund/`
  expect((await boss.get(path)).data).toMatchObject({ ends: 'failure', proxies: 0, amount: '10.00' })
  expect(await refund(first.id, '10.00')).toMatchObject({ outcome: 'refunded' })
  const [mail] = await mailTexts(order.publicId, 'payment-refunded')
  expect(mail).toContain('We delivered nothing for it. You can still pay the order')
})

test('the refund of an order that was never delivered speaks of no proxies, in both languages', async () => {
  const order = await world.place(buyer)
  const paid = paidEvent({ publicId: order.publicId, amount: '20.00', lines: ALL, id: nextId() })
  await tell(world, 'orders/paid', paid)
  expect(await refund(paid.id, '20.00')).toMatchObject({ outcome: 'refunded' })
  const [mail] = await mailTexts(order.publicId, 'payment-refunded')
  expect(mail).toContain('The order has ended.')
  expect(mail).not.toContain('no longer work')
  expect((await mailTexts(order.publicId, 'payment-refunded', 'zh-CN'))[0]).not.toContain('代理不再可用')
  await world.confirm()
})

test('a customer who pays again after a full refund has not paid twice, in both languages', async () => {
  const { order, paid } = await delivered()
  expect(await refund(paid.id, '20.00')).toMatchObject({ outcome: 'refunded' })
  const again = paidEvent({ publicId: order.publicId, amount: '20.00', lines: ALL, id: nextId() })
  expect(await tell(world, 'orders/paid', again)).toMatchObject({ outcome: 'too_late', unresolved: true })
  expect(await mailTexts(order.publicId, 'payment-again')).toEqual([])
  const [mail] = await mailTexts(order.publicId, 'payment-not-delivered')
  expect(mail).toContain('The order had been refunded before the payment arrived.')
  expect(mail).toContain('We will refund the payment.')
  expect(mail).not.toContain('We will deliver')
  const [chinese] = await mailTexts(order.publicId, 'payment-not-delivered', 'zh-CN')
  expect(chinese).toContain('该订单已退款')
  expect(chinese).toContain('我们将为该付款退款')
})

test('who paid too little for a renewal is told that the order goes on without it, in both languages', async () => {
  const { order } = await delivered()
  const half = paidEvent({ publicId: order.publicId, amount: '10.00', lines: { '11': 8 }, renewal: true, id: nextId() })
  expect(await tell(world, 'orders/paid', half)).toMatchObject({ outcome: 'lines_missing' })
  const [mail] = await mailTexts(order.publicId, 'payment-not-renewed')
  expect(mail).toContain('could not renew')
  expect(mail).toContain('The payment does not cover the renewal.')
  expect(mail).toContain('Your proxies keep working until the order expires.')
  expect(mail).toContain('We will renew the order, or refund you')
  expect((await mailTexts(order.publicId, 'payment-not-renewed', 'zh-CN'))[0]).toContain('付款未涵盖续费的全部内容')
  expect(await mailTexts(order.publicId, 'payment-not-delivered')).toEqual([])
})

test('a chargeback is told as a dispute: its customer, and once the administrators, who have a deadline', async () => {
  const { order, paid } = await delivered()
  const dispute = { id: nextId(), order_id: paid.id, type: 'chargeback', amount: '20.00', currency: 'USD' }
  const before = (await notices()).length
  const told = await tell(world, 'disputes/create', { ...dispute, status: 'needs_response' })
  expect(told).toMatchObject({ outcome: 'refunded', detail: { reason: 'chargeback' } })
  await tell(world, 'disputes/update', { ...dispute, status: 'under_review' })
  const sent = (await notices()).slice(before)
  expect(sent.map(({ title }) => title)).toEqual([`Payment ${paid.name} is disputed`])
  expect(sent[0]?.text).toContain(order.publicId)
  expect(sent[0]?.text).toContain('deadline')
  const [mail] = await mailTexts(order.publicId, 'payment-refunded')
  expect(mail).toContain('Your payment was disputed')
  expect(mail).not.toContain('given back')
  expect((await mailTexts(order.publicId, 'payment-refunded', 'zh-CN'))[0]).toContain('争议')
})

test('a customer gets one mail for each refunded part, with its amount', async () => {
  const { order, paid } = await delivered()
  const first = nextId()
  await refund(paid.id, '5.00', first)
  await refund(paid.id, '5.00', first)
  await refund(paid.id, '2.50')
  const mails = await mailTexts(order.publicId, 'payment-refunded')
  expect(mails).toHaveLength(2)
  expect(mails[0]).toContain('Part of your payment was refunded')
  expect(mails[0]).toContain('5.00 USD')
  expect(mails[1]).toContain('2.50 USD')
  // The last one completes the refund, and names what went back with it.
  await refund(paid.id, '12.50')
  const [, , last] = await mailTexts(order.publicId, 'payment-refunded')
  expect(last).toContain('Your payment was refunded')
  expect(last).toContain('12.50 USD')
})

test('a customer is not told that money is back which the shop sends by hand', async () => {
  const { order, paid } = await delivered()
  const part = { kind: 'refund', status: 'success', currency: 'USD' }
  const transactions = [
    { ...part, amount: '1.00', manual_payment_gateway: false },
    { ...part, amount: '4.00', manual_payment_gateway: true }
  ]
  await tell(world, 'refunds/create', { id: nextId(), order_id: paid.id, transactions })
  const [mail] = await mailTexts(order.publicId, 'payment-refunded')
  expect(mail).toContain('Part of your payment is being refunded')
  expect(mail).toContain('We will send you 4.00 USD of it ourselves')
  expect(mail).not.toContain('was refunded')
  const [chinese] = await mailTexts(order.publicId, 'payment-refunded', 'zh-CN')
  expect(chinese).toContain('您的部分付款正在退款')
  expect(chinese).toContain('其中 4.00 USD 由我们')
})

test('a customer is told once of a part that was given back before the payment settled, in its time or held', async () => {
  const order = await world.place(buyer)
  const paid = paidEvent({ publicId: order.publicId, amount: '20.00', lines: ALL, id: nextId() })
  expect(await refund(paid.id, '4.00')).toMatchObject({ outcome: 'refunded' })
  expect(await mailTexts(order.publicId, 'payment-refunded')).toEqual([])
  expect(await tell(world, 'orders/paid', paid)).toMatchObject({ outcome: 'partly_refunded' })
  const [mail, ...more] = await mailTexts(order.publicId, 'payment-refunded')
  expect(mail).toContain('Part of your payment was refunded')
  expect(mail).toContain('4.00 USD')
  expect(more).toEqual([])

  // The same for held money. Once it counts, its earlier mails are not repeated.
  const short = await world.place(buyer)
  const held = paidEvent({ publicId: short.publicId, amount: '20.00', lines: { '11': 8 }, id: nextId() })
  await refund(held.id, '1.50')
  expect(await tell(world, 'orders/paid', held)).toMatchObject({ outcome: 'lines_missing' })
  expect(await boss.post(`/api/orders/order_list/${short.id}/devery_order/`)).toMatchObject({ code: 2000 })
  const { taskId } = await world.row(short.id)
  await runTask(world.shop.ctx, deliveryPorts, { orderId: short.id, taskId: taskId ?? '' })
  expect(await mailTexts(short.publicId, 'payment-refunded')).toHaveLength(1)
})

test('a partial refund by an administrator is resolved; one that began on the platform waits for a decision', async () => {
  const { order, paid } = await delivered()
  expect(await askRefund(boss, order, { amount: '3.00' })).toMatchObject({
    code: 2000
  })
  const before = (await notices()).length
  const asked = await refund(paid.id, '3.00', world.refundsMade.at(-1)?.id)
  expect(asked).toMatchObject({ outcome: 'partly_refunded' })
  const entryOf = async (id: number) => (await boss.get<{ entry: InboxEntry }>(`/api/payments/inbox/${id}/`)).data.entry
  expect(await entryOf(asked.id)).toMatchObject({ unresolved: false, resolution: 'refunded', resolved_by: 'boss1' })
  expect(await notices()).toHaveLength(before)
  const unasked = await refund(paid.id, '1.00')
  expect(await entryOf(unasked.id)).toMatchObject({ unresolved: true, resolution: null })
  expect(await notices()).toHaveLength(before + 1)
  expect(await one(world.shop.ctx, sql`select state from orders where id = ${order.id}`)).toEqual({
    state: 'delivered'
  })
})

test('an order that an administrator had delivered is resolved by that name, and the platform is told so', async () => {
  const order = await world.place(buyer)
  const paid = paidEvent({ publicId: order.publicId, amount: '20.00', lines: { '11': 8 }, id: nextId() })
  const told = await tell(world, 'orders/paid', paid)
  expect(told).toMatchObject({ outcome: 'lines_missing', unresolved: true })
  expect(await boss.post(`/api/orders/order_list/${order.id}/devery_order/`)).toMatchObject({ code: 2000 })
  const { taskId } = await world.row(order.id)
  await runTask(world.shop.ctx, deliveryPorts, { orderId: order.id, taskId: taskId ?? '' })
  await world.confirm()
  expect(await world.row(order.id)).toMatchObject({ state: 'delivered' })
  const { entry } = (await boss.get<{ entry: InboxEntry }>(`/api/payments/inbox/${told.id}/`)).data
  expect(entry).toMatchObject({ unresolved: false, resolution: 'applied', resolved_by: 'boss1' })
  const { rows } = await world.shop.ctx.db.execute(sql`select data -> 'tags' as tags, data ->> 'note' as note
    from pgboss.job where name = 'tag-platform-order' and data ->> 'platformOrderId' = ${String(paid.id)} order by created_on, id`)
  expect(rows).toContainEqual({ tags: ['delivered'], note: 'Delivered by boss1' })
})

test('the mails of an order say its price with the currency, and the receipt what was bought, and when', async () => {
  const { order } = await delivered()
  const [received] = await mailTexts(order.publicId, 'order-received')
  expect(received).toContain(`${order.amount} USD`)
  const [receipt] = await mailTexts(order.publicId, 'payment-received')
  for (const fact of ['Rule 1', 'Proxies', '8', 'Paid', '20.00 USD']) expect(receipt).toContain(fact)
  expect((await mailTexts(order.publicId, 'payment-received', 'zh-CN'))[0]).toContain('访问规则')
})

test('the receipt of a payment that was heard of late names the day on which it was paid', async () => {
  const order = await world.place(buyer)
  const paid = paidEvent({ publicId: order.publicId, amount: '20.00', lines: ALL, id: nextId() })
  await tell(world, 'orders/paid', { ...paid, processed_at: '2026-02-03T10:00:00-05:00' })
  expect((await mailTexts(order.publicId, 'payment-received'))[0]).toContain('2026-02-03 15:00 UTC')
})

test.for([
  { grace: 24, says: ['keep the same addresses', '继续使用相同的地址'] },
  { grace: 0, says: ['8 of your proxies have new addresses', '您有 8 个代理使用新地址'] }
])('the mail of a renewal after a grace of $grace hours says whether addresses are new', async ({ grace, says }) => {
  await writeSettings(world.shop.ctx, { grace_hours: grace })
  const { order } = await delivered()
  const paidAt = new Date((order.expiredAt?.getTime() ?? 0) - 1000)
  expect(await renewEnded(order, paidAt)).toMatchObject({ outcome: 'settled' })
  expect((await mailTexts(order.publicId, 'renewal-confirmed'))[0]).toContain(says[0])
  expect((await mailTexts(order.publicId, 'renewal-confirmed', 'zh-CN'))[0]).toContain(says[1])
  expect(await mailTexts(order.publicId, 'addresses-changed')).toEqual([])
})

test('the mail of a new API key says in words what the key may do', () => {
  const { ctx } = world.shop
  const context = { brand: DEFAULT_BRAND, now: ctx.now(), shopUrl: ctx.config.publicUrl, open: () => '' }
  const data = { username: 'buyer1', at: ctx.now().toISOString(), name: 'cron', scopes: 'read, renew' }
  const english = renderTemplate('api-key-made', data, { ...context, language: 'en' })
  expect(english.text).toContain('Read orders and proxies, Renew orders')
  const chinese = renderTemplate('api-key-made', data, { ...context, language: 'zh-CN' })
  expect(chinese.text).toContain('读取订单和代理、续费订单')
})
