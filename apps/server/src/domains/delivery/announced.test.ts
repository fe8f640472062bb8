import type { BulkRun, Order, TimelineEntry } from '@netlet/contract'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { and, eq, isNotNull, sql } from '../../infra/db/drizzle.ts'
import { DAY } from '../../infra/clock.ts'
import { auditLog } from '../../infra/tables.ts'
import { deliveryPorts } from '../../workers.ts'
import { orders } from '../orders/tables.ts'
import { startServersStack, type ServersStack } from './servers/servers.fixture.ts'
import { runTask } from './tasks.ts'

let stack: ServersStack
let [one, two]: [number, number] = [0, 0]

beforeAll(async () => {
  stack = await startServersStack('127.71.0.0/26')
  ;[one, two] = [await stack.delivered(8), await stack.delivered(8)]
}, 120_000)
beforeEach(() => stack.ctx.db.execute(sql`delete from pgboss.job where name = 'send-mail'`))
afterAll(() => stack?.close())

/** Runs requested tasks, and lets the agents confirm them. */
async function settle(): Promise<void> {
  const waiting = await stack.ctx.db.select().from(orders).where(isNotNull(orders.task))
  for (const { id, taskId } of waiting) await runTask(stack.ctx, deliveryPorts, { orderId: id, taskId: taskId ?? '' })
  await stack.settle()
}

/** The mails about changes that wait to be sent. */
async function announced(): Promise<object[]> {
  await stack.mails('order-changed')
  const { rows } = await stack.ctx.db.execute<{ data: object }>(
    sql`select data -> 'data' as data from pgboss.job where name = 'send-mail' and data ->> 'template' = 'order-changed'
      order by created_on`
  )
  return rows.map(({ data }) => data)
}

const publicId = async (id: number) => (await stack.order(id)).publicId
const post = (id: number, action: string, body?: object, by = stack.admin) =>
  by.post<Order>(`/api/orders/order_list/${id}/${action}/`, body)

test('an operator’s new password is mailed once it works, with the reason, which history and audit log keep', async () => {
  expect((await post(one, 'reset_proxy_password', { message: 'It was in a public list.' })).code).toBe(2000)
  expect(await announced()).toEqual([])
  await settle()
  expect(await announced()).toMatchObject([
    { change: 'password', order_id: await publicId(one), message: 'It was in a public list.' }
  ])
  const { data } = await stack.admin.get<{ data: TimelineEntry[] }>(`/api/orders/order_list/${one}/timeline/`)
  expect(data.data.find(({ kind }) => kind === 'task_requested')?.detail).toMatchObject({
    task: 'reset',
    message: 'It was in a public list.',
    emailed: true
  })
  const [entry] = await stack.ctx.db
    .select({ after: auditLog.after })
    .from(auditLog)
    .where(and(eq(auditLog.action, 'order.reset'), eq(auditLog.targetId, String(one))))
  expect(entry?.after).toEqual({ message: 'It was in a public list.' })
})

test.each([
  ['an operator unticks it', { email_customer: false }, () => stack.admin],
  ['the customer does it, whatever the call says', { email_customer: true, message: 'mine' }, () => stack.buyer]
] as const)('no mail if %s', async (_when, body, by) => {
  expect((await post(one, 'reset_proxy_password', body, by())).code).toBe(2000)
  await settle()
  expect(await announced()).toEqual([])
})

test('a failed change of addresses is not mailed', async () => {
  const server = `/api/servers/servers/${stack.first.id}`
  await stack.admin.post(`${server}/pause/`)
  expect((await post(two, 'reset_proxy')).code).toBe(2000)
  await settle()
  expect(await stack.order(two)).toMatchObject({ taskErrorCode: 'out_of_stock' })
  expect(await announced()).toEqual([])
  await stack.admin.post(`${server}/resume/`)
})

test('another end is mailed with both dates', async () => {
  const end = (await stack.order(one)).expiredAt?.getTime() ?? 0
  expect((await post(one, 'update_proxy_expired_at', { expired_at: end + DAY, message: 'A gift.' })).code).toBe(2000)
  const ends_at = new Date(end + DAY).toISOString()
  expect((await post(one, 'credit', { days: 2, note: 'slow support', ends_at, message: '' })).code).toBe(2000)
  expect((await post(one, 'update_proxy_expired_at', { expired_at: end, email_customer: false })).code).toBe(2000)
  expect(await announced()).toMatchObject([
    { change: 'later', expires_at: ends_at, expired_at: new Date(end).toISOString(), message: 'A gift.' },
    { change: 'later', expired_at: ends_at }
  ])
})

test('a bulk action mails a customer once, about all orders', async () => {
  const body = { action: 'order.reset', selection: { ids: [one, two] }, message: 'Old passwords leaked.' }
  await stack.finish((await stack.admin.post<BulkRun>('/api/bulk/', body)).data)
  await settle()
  const ids = [await publicId(one), await publicId(two)]
  const [mail, ...others] = await announced()
  expect(others).toEqual([])
  expect(mail).toMatchObject({ order_id: ids[0], message: body.message, more: [{ order_id: ids[1] }] })
  expect(await stack.ctx.db.execute(sql`select from mail_parts`)).toMatchObject({ rowCount: 0 })
  const silent = { ...body, email_customer: false }
  await stack.finish((await stack.admin.post<BulkRun>('/api/bulk/', silent)).data)
  await settle()
  expect(await announced()).toHaveLength(1)
})
