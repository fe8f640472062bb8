import type { OwnTicket, OwnTicketThread, SavedReply, Ticket, TicketThread } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { HOUR } from '../../infra/clock.ts'
import { auditLog } from '../../infra/tables.ts'
import { migrationStatements } from '../../testing/migrations.ts'
import { addRow } from '../../testing/rows.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { accountRoutes } from '../accounts/index.ts'
import { captchas, users } from '../accounts/tables.ts'
import { mailJobs } from '../mail/index.ts'
import { countOpenTickets, supportRoutes } from './index.ts'
import { MESSAGES_MOST } from './answer-ticket.ts'
import { MESSAGES_AN_HOUR } from './send-ticket.ts'
import { ticketMessages, tickets } from './tables.ts'
import { accountPorts } from '../../ports.ts'

let shop: TestShop
let admin: Awaited<ReturnType<TestShop['admin']>>
let customer: Awaited<ReturnType<TestShop['customer']>>
type Page<T> = { data: T[]; total: number }

const TICKET = '/api/tickets/ticket/'
const OWN = '/api/tickets/own/'
const SAVED = '/api/tickets/saved_reply/'

beforeAll(async () => {
  shop = await startTestShop({
    routes: (mount, ctx) => {
      supportRoutes(mount, ctx)
      accountRoutes(mount, ctx, accountPorts(ctx))
    },
    jobs: mailJobs
  })
  admin = await shop.admin()
})
beforeEach(async () => {
  customer = await shop.customer()
})
afterAll(() => shop.close())

async function send(by: Pick<typeof customer, 'post'>, more: object = {}) {
  const expiresAt = new Date(shop.ctx.now().getTime() + 60_000)
  const { id } = await addRow(shop.ctx, captchas, { answer: 42, expiresAt })
  const form = { username: 'Ada', email: 'ada@example.com', phone: '+44 1', message: 'Where is my proxy?' }
  return by.post(TICKET, { ...form, captcha: 42, captcha_id: id, ...more })
}

/** A ticket of the customer, sent over HTTP. */
async function ownTicket(more: object = {}): Promise<number> {
  shop.advance(HOUR)
  expect((await send(customer, more)).code).toBe(2000)
  const { data } = await customer.get<Page<OwnTicket>>(OWN)
  return Number(data.data[0]?.id)
}
const read = async (id: number) => (await admin.get<TicketThread>(`${TICKET}${id}/`)).data
const own = async (id: number) => (await customer.get<OwnTicketThread>(`${OWN}${id}/`)).data
const answer = (id: number, text: string, after?: number) =>
  admin.post<TicketThread>(`${TICKET}${id}/answer/`, { answer: text, ...(after === undefined ? {} : { after }) })
const note = (id: number, text: string) => admin.post<TicketThread>(`${TICKET}${id}/note/`, { text })
const write = (id: number, text: string, by = customer) => by.post<OwnTicketThread>(`${OWN}${id}/message/`, { text })
const textsOf = ({ messages }: { messages: { author: string; text: string }[] }) =>
  messages.map(({ author, text }) => `${author}: ${text}`)

test('a customer and an operator write in turn; each answer is mailed with what it answers', async () => {
  const id = await ownTicket({ email: 'turns@example.com', message: 'First question' })
  expect(await read(id)).toMatchObject({ account: { id: customer.user.id }, state: 'open', assignee: null })
  expect((await answer(id, 'First answer', 0)).data.state).toBe('answered')
  shop.advance(1000)
  const written = (await write(id, 'Second\nquestion')).data
  expect(written).toMatchObject({ state: 'open', last: { author: 'customer', text: 'Second\nquestion' } })
  expect((await read(id)).waiting_since).toBe(written.last.created_at)
  const again = await answer(id, 'Second answer', written.last.id)
  expect(textsOf(again.data)).toEqual([
    'customer: First question',
    'operator: First answer',
    'customer: Second\nquestion',
    'operator: Second answer'
  ])
  expect(again.data).toMatchObject({ answer: 'Second answer', waiting_since: null })
  const mails = await shop.outbox.waitFor('turns@example.com', 2)
  expect(mails.map(({ text }) => text?.match(/> .*/g)?.join(' '))).toEqual(['> First question', '> Second > question'])
  expect(mails[1]?.text).toContain(`/support?ticket=${id}`)
  expect((await read(id)).messages.map(({ by, mail }) => [by, mail?.state])).toEqual([
    [null, undefined],
    [admin.user.username, 'sent'],
    [null, undefined],
    [admin.user.username, 'sent']
  ])
})

test('a ticket sent without an account belongs to none, whatever its address, and one reads only their own', async () => {
  shop.advance(HOUR)
  await send(shop.visitor(), { email: customer.user.email })
  expect((await customer.get<Page<OwnTicket>>(OWN)).data.total).toBe(0)
  const [row] = await shop.ctx.db.select().from(tickets).where(eq(tickets.email, customer.user.email))
  const other = await shop.customer()
  const id = await ownTicket()
  for (const path of [`${OWN}${row?.id}/`, `${OWN}${id}/`]) {
    expect((await other.get(path)).status, path).toBe(404)
    expect((await other.post(`${path}message/`, { text: 'Mine' })).status, path).toBe(404)
  }
  expect((await read(id)).messages).toHaveLength(1)
  expect((await shop.visitor().get(OWN)).status).toBe(401)
  const theirs = await admin.get<Page<Ticket>>(`/api/users/u/${customer.user.id}/tickets/`)
  expect(theirs.data.data.map(ticket => ticket.id)).toEqual([id, row?.id])
})

test('notes stay in the console: not in the customer’s calls, mails or copy of the data', async () => {
  const id = await ownTicket({ email: 'notes@example.com' })
  const noted = await note(id, 'A fishy <b>customer</b>')
  expect(noted.data.messages.at(-1)).toMatchObject({ author: 'note', by: admin.user.username, mail: null })
  expect(noted.data).toMatchObject({ state: 'open', answer: null })
  await answer(id, 'All is well', 0)
  await note(id, 'Still fishy')
  expect(textsOf(await own(id))).toEqual(['customer: Where is my proxy?', 'operator: All is well'])
  const list = await customer.get<Page<OwnTicket>>(OWN)
  expect(list.data.data[0]?.last.text).toBe('All is well')
  const written = await write(id, 'Thanks')
  const mails = await shop.outbox.waitFor('notes@example.com')
  const copy = await (await customer.fetch('/api/users/u/data_export')).text()
  expect(copy).toContain('All is well')
  expect(copy).toContain('Thanks')
  for (const seen of [list, written, mails, copy]) expect(JSON.stringify(seen)).not.toMatch(/fishy/)
  // An operator's name neither.
  for (const seen of [list, written]) expect(JSON.stringify(seen)).not.toContain(admin.user.username)
})

test('a message that was sent twice is kept once, as is a note; an answer to what was not read is refused', async () => {
  const id = await ownTicket()
  await Promise.all([write(id, 'Hello?'), write(id, 'Hello?'), write(id, 'Hello?')])
  await Promise.all([note(id, 'Known'), note(id, 'Known')])
  expect(textsOf(await read(id))).toEqual(['customer: Where is my proxy?', 'customer: Hello?', 'note: Known'])
  expect(await answer(id, 'An early answer', 0)).toMatchObject({
    status: 409,
    msg: 'There is a newer message. Read it, then send your reply again.'
  })
  const seen = (await own(id)).last.id
  const both = await Promise.all([answer(id, 'One', seen), answer(id, 'Two', seen)])
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
  // A program that names nothing it has read answers only what waits.
  expect((await answer(id, 'Three')).msg).toBe('This ticket already has a reply')
  expect((await answer(id, 'By the way', (await own(id)).last.id)).status).toBe(200)
})

test('a closed ticket takes no message, stays closed, and takes them again when reopened', async () => {
  const id = await ownTicket()
  await admin.post(`${TICKET}${id}/close/`)
  expect(await write(id, 'Wait')).toMatchObject({
    status: 409,
    msg: 'This ticket is closed. Please send a new one.'
  })
  expect(await answer(id, 'Too late', 0)).toMatchObject({ status: 409, data: { reason: 'ticket_not_open' } })
  expect((await note(id, 'Closed by mistake')).data.state).toBe('closed')
  expect(textsOf(await own(id))).toEqual(['customer: Where is my proxy?'])
  await admin.post(`${TICKET}${id}/reopen/`)
  expect((await write(id, 'Thanks')).data.state).toBe('open')
})

test('a message raises what a new ticket raises, once until it is answered', async () => {
  const id = await ownTicket()
  const before = await countOpenTickets(shop.ctx.db)
  for (const text of ['One', 'Two']) await write(id, text)
  expect(await countOpenTickets(shop.ctx.db)).toBe(before)
  await answer(id, 'Answer', (await own(id)).last.id)
  expect(await countOpenTickets(shop.ctx.db)).toBe(before - 1)
  for (const text of ['Three', 'Four']) await write(id, text)
  expect(await countOpenTickets(shop.ctx.db)).toBe(before)
})

test('the customer’s screen hears of answers and closings, not of notes and assignees', async () => {
  const id = await ownTicket()
  const publish = vi.spyOn(shop.ctx.changes, 'publish')
  const heard = async (change: () => Promise<unknown>) => {
    publish.mockClear()
    await change()
    return publish.mock.calls.flat(2).map(({ userId }) => userId)
  }
  const theirs = customer.user.id
  expect(await heard(() => answer(id, 'Answer', 0))).toEqual([undefined, theirs])
  expect(await heard(() => note(id, 'Note'))).toEqual([undefined])
  expect(await heard(() => admin.post(`${TICKET}${id}/assign/`, { assignee: admin.user.id }))).toEqual([undefined])
  expect(await heard(() => admin.post(`${TICKET}${id}/close/`))).toEqual([undefined, theirs])
  await admin.post(`${TICKET}${id}/reopen/`)
  expect(await heard(() => write(id, 'Thanks'))).toEqual([theirs])
  publish.mockRestore()
  await admin.post(`${TICKET}${id}/assign/`, { assignee: null })
})

test('tickets are assigned to operators who may answer them, and found by queue and by how long they wait', async () => {
  const [first, second] = [await ownTicket(), await ownTicket()]
  const assign = (id: number, assignee: unknown) => admin.post<TicketThread>(`${TICKET}${id}/assign/`, { assignee })
  const viewer = await shop.admin()
  await shop.ctx.db.update(users).set({ operatorRole: 'viewer' }).where(eq(users.id, viewer.user.id))
  expect((await viewer.get<{ id: number }[]>('/api/tickets/assignees/')).data.map(({ id }) => id)).toEqual([
    admin.user.id
  ])
  for (const other of [viewer.user.id, customer.user.id, 999_999])
    expect(await assign(first, other)).toMatchObject({
      status: 400,
      data: { errors: { assignee: expect.any(String) } }
    })
  expect((await assign(first, admin.user.id)).data.assignee).toEqual({
    id: admin.user.id,
    username: admin.user.username
  })
  await assign(first, admin.user.id)
  const [entry, ...more] = await shop.ctx.db
    .select()
    .from(auditLog)
    .where(sql`${auditLog.action} = 'ticket.assign' and ${auditLog.targetId} = ${String(first)}`)
  expect([entry?.before, entry?.after, more]).toEqual([{ assignee: null }, { assignee: admin.user.username }, []])
  const found = async (query: string, by = admin) =>
    (await by.get<Page<Ticket>>(`${TICKET}?limit=100&${query}`)).data.data.map(({ id }) => id)
  expect(await found('queue=mine')).toEqual([first])
  expect(await found('queue=mine', viewer)).toEqual([])
  expect(await found('queue=unassigned')).toContain(second)
  expect(await found('queue=unassigned')).not.toContain(first)
  await answer(first, 'Done', 0)
  shop.advance(1000)
  await write(first, 'Not done')
  const waiting = await found('queue=waiting&sort_by=waiting_since&sort_order=asc')
  expect(waiting.indexOf(first)).toBeGreaterThan(waiting.indexOf(second))
  await admin.post(`${TICKET}${first}/close/`)
  expect(await found('queue=mine')).toEqual([])
  expect((await found('sort_by=waiting_since&sort_order=asc')).at(-1)).toBe(first)
  expect((await assign(first, null)).data.assignee).toBeNull()
})

test('an account writes so much an hour, and so much in a ticket', async () => {
  const id = await ownTicket()
  for (let n = 0; n < MESSAGES_AN_HOUR; n += 1) expect((await write(id, `Message ${n}`)).status).toBe(200)
  expect((await write(id, 'One more')).status).toBe(429)
  shop.advance(HOUR + 1000)
  await shop.ctx.db.execute(sql`insert into ticket_messages (ticket_id, author, text, created_at)
    select ${id}, 'customer', 'x', ${shop.ctx.now().toISOString()}::timestamptz
    from generate_series(1, ${MESSAGES_MOST - MESSAGES_AN_HOUR})`)
  expect(await write(id, 'One more')).toMatchObject({ status: 409, data: { reason: 'ticket_full' } })
  for (const text of ['', '   ', 'x'.repeat(5001), 'nul \0']) expect((await write(id, text)).status).toBe(400)
})

test('tickets with all messages go with their account, and with their deletion', async () => {
  const [kept, gone] = [await ownTicket({ email: 'another@example.com' }), await ownTicket()]
  await write(gone, 'Words of a deleted ticket')
  await admin.delete(`${TICKET}${gone}/`)
  expect(await shop.ctx.db.$count(ticketMessages, eq(ticketMessages.ticketId, gone))).toBe(0)
  await write(kept, 'Words of the account')
  const others = await addRow(shop.ctx, tickets, { username: 'x', email: 'y@example.com', phone: '1', message: 'z' })
  expect((await admin.delete(`/api/users/u/${customer.user.id}/`)).code).toBe(2000)
  expect(await shop.ctx.db.$count(tickets, eq(tickets.id, kept))).toBe(0)
  expect(await shop.ctx.db.$count(ticketMessages, eq(ticketMessages.ticketId, kept))).toBe(0)
  expect(await shop.ctx.db.$count(tickets, eq(tickets.id, others.id))).toBe(1)
  const { rows } = await shop.ctx.db.execute(
    sql`select before from audit_log where target_type = 'ticket' and target_id = ${String(gone)} and before is not null`
  )
  expect(rows).toEqual([])
})

test('saved replies are kept, found by title and text, edited and deleted', async () => {
  const made = (await admin.post<SavedReply>(SAVED, { title: 'Ports', text: 'The port is 8080.' })).data
  await admin.post(SAVED, { title: 'Hours', text: 'We are here from 9 to 5.' })
  const titles = async (search = '') =>
    (await admin.get<Page<SavedReply>>(`${SAVED}?search=${search}`)).data.data.map(({ title }) => title)
  expect([await titles(), await titles('8080'), await titles('HOUR')]).toEqual([
    ['Hours', 'Ports'],
    ['Ports'],
    ['Hours']
  ])
  const form = { title: 'Ports', text: 'The port is 8081.' }
  expect((await admin.put<SavedReply>(`${SAVED}${made.id}/`, { ...form, version: made.version })).data).toMatchObject(
    form
  )
  expect((await admin.put(`${SAVED}${made.id}/`, { ...form, text: 'x', version: made.version })).status).toBe(409)
  expect((await admin.post(SAVED, { title: '', text: 'x' })).status).toBe(400)
  expect((await admin.delete(`${SAVED}${made.id}/`)).code).toBe(2000)
  expect(await titles()).toEqual(['Hours'])
})

test('queues and own tickets are read by indexes', async () => {
  const { db } = shop.ctx
  await db.execute(sql`insert into tickets (created_at, username, email, phone, message, state, user_id, assignee)
    select now(), 'x', 'x@example.com', '1', 'Help', case when n % 500 = 0 then 'open' else 'closed' end, n % 900, n % 90
    from generate_series(1, 9000) n`)
  await db.execute(sql`analyze tickets`)
  const plans: [query: ReturnType<typeof sql>, index: string][] = [
    [sql`select id from tickets where user_id = 5 order by id desc limit 10`, 'tickets_user'],
    [
      sql`select id from tickets where assignee = 5 and state <> 'closed' order by id desc limit 10`,
      'tickets_assignee'
    ],
    [
      sql`select id from tickets order by (case when state = 'open' then coalesce(waiting_since, created_at)
        else 'infinity'::timestamptz end), id limit 10`,
      'tickets_waiting'
    ]
  ]
  for (const [query, index] of plans) {
    const { rows } = await db.execute<Record<string, string>>(sql`explain ${query}`)
    expect(rows.map(row => row['QUERY PLAN']).join('\n')).toContain(index)
  }
})

test('answers of the version before become messages, also those that it writes while this one starts', async () => {
  const { db } = shop.ctx
  const old = { username: 'x', email: 'old@example.com', phone: '1', message: 'Old question' }
  const answered = await addRow(shop.ctx, tickets, {
    ...old,
    state: 'answered',
    answer: 'Old answer',
    answeredBy: admin.user.id
  })
  const late = await addRow(shop.ctx, tickets, old)
  await db.execute(sql`drop trigger keep_answer on tickets; drop function keep_ticket_answer`)
  const ofAnswers = migrationStatements('_ticket_messages.sql').filter(one =>
    /keep_|INSERT INTO ticket_messages/.test(one)
  )
  for (const statement of ofAnswers) await db.execute(sql.raw(statement))
  await db.update(tickets).set({ state: 'answered', answer: 'Late answer' }).where(eq(tickets.id, late.id))
  expect(await read(answered.id)).toMatchObject({ answer: 'Old answer', answered_by: admin.user.username })
  expect(textsOf(await read(answered.id))).toEqual(['customer: Old question', 'operator: Old answer'])
  expect(textsOf(await read(late.id))).toEqual(['customer: Old question', 'operator: Late answer'])
})

test('a ticket is found by its sender, its first message, an answer, a note and what the customer wrote later', async () => {
  const id = await ownTicket({ email: 'finder@example.com', message: 'The proxy is slow at noon' })
  await answer(id, 'We moved you to Frankfurt')
  await note(id, 'Knows the owner of Zebra Ltd.')
  await write(id, 'Still slow, at 100 % load')
  const found = async (search: string) =>
    (await admin.get<Page<Ticket>>(`${TICKET}?search=${encodeURIComponent(search)}`)).data.data.map(one => one.id)
  for (const term of ['finder@', 'at NOON', 'frankfurt', 'zebra', '100 %'])
    expect(await found(term), term).toEqual([id])
  expect(await found('frankfurt_')).toEqual([])
})
