import type { Faq, Ticket } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { captchas } from '../accounts/tables.ts'
import { auditLog } from '../../infra/tables.ts'
import { supportRoutes } from './index.ts'
import { faqs } from './tables.ts'
import { TICKETS_AN_HOUR } from './send-ticket.ts'
import { addRow } from '../../testing/rows.ts'

let shop: TestShop
let admin: Awaited<ReturnType<TestShop['admin']>>
type Page<T> = { data: T[]; total: number }

const FAQ = '/api/tickets/fqa/'
const TICKET = '/api/tickets/ticket/'

beforeAll(async () => {
  shop = await startTestShop({ routes: supportRoutes })
  admin = await shop.admin()
})

afterAll(() => shop.close())

async function captcha(): Promise<{ captcha: number; captcha_id: string }> {
  const expiresAt = new Date(shop.ctx.now().getTime() + 60_000)
  const made = await addRow(shop.ctx, captchas, { answer: 42, expiresAt })
  return { captcha: 42, captcha_id: made.id }
}

const ticketForm = { username: 'Ada', email: 'ada@example.com', phone: '+44 1', message: 'Where is my proxy?' }

test('Q&A form: question and answer are required', async () => {
  const whole = { question: 'How?', answer: 'So.' }
  for (const missing of [undefined, '', '   ', null]) {
    expect(await admin.post(FAQ, { ...whole, question: missing })).toMatchObject({
      status: 400,
      msg: 'Please enter question'
    })
    expect(await admin.post(FAQ, { ...whole, answer: missing })).toMatchObject({
      status: 400,
      msg: 'Please enter answer'
    })
  }
})

test('questions are public, found by text in either part, and kept by administrators', async () => {
  const made = await admin.post<Faq>(FAQ, { question: 'What is a /29?', answer: 'Eight addresses, 100% yours' })
  expect(made.data).toMatchObject({ question: 'What is a /29?' })
  for (const search of ['what is a /29', '100% YOURS']) {
    const found = await shop.visitor().get<Page<Faq>>(`${FAQ}?search=${encodeURIComponent(search)}&limit=5`)
    expect(found.data).toMatchObject({ total: 1, data: [made.data] })
  }
  expect((await shop.visitor().get<Page<Faq>>(`${FAQ}?search=100_`)).data.total).toBe(0)
  const path = `${FAQ}${made.data.id}/`
  const changed = { question: 'What is a /28?', answer: 'Sixteen' }
  expect((await admin.put<Faq>(path, changed)).data).toEqual({
    id: made.data.id,
    ...changed,
    version: expect.any(String) as unknown
  })
  expect((await admin.delete(path)).code).toBe(2000)
  expect([(await admin.delete(path)).status, (await admin.put(path, changed)).status]).toEqual([404, 404])
  const log = await shop.ctx.db.select().from(auditLog).where(eq(auditLog.targetType, 'faq')).orderBy(auditLog.id)
  expect(log.filter(entry => entry.targetId === String(made.data.id)).map(entry => entry.action)).toEqual([
    'faq.create',
    'faq.edit',
    'faq.delete'
  ])
})

test('a question in Chinese is found in either language, changed or left alone, and comes back with its texts', async () => {
  const translations = { 'zh-CN': { question: '什么是轮换？', answer: '地址会<b>更换</b>' } }
  const texts = { question: 'What is rotation?', answer: 'Addresses change' }
  const made = (await admin.post<Faq>(FAQ, { ...texts, translations })).data
  expect(made).toMatchObject({ ...texts, translations })
  for (const search of ['rotation', '轮换', '<b>更换'])
    expect((await shop.visitor().get<Page<Faq>>(`${FAQ}?search=${encodeURIComponent(search)}`)).data).toMatchObject({
      total: 1,
      data: [made]
    })
  const path = `${FAQ}${made.id}/`
  const edited = (await admin.put<Faq>(path, { ...texts, answer: 'They change', version: made.version })).data
  expect(edited).toMatchObject({ answer: 'They change', translations })
  const refused = { ...texts, translations: { 'zh-CN': { answer: '长'.repeat(10_001) } } }
  expect(await admin.put(path, refused)).toMatchObject({
    status: 400,
    data: { errors: { 'translations.zh-CN.answer': 'At most 10000 characters' } }
  })
  await admin.delete(path)
  expect((await admin.post<Faq>(`${path}restore/`)).data).toEqual(edited)
  const part = { ...texts, translations: { 'zh-CN': { question: '什么是轮换？', answer: '' } } }
  expect((await admin.put<Faq>(path, part)).data.translations).toEqual({ 'zh-CN': { question: '什么是轮换？' } })
  await admin.delete(path)
})

test('a deleted question is restored as it was, once, and only if it was deleted', async () => {
  const form = { question: 'What is undone?', answer: 'All of it' }
  const first = (await admin.post<Faq>(FAQ, form)).data
  const [kept] = await shop.ctx.db.select().from(faqs).where(eq(faqs.id, first.id))
  await admin.delete(`${FAQ}${first.id}/`)
  const restore = (id: number) => admin.post<Faq>(`${FAQ}${id}/restore/`)
  const both = await Promise.all([restore(first.id), restore(first.id)])
  expect(both.map(({ data }) => data)).toEqual([first, first])
  expect(await shop.ctx.db.select().from(faqs).where(eq(faqs.id, first.id))).toEqual([kept])
  const entries = await shop.ctx.db.select().from(auditLog).where(eq(auditLog.action, 'faq.restore'))
  expect(entries.filter(entry => entry.targetId === String(first.id))).toMatchObject([{ after: form }])
  expect((await restore(first.id + 1000)).status).toBe(404)
  // The next new question gets a new number.
  expect((await admin.post<Faq>(FAQ, form)).data.id).toBeGreaterThan(first.id)
})

test('ticket form: name, email, phone and message are required', async () => {
  for (const field of ['username', 'email', 'phone', 'message'] as const) {
    const refused = await shop.visitor().post(TICKET, { ...ticketForm, ...(await captcha()), [field]: '' })
    expect(refused).toMatchObject({ status: 400, msg: 'Please fill out the form first!' })
  }
  const wrong = await shop.visitor().post(TICKET, { ...ticketForm, ...(await captcha()), email: 'nowhere' })
  expect(wrong).toMatchObject({ status: 400, msg: 'Please input correct email format' })
})

test('ticket form: the captcha is required', async () => {
  const asked = await captcha()
  for (const answer of [undefined, '', null, 'many'])
    expect(await shop.visitor().post(TICKET, { ...ticketForm, ...asked, captcha: answer })).toMatchObject({
      status: 400,
      msg: 'Please input the calculation results in the picture first!'
    })
})

test('wrong answers count for the client that sent them, until nothing is tried any more', async () => {
  const guesser = shop.visitor({ ip: '198.51.100.60' })
  for (let i = 0; i < 50; i += 1)
    expect((await guesser.post(TICKET, { ...ticketForm, ...(await captcha()), captcha: 41 })).status).toBe(400)
  expect((await guesser.post(TICKET, { ...ticketForm, ...(await captcha()) })).status).toBe(429)
  const other = shop.visitor({ ip: '198.51.100.61' })
  expect((await other.post(TICKET, { ...ticketForm, ...(await captcha()) })).code).toBe(2000)
})

test('a ticket needs the right answer, and a captcha serves once, right or wrong', async () => {
  const first = await captcha()
  expect(await shop.visitor().post(TICKET, { ...ticketForm, ...first, captcha: 41 })).toMatchObject({
    status: 400,
    msg: 'The captcha code is not correct',
    data: { errors: { captcha: 'The captcha code is not correct' } }
  })
  expect((await shop.visitor().post(TICKET, { ...ticketForm, ...first })).status).toBe(400)
  const second = await captcha()
  const sent = await Promise.all([1, 2, 3].map(() => shop.visitor().post(TICKET, { ...ticketForm, ...second })))
  expect(sent.filter(reply => reply.code === 2000)).toHaveLength(1)
})

test('administrators read, search and delete tickets; other users cannot', async () => {
  const message = 'The needle of this test'
  await shop.visitor({ ip: '198.51.100.7' }).post(TICKET, { ...ticketForm, message, ...(await captcha()) })
  const found = await admin.get<Page<Ticket>>(`${TICKET}?search=needle%20of`)
  expect(found.data).toMatchObject({ total: 1, data: [{ ...ticketForm, message }] })
  const path = `${TICKET}${found.data.data[0]?.id}/`
  const customer = await shop.customer()
  for (const [client, status] of [
    [shop.visitor(), 401],
    [customer, 403]
  ] as const) {
    const body = { question: 'x', answer: 'y' }
    const replies = [
      await client.get(TICKET),
      await client.delete(path),
      await client.post(FAQ, body),
      await client.put(`${FAQ}1/`, body),
      await client.delete(`${FAQ}1/`)
    ]
    expect(replies.map(reply => reply.status)).toEqual(replies.map(() => status))
  }
  expect((await admin.delete(path)).code).toBe(2000)
  expect((await admin.delete(path)).status).toBe(404)
})

test('one client sends so many tickets an hour, also all at once; another client is not kept waiting', async () => {
  const flood = await Promise.all(
    Array.from({ length: TICKETS_AN_HOUR + 5 }, async (_, at) =>
      shop.visitor({ ip: `2001:db8:1:1::${at + 1}` }).post(TICKET, { ...ticketForm, ...(await captcha()) })
    )
  )
  expect(flood.filter(reply => reply.code === 2000)).toHaveLength(TICKETS_AN_HOUR)
  expect(flood.filter(reply => reply.status === 429)).toHaveLength(5)
  const from = async (ip: string) =>
    (await shop.visitor({ ip }).post(TICKET, { ...ticketForm, ...(await captcha()) })).status
  expect(await from('2001:db8:1:2::1')).toBe(200)
  // From as many clients of one customer's /48.
  await shop.ctx.db.execute(sql`
    insert into tickets (username, email, phone, message, language, client_ip, created_at)
    select 'x', 'x@example.com', '', 'x', 'en', ('2001:db8:1:' || to_hex(256 * n) || '::')::inet,
      ${shop.ctx.now().toISOString()}::timestamptz
    from generate_series(1, ${TICKETS_AN_HOUR * 16}) n`)
  expect(await from('2001:db8:1:f000::1')).toBe(429)
  expect(await from('2001:db8:6:1::1')).toBe(200)
})
