import type { Ticket } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditLog } from '../../infra/tables.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { mailJobs } from '../mail/index.ts'
import { supportRoutes } from './index.ts'
import { tickets } from './tables.ts'
import { addRow } from '../../testing/rows.ts'

let shop: TestShop
let admin: Awaited<ReturnType<TestShop['admin']>>
type Page = { data: Ticket[]; total: number }

const TICKET = '/api/tickets/ticket/'

beforeAll(async () => {
  shop = await startTestShop({ routes: supportRoutes, jobs: mailJobs })
  admin = await shop.admin()
})
afterAll(() => shop.close())

async function ticketOf(email: string, language: 'en' | 'zh-CN' = 'en'): Promise<number> {
  const values = { username: 'Ada', email, phone: '+44 1', message: 'Where is my proxy?\nI paid.', language }
  const made = await addRow(shop.ctx, tickets, values)
  return made.id
}
const read = async (id: number) => (await admin.get<Ticket>(`${TICKET}${id}/`)).data
const answered = (id: number, answer = 'Here it is.', more = {}) =>
  admin.post<Ticket>(`${TICKET}${id}/answer/`, { answer, ...more })

test("an answer is mailed in the sender's language with what was asked, kept, and written down", async () => {
  const id = await ticketOf('chinese@example.com', 'zh-CN')
  expect(await read(id)).toMatchObject({ state: 'open', answer: null, mail: null, user: null })
  const reply = await answered(id, 'First line.\nSecond <b>line</b>.')
  expect(reply.data).toMatchObject({
    state: 'answered',
    answer: 'First line.\nSecond <b>line</b>.',
    answered_by: admin.user.username,
    language: 'zh-CN'
  })
  const [mail] = await shop.outbox.waitFor('chinese@example.com')
  expect(mail?.subject).toBe(`您的工单 #${id} 已有回复`)
  expect(mail?.text).toContain('First line.\nSecond <b>line</b>.')
  expect(mail?.text).toContain('> Where is my proxy?\n> I paid.')
  expect((await read(id)).mail).toMatchObject({ state: 'sent', error: null })
  const [entry] = await shop.ctx.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.targetId, String(id)))
  expect(entry).toMatchObject({ action: 'ticket.answer', before: { state: 'open' }, after: { state: 'answered' } })
})

test('a ticket is answered once in spite of concurrent answers; the language can be chosen', async () => {
  const id = await ticketOf('once@example.com', 'zh-CN')
  const replies = await Promise.all([1, 2, 3].map(at => answered(id, `Answer ${at}`, { language: 'en' })))
  expect(replies.map(reply => reply.status).toSorted((a, b) => a - b)).toEqual([200, 409, 409])
  expect(replies.find(reply => reply.status === 409)?.msg).toBe('This ticket already has a reply')
  const mails = await shop.outbox.waitFor('once@example.com')
  expect(mails.map(mail => mail.subject)).toEqual([`Reply to your ticket #${id}`])
})

test('an answer that the mail service refuses shows as failed, and why', async () => {
  const id = await ticketOf('refused@example.com')
  shop.outbox.fail(400, 1, {
    errors: [{ message: 'Does not contain a valid address.', field: 'personalizations.0.to' }]
  })
  await answered(id)
  await shop.drain()
  expect((await read(id)).mail).toMatchObject({
    state: 'failed',
    error_code: 'rejected',
    id: expect.any(Number) as unknown
  })
})

test('an empty answer, and one of a language that there is not, are refused', async () => {
  const id = await ticketOf('form@example.com')
  expect(await answered(id, '  ')).toMatchObject({ status: 400, msg: 'Please enter answer' })
  expect((await answered(id, 'Yes', { language: 'fr' })).status).toBe(400)
  expect((await answered(id + 10_000)).status).toBe(404)
  expect((await read(id)).state).toBe('open')
})

test('a ticket is closed and opened again; doing it twice changes nothing; the list is filtered by state', async () => {
  const id = await ticketOf('closing@example.com')
  const does = (what: string) => admin.post<Ticket>(`${TICKET}${id}/${what}/`)
  expect([(await does('close')).data.state, (await does('close')).data.state]).toEqual(['closed', 'closed'])
  const closed = await admin.get<Page>(`${TICKET}?state=closed&search=closing`)
  expect(closed.data.data.map(ticket => ticket.id)).toEqual([id])
  expect((await admin.get<Page>(`${TICKET}?state=open&search=closing`)).data.total).toBe(0)
  expect([(await does('reopen')).data.state, (await does('reopen')).data.state]).toEqual(['open', 'open'])
  await answered(id)
  await does('close')
  expect((await does('reopen')).data.state).toBe('answered')
  const entries = await shop.ctx.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.targetId, String(id)))
    .orderBy(auditLog.id)
  expect(entries.map(entry => entry.action)).toEqual([
    'ticket.close',
    'ticket.reopen',
    'ticket.answer',
    'ticket.close',
    'ticket.reopen'
  ])
})

test('a change of state that expects another state than the ticket is in changes nothing', async () => {
  const id = await ticketOf('undo@example.com')
  const does = (what: string, expected: string) => admin.post<Ticket>(`${TICKET}${id}/${what}/`, { expected })
  expect(await does('reopen', 'closed')).toMatchObject({ status: 409, data: { reason: 'stale' } })
  expect((await does('close', 'open')).data.state).toBe('closed')
  expect((await does('reopen', 'closed')).data.state).toBe('open')
  await answered(id)
  expect(await does('close', 'open')).toMatchObject({ status: 409, data: { reason: 'stale' } })
  expect((await read(id)).state).toBe('answered')
  expect((await does('close', 'lost')).status).toBe(400)
})

test('a change of state is reverted by its own count of changes only, not after another operator repeated it', async () => {
  const id = await ticketOf('anew@example.com')
  const does = (what: string, body: object = {}) =>
    admin.post<Ticket & { changes: number | null }>(`${TICKET}${id}/${what}/`, body)
  const { changes } = (await does('close')).data
  expect((await does('close')).data.changes).toBeNull()
  await does('reopen')
  await does('close')
  const undo = (count: number | null) => does('reopen', { expected: 'closed', changes: count })
  expect(await undo(changes)).toMatchObject({ status: 409, data: { reason: 'stale' } })
  expect(await undo(Number(changes) + 2)).toMatchObject({ code: 2000, data: { state: 'open' } })
})

test('a ticket names the user with its e-mail address, in any case', async () => {
  const { user } = await shop.customer({ email: 'mia@example.com' })
  const id = await ticketOf('MIA@Example.com')
  expect((await read(id)).user).toEqual({ id: user.id, username: user.username })
})
