import type { PointRecord } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { expect, test } from 'vitest'
import { startStockedShop, type StockedShop } from '../../api/stocked-shop.fixture.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { auditLog } from '../../infra/tables.ts'
import { paidEvent } from '../../testing/buying.ts'
import { TEST_PASSWORD } from '../../testing/shop.ts'
import { handleEvent, storeEvent } from '../commerce/index.ts'
import { platformEvents } from '../commerce/tables.ts'
import { orders } from '../orders/tables.ts'
import { payments } from '../payments/tables.ts'
import { grantForPayment, takeBackForPayment } from '../rewards/index.ts'
import { pointRecords } from '../rewards/tables.ts'
import { tickets } from '../support/tables.ts'
import { eventHandlers } from '../../event-handlers.ts'
import { isDeleted } from './index.ts'
import { users } from './tables.ts'
import { useStarted } from '../../testing/use-started.ts'
import { addRow, addRows } from '../../testing/rows.ts'
import { mails } from '../mail/tables.ts'
import { editNow } from '../../testing/asking-once.ts'

const shop = useStarted(startStockedShop)
type Customer = Awaited<ReturnType<StockedShop['customer']>>

const U = '/api/users/u'
const DELETE = '/api/users/delete_account'
const EXPORT = `${U}/data_export`
const ENDPOINTS = '/api/webhooks/endpoints/'
const password = TEST_PASSWORD

async function place(buyer: Customer): Promise<{ publicId: string; id: number }> {
  const placed = await buyer.post<{ order_id: string }>('/api/orders/checkout', {
    product_id: shop.productId,
    quantity: 8,
    option_selected: { option1: 'New York', acl_selected: shop.rules.slice(0, 1) }
  })
  const [order] = await shop.ctx.db.select().from(orders).where(eq(orders.publicId, placed.data.order_id))
  if (!order) throw new Error(placed.msg)
  return { publicId: order.publicId, id: order.id }
}

/** The platform's event with all its personal data. */
async function pay(publicId: string, email: string, eventId: string, person: object = {}): Promise<void> {
  const [order] = await shop.ctx.db.select({ lines: orders.lines }).from(orders).where(eq(orders.publicId, publicId))
  const lines = Object.fromEntries((order?.lines ?? []).map(({ variant, quantity }) => [variant, quantity]))
  const payload = {
    ...paidEvent({ publicId, amount: '20.00', lines }),
    email,
    contact_email: email,
    customer: { id: 4711, email, ...person, default_address: person },
    billing_address: person,
    shipping_address: person,
    client_details: { user_agent: 'Firefox', ...person },
    ...person
  }
  await command(shop.ctx, SYSTEM, unit => storeEvent(unit, { eventId, topic: 'orders/paid', payload }))
  await handleEvent(shop.ctx, eventHandlers, eventId)
}

/** Ends a lease as after its expiry and the agents' confirmation. */
const endLease = async (orderId: number, state: string) => {
  const { db } = shop.ctx
  await db.execute(
    sql`update leases set state = 'released', released_at = now() where order_id = ${orderId} and state <> 'released'`
  )
  await db.execute(sql`update orders set state = ${state} where id = ${orderId}`)
}

const jobsTo = async (email: string) => {
  const { rows } = await shop.ctx.db.execute<{ template: string }>(
    sql`select data ->> 'template' as template from pgboss.job where name = 'send-mail' and data ->> 'to' = ${email} order by created_on, id`
  )
  return rows.map(row => row.template)
}

test('a user with a paid order that failed cannot be deleted, even by an administrator', async () => {
  const boss = await shop.admin()
  const client = await shop.customer()
  const order = await place(client)
  await pay(order.publicId, client.user.email, 'owed')
  await endLease(order.id, 'failed')
  expect(await boss.delete(`${U}/${client.user.id}/`)).toMatchObject({
    code: 409,
    msg: 'This user has a paid order that is not delivered or refunded yet, and cannot be deleted'
  })
  expect(await client.post(DELETE, { password })).toMatchObject({
    code: 409,
    msg: 'You have a paid order that is not delivered or refunded yet. Please contact support.'
  })
  // The same if it expired undelivered, until the money is refunded.
  await endLease(order.id, 'expired')
  expect((await client.post(DELETE, { password })).code).toBe(409)
  await shop.ctx.db.execute(
    sql`update orders set state = 'refunded', refunded_amount = pay_amount where id = ${order.id}`
  )
  await shop.ctx.db.execute(sql`update payments set refunded_at = now() where order_id = ${order.id}`)
  expect((await client.post(DELETE, { password })).code).toBe(2000)
})

test('a user whose money settled nothing is not deleted before an administrator has decided about it', async () => {
  const client = await shop.customer()
  const order = await place(client)
  await pay(order.publicId, client.user.email, 'first')
  await endLease(order.id, 'expired')
  await shop.ctx.db.execute(sql`update orders set delivery_num = quantity where id = ${order.id}`)
  await pay(order.publicId, client.user.email, 'second')
  expect((await client.post(DELETE, { password })).code).toBe(409)
  await shop.ctx.db.execute(sql`update payments set ignored_at = now() where order_id = ${order.id} and not accepted`)
  expect((await client.post(DELETE, { password })).code).toBe(2000)
})

test('an unpaid order keeps its customer, until it is over', async () => {
  const client = await shop.customer()
  const boss = await shop.admin()
  const order = await place(client)
  expect(await client.post(DELETE, { password })).toMatchObject({
    code: 409,
    msg: 'You still have active proxies or an unpaid order. Please wait until they end.'
  })
  expect((await boss.delete(`${U}/${client.user.id}/`)).code).toBe(409)
  await endLease(order.id, 'timed_out')
  expect((await client.post(DELETE, { password })).code).toBe(2000)
})

test('a payment that is settled while its customer is deleted is seen by one of the two', async () => {
  for (let i = 0; i < 2; i += 1) {
    const client = await shop.customer()
    const { user } = client
    const order = await place(client)
    await endLease(order.id, 'timed_out')
    const [deleted] = await Promise.all([
      client.post(DELETE, { password }),
      pay(order.publicId, user.email, `racing ${i}`)
    ])
    const [row] = await shop.ctx.db.select().from(orders).where(eq(orders.id, order.id))
    expect(deleted.code === 2000, `paid ${String(row?.paidAt)}`).toBe(row?.paidAt === null)
  }
})

test("a deleted user's late payment is not delivered: administrators and the payer are told", async () => {
  const boss = await shop.admin()
  const client = await shop.customer()
  const order = await place(client)
  await endLease(order.id, 'timed_out')
  expect((await boss.delete(`${U}/${client.user.id}/`)).code).toBe(2000)
  expect(await isDeleted(shop.ctx.db, client.user.id)).toBe(true)
  await pay(order.publicId, 'payer@example.com', 'late')
  const [row] = await shop.ctx.db.select().from(orders).where(eq(orders.id, order.id))
  expect(row).toMatchObject({ state: 'timed_out', paidAt: null })
  const [event] = await shop.ctx.db.select().from(platformEvents).where(eq(platformEvents.eventId, 'late'))
  expect(event).toMatchObject({ outcome: 'unknown_order', detail: { order_id: order.publicId } })
  expect(await jobsTo('payer@example.com')).toEqual(['payment-without-account'])
  const { rows } = await shop.ctx.db.execute(
    sql`select 1 from pgboss.job where name = 'raise-notice' and data ->> 'subject' = 'late'`
  )
  expect(rows).toHaveLength(1)
  expect(await jobsTo(`deleted-${client.user.id}@deleted.invalid`)).toEqual([])
  expect(await jobsTo(client.user.email)).toEqual(['account-deleted'])
})

test('nothing in the database names a person who was deleted', async () => {
  const { db } = shop.ctx
  const boss = await shop.admin()
  const inviter = await shop.customer()
  const username = 'Ottilie7'
  const client = await shop.customer({ username, email: 'ottilie.quist@example.org' })
  const { user } = client
  const { email } = user
  const bystander = await shop.customer({ username: 'Ottilie77', email: 'x.ottilie.quist@example.org.test' })
  await db.update(users).set({ invitedBy: inviter.user.id }).where(eq(users.id, user.id))
  // An old record and a current one.
  const once = { userId: inviter.user.id, kind: 'level', point: 10, reasonCode: 'invited' } as const
  await addRow(shop.ctx, pointRecords, { ...once, reasonParams: { username }, cause: `invite:${user.id}` })
  const order = await place(client)
  const earns = (paymentId: string) =>
    command(shop.ctx, SYSTEM, async unit => {
      const payment = { orderId: order.id, kind: 'renewal', amount: '20.00', discount: '0', accepted: true } as const
      await addRow(unit, payments, { ...payment, platformOrderId: paymentId, platformOrderNumber: '#1' })
      const rates = { billing_rate: 1, invite_rebate_rate: 1, invite_level_points_per_user: 5, coins_hold_days: 0 }
      const paid = { orderPublicId: 'NL-1', userId: user.id, amount: '20.00', settings: rates, paymentId }
      await grantForPayment(unit, paid)
    })
  await earns('under the first name')
  // Records of coins that are taken back contain the names too.
  await command(shop.ctx, SYSTEM, async unit => takeBackForPayment(unit, 'under the first name'))
  const login = shop.visitor({ ip: '203.0.113.78' })
  await login.post('/api/auth/login', { username, password })
  await client.post('/api/users/api_keys/', { name: 'script of Ottilie7', scopes: ['read'], password })
  await editNow(boss, user.id, { reward_points_change: 5, username: 'Ottilie8' })
  await earns('under the second name')
  await boss.put(`${U}/${user.id}/`, { username: 'Ottilie9' })
  await boss.post('/api/users/admin/switch-user', { user_id: user.id })
  await boss.post('/api/users/admin/switch-back')
  // One that exists, and one that its owner and then retention removed: only its audit entries tell whose it was.
  const hook = { url: 'https://hooks.quist.example/t0ken', description: 'to her phone', events: ['order.delivered'] }
  const ids: number[] = []
  for (const _ of [1, 2]) ids.push((await client.post<{ id: number }>(ENDPOINTS, hook)).data.id)
  const [kept, removed] = ids
  await client.post(`${ENDPOINTS}${kept}/rotate_secret/`)
  await client.delete(`${ENDPOINTS}${removed}/`)
  await db.execute(sql`delete from webhook_endpoints where id = ${removed}`)
  const operators = { url: 'https://shop.example.net/hook', description: 'the shop’s own', events: ['server.down'] }
  const foreign = await boss.post<{ id: number }>('/api/settings/outgoing_webhooks/endpoints/', operators)
  await command(shop.ctx, SYSTEM, async unit => {
    for (const id of ids) unit.audit('webhook.switch_off', id, { after: { url: hook.url, reason: 'gone' } })
  })
  const coupon = { username: 'Ottilie9', code: 'FOR-HER', discount: '1.00', code_type: 1 }
  expect((await boss.post('/api/rewards/coupon_code/', coupon)).code).toBe(2000)
  const sent = { username: 'Ottilie', email: email.toUpperCase(), phone: '+4912345', message: 'I live in Lane 7' }
  const ticket = { ...sent, clientIp: '203.0.113.78' }
  const [first] = await addRows(shop.ctx, tickets, [
    ticket,
    { ...ticket, email: 'other@example.com', message: 'Not hers' }
  ])
  await addRow(shop.ctx, tickets, ticket)
  await boss.delete(`/api/tickets/ticket/${first?.id}/`)
  await pay(order.publicId, email, 'hers', {
    first_name: 'Ottilie',
    last_name: 'Quist',
    phone: '+4912345',
    address1: 'Lane 7',
    browser_ip: '203.0.113.77',
    note: 'For Ottilie Quist'
  })
  await endLease(order.id, 'expired')
  await db.execute(sql`update orders set delivery_num = quantity where id = ${order.id}`)

  expect((await client.post(DELETE, { password })).code).toBe(2000)
  // The mail about the deletion still waits; sent mails leave the job table.
  expect(await jobsTo(email)).toEqual(['account-deleted'])
  await db.execute(sql`delete from pgboss.job where data ->> 'template' = 'account-deleted'`)

  const { rows: tables } = await db.execute<{ schema: string; name: string }>(
    sql`select table_schema as schema, table_name as name from information_schema.tables
      where table_schema in ('public', 'pgboss') and table_type = 'BASE TABLE'`
  )
  const marks = [
    'ottilie.quist@example.org',
    '"Ottilie7"',
    'Ottilie8',
    'Ottilie9',
    'Quist',
    '+4912345',
    'Lane 7',
    '203.0.113.77',
    '203.0.113.78',
    'script of',
    'hooks.quist',
    'to her phone'
  ]
  const found: string[] = []
  for (const { schema, name } of tables) {
    const { rows } = await db.execute<{ text: string }>(
      sql`select to_jsonb(t)::text as text from ${sql.identifier(schema)}.${sql.identifier(name)} t`
    )
    for (const { text } of rows) {
      // Data of the remaining user, and a ticket from another person.
      if (text.includes(bystander.user.email) || text.includes('Not hers')) continue
      for (const mark of marks) if (text.includes(mark)) found.push(`${name}: ${mark}: ${text.slice(0, 300)}`)
    }
  }
  expect(found).toEqual([])

  // Data that money and the history of addresses need stays.
  const [event] = await db.select().from(platformEvents).where(eq(platformEvents.eventId, 'hers'))
  expect(event?.payload).toMatchObject({ total_price: '20.00', note_attributes: [{ value: order.publicId }] })
  const [row] = await db.select().from(orders).where(eq(orders.id, order.id))
  expect(row).toMatchObject({ userId: user.id, checkoutUrl: null, payAmount: '20.00' })
  expect(await db.$count(tickets, eq(tickets.email, 'other@example.com'))).toBe(1)
  const [record] = await db
    .select()
    .from(pointRecords)
    .where(eq(pointRecords.cause, `invite:${user.id}`))
  expect(record?.reasonParams).toEqual({ username: `deleted-${user.id}` })
  const points = await inviter.get<{ data: PointRecord[] }>('/api/rewards/point_record/')
  expect(new Set(points.data.data.map(({ reason }) => reason))).toContain(
    `Payment by deleted-${user.id} (invited by you)`
  )
  const log = await db.select().from(auditLog).where(eq(auditLog.action, 'user.delete'))
  expect(log.at(-1)).toMatchObject({ targetId: String(user.id), after: { historyKept: true, own: true } })
  const ofHooks = await db.select().from(auditLog).where(eq(auditLog.targetType, 'webhook')).orderBy(auditLog.id)
  expect(
    ofHooks.map(({ action, targetId, before, after }) => [action, Number(targetId), before ?? after])
  ).toMatchObject([
    ['webhook.create', kept, null],
    ['webhook.create', removed, null],
    ['webhook.rotate_secret', kept, null],
    ['webhook.delete', removed, null],
    ['webhook.create', foreign.data.id, operators],
    ['webhook.switch_off', kept, null],
    ['webhook.switch_off', removed, null]
  ])
  expect(await bystander.get('/api/auth/login')).toMatchObject({ data: { username: 'Ottilie77' } })
})

test('who is called like a word of the audit log changes no other entry of it by leaving', async () => {
  const words = (email: string) => ({
    before: { state: 'delivered', amount: '20.00', operator_role: 'viewer', email, note: `Told ${email}.` },
    after: { state: 'amount', username: 'owner9', names: ['state', 'viewer'] }
  })
  await command(shop.ctx, SYSTEM, async unit => {
    unit.audit('order.refund', 90_001, words('maria@b.com'))
    unit.audit('server.delete_user', 90_001, { before: { username: 'amount' } })
    // Another user's former name and address.
    unit.audit('user.edit', 90_001, { before: { username: 'amount', email: 'a@b.com' } })
    unit.audit('coupon.delete', 90_001, { before: { username: 'Amount', note: '<A@b.com>', 'a@b.com': 'viewer' } })
  })
  for (const [username, email] of [
    ['state', 'x1@q.com'],
    ['viewer', 'x2@q.com'],
    ['amount', 'a@b.com']
  ] as const) {
    const leaving = await shop.customer({ username, email })
    expect((await leaving.post(DELETE, { password })).code).toBe(2000)
  }
  const entries = await shop.ctx.db.select().from(auditLog).where(eq(auditLog.targetId, '90001')).orderBy(auditLog.id)
  expect(entries.map(({ before, after }) => ({ before, after }))).toMatchObject([
    words('maria@b.com'),
    { before: { username: 'amount' } },
    { before: { username: 'amount', email: 'a@b.com' } },
    {
      before: {
        username: expect.stringMatching(/^deleted-\d+$/),
        note: expect.stringMatching(/^<deleted-\d+>$/),
        'a@b.com': 'viewer'
      }
    }
  ])
})

test('people delete their own account with the password; administrators do not', async () => {
  const client = await shop.customer()
  expect(await client.post(DELETE, { password: 'Guess#2026' })).toMatchObject({
    code: 400,
    data: { errors: { password: 'The password is not correct' } }
  })
  const boss = await shop.admin()
  expect(await boss.post(DELETE, { password })).toMatchObject({ code: 409 })
  expect((await client.post(DELETE, { password })).code).toBe(2000)
  expect((await client.get('/api/auth/login')).code).toBe(401)
  expect(await shop.ctx.db.$count(users, eq(users.id, client.user.id))).toBe(0)
})

test('an account that owes coins cannot be deleted by its user, but by an administrator', async () => {
  const { db } = shop.ctx
  const debtor = await shop.customer({ username: 'debtor1' })
  const boss = await shop.admin()
  await db.update(users).set({ coinsOwed: 100 }).where(eq(users.id, debtor.user.id))
  expect(await debtor.post(DELETE, { password })).toMatchObject({
    status: 409,
    data: { reason: 'account_owes_coins' },
    msg: 'Your account owes 100 coins for refunded payments. Please contact support to delete it.'
  })
  const [kept] = await db.select().from(users).where(eq(users.id, debtor.user.id))
  expect(kept).toMatchObject({ username: 'debtor1', coinsOwed: 100, deletedAt: null })
  expect((await boss.delete(`${U}/${debtor.user.id}/`)).code).toBe(2000)
})

test('people download all that the shop knows of them, and nothing of others', async () => {
  const client = await shop.customer({ username: 'Export1' })
  const other = await shop.customer({ username: 'Export2' })
  const order = await shop.buy(client)
  const theirs = await shop.buy(other)
  const key = { name: 'my script', scopes: ['read'], password }
  await client.post('/api/users/api_keys/', key)
  await addRow(shop.ctx, tickets, { username: 'x', email: client.user.email, phone: '1', message: 'Help me' })
  await client.put('/api/users/preferences/columns', { value: ['id'] })
  await client.put('/api/users/u/mail_settings/', { payments: true, proxies: false, expiry: true })
  // The second address differs in a character that would be a wildcard.
  const skipped = { kind: 'proxies', language: 'en', state: 'skipped', errorCode: 'switched_off', jobId: 'a' } as const
  const mailed = (key: string, to: string, template: (typeof mails.$inferInsert)['template']) =>
    addRow(shop.ctx, mails, { ...skipped, key, to, template })
  await mailed('mine', client.user.email.toUpperCase(), 'server-outage')
  await mailed('theirs', client.user.email.replace('@', '@x'), 'proxies-delivered')
  const reply = await client.fetch(EXPORT)
  expect(reply.headers.get('content-disposition')).toBe('attachment; filename="my-data.json"')
  expect(reply.headers.get('cache-control')).toBe('no-store')
  const text = await reply.text()
  const data = JSON.parse(text) as Record<string, unknown>
  expect(data).toMatchObject({
    profile: { username: 'Export1', email: client.user.email },
    sessions: [{ is_current: true }],
    api_keys: [{ name: 'my script' }],
    preferences: [{ key: 'columns' }],
    orders: [{ order_id: order.publicId, pay_amount: '20.00' }],
    payments: [{ order_id: order.publicId, kind: 'purchase', amount: '20.00' }],
    promo_codes: [{ code: `OF-Export1-${order.id}` }],
    tickets: [{ message: 'Help me' }],
    mail_choices: { payments: true, proxies: false, expiry: true }
  })
  expect(data['points']).not.toEqual([])
  expect(data['mails']).toContainEqual(
    expect.objectContaining({ template: 'server-outage', kind: 'proxies', state: 'skipped', why: 'switched_off' })
  )
  for (const mark of [theirs.publicId, 'proxies-delivered', 'Export2', 'argon2', 'nlk_'])
    expect(text.replaceAll(/"hint":"[^"]*"/g, '')).not.toContain(mark)
  const more = [await client.get(EXPORT), await client.get(EXPORT), await client.get(EXPORT), await other.get(EXPORT)]
  expect(more.map(({ status }) => status)).toEqual([200, 200, 429, 200])
})
