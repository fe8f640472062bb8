import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { eq } from 'drizzle-orm'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { users } from '../accounts/tables.ts'
import { openWorld, SECRET, type World } from './notices.fixture.ts'
import { noticeChannels } from './tables.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world?.close())
beforeEach(async () => {
  await world.clear()
  world.at('2026-06-15T12:00:00Z')
})

const open = async () => {
  world.found.set('mails', [{ subject: '', words: 'mails', params: { count: 1 } }])
  await world.watch()
}
const last = async () => (await world.sends()).at(-1)

test('a generic webhook gets signed JSON, with one id for every try', async () => {
  await world.channel()
  let answers = [500, 204]
  world.receiver.state.answer = reply => void reply.writeHead(answers.shift() ?? 204).end()
  await open()
  await world.sendDue()
  world.pass(MINUTE)
  await world.sendDue()
  const [first, second] = world.receiver.received
  expect(first?.headers['webhook-id']).toBe(second?.headers['webhook-id'])
  const headers = second?.headers as Record<string, string>
  // The library refuses what is not of this moment: the time is signed with the rest.
  const at = Number(headers['webhook-timestamp']) * 1000
  expect(at).toBe(world.ctx.now().getTime())
  const signature = new Webhook(SECRET).sign(headers['webhook-id'] ?? '', new Date(at), second?.body ?? '')
  expect(headers['webhook-signature']).toBe(signature)
  expect(JSON.parse(second?.body ?? '')).toMatchObject({
    type: 'notice.opened',
    data: { severity: 'warning', title: 'Mails that could not be sent: 1', notices: [{ cause: 'mails', count: 1 }] }
  })
  expect(await last()).toMatchObject({ state: 'sent', tries: 2 })
  answers = []
})

test('a chat gets a message that calls nobody, in the language of the channel', async () => {
  await world.channel({ kind: 'chat', target: `${world.receiver.url}/api/webhooks/1/secret`, language: 'zh-CN' })
  await open()
  await world.sendDue()
  const [message] = world.receiver.received
  expect(message?.path).toBe('/api/webhooks/1/secret')
  expect(JSON.parse(message?.body ?? '')).toMatchObject({
    content: '[警告] 无法发送的邮件：1',
    embeds: [
      { title: '无法发送的邮件：1', url: expect.stringContaining('/dashboard/index/mails?state=failed') as string }
    ],
    allowed_mentions: { parse: [] }
  })
  expect(await last()).toMatchObject({ state: 'sent' })
})

test('mail goes to the operators that were chosen, once, each in their language, and what came of it is shown', async () => {
  const [one, two] = [await world.shop.admin(), await world.shop.admin()]
  await world.ctx.db.update(users).set({ language: 'zh-CN' }).where(eq(users.id, two.user.id))
  await world.channel({ kind: 'mail', target: '', user_ids: [one.user.id] })
  await world.channel({ kind: 'mail', target: '' })
  await open()
  await Promise.all([world.sendDue('a'), world.sendDue('b')])
  const [first, all] = await world.sends()
  expect(first?.mailKeys).toEqual([`notice:${first?.key}:${one.user.id}`])
  expect(all?.mailKeys).toHaveLength(2)
  const { data } = await one.get<{ log: { state: string; kind: string }[] }>(
    `/api/settings/notices/${first?.noticeId}/`
  )
  expect(data.log.map(({ state, kind }) => [state, kind])).toEqual([
    ['sent', 'mail'],
    ['sent', 'mail']
  ])
})

test('a mail channel whose people are gone says so, and is not tried again', async () => {
  const gone = await world.shop.admin()
  await world.channel({ kind: 'mail', target: '', user_ids: [gone.user.id] })
  await world.ctx.db.update(users).set({ isActive: false }).where(eq(users.id, gone.user.id))
  await open()
  await world.sendDue()
  expect(await last()).toMatchObject({ state: 'failed', failure: 'no_recipient' })
})

test('429 with Retry-After is heeded: nothing is sent before that', async () => {
  await world.channel()
  let busy = true
  world.receiver.state.answer = reply =>
    void (busy ? reply.writeHead(429, { 'retry-after': '300' }).end('{"retry_after":300}') : reply.writeHead(204).end())
  await open()
  await world.sendDue()
  expect(await last()).toMatchObject({ state: 'waiting', status: 429, failure: 'status', tries: 1 })
  expect((await last())?.dueAt).toEqual(new Date(world.ctx.now().getTime() + 5 * MINUTE))
  busy = false
  world.pass(4 * MINUTE)
  await world.sendDue()
  expect(world.receiver.received).toHaveLength(1)
  world.pass(MINUTE)
  await world.sendDue()
  expect(await last()).toMatchObject({ state: 'sent', tries: 2 })
})

test.for([
  ['500', { failure: 'status', status: 500 }],
  ['a page instead of the chat', { failure: 'no_chat', status: 200 }],
  ['half a body', { failure: 'cut_off' }],
  ['silence', { failure: 'timeout' }]
] as const)('%s is tried again, and in the end it stands in the console', async ([what, expected]) => {
  await world.channel({ kind: 'chat', target: `${world.receiver.url}/hook` })
  world.receiver.state.answer = reply => {
    if (what === '500') reply.writeHead(500).end('no')
    else if (what === 'a page instead of the chat') reply.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
    else if (what === 'half a body') {
      reply.writeHead(200, { 'content-length': '100' })
      reply.write('{"id":')
      setTimeout(() => reply.destroy(), 20)
    }
    // Silence: the connection stays, and nothing comes.
  }
  await open()
  await world.sendDue()
  expect(await last()).toMatchObject({ state: 'waiting', tries: 1, ...expected })
  for (let n = 0; n < 12; n++) {
    world.pass(8 * HOUR)
    await world.sendDue()
  }
  // What the chat may have taken is not repeated for ever: it cannot tell a repeat from news.
  const tries = what === 'half a body' || what === 'silence' ? 3 : 11
  expect(await last()).toMatchObject({ state: 'failed', tries, ...expected })
  const [channel] = await world.ctx.db.select().from(noticeChannels)
  expect(channel).toMatchObject({ failure: expected.failure, failingSince: new Date('2026-06-15T12:00:00Z') })
  const boss = await world.shop.admin()
  const { data } = await boss.get<{ data: { id: number }[] }>('/api/settings/notices/?state=failed')
  expect(data.data).toHaveLength(1)
  await boss.post(`/api/settings/notices/${data.data[0]?.id}/acknowledge/`, {})
  expect((await boss.get<{ data: object[] }>('/api/settings/notices/?state=failed')).data.data).toEqual([])
})

test.for([
  ['500', { failure: 'status', status: 500 }],
  ['429', { failure: 'status', status: 429 }],
  ['502 in HTML', { failure: 'status', status: 502 }],
  ['half a body', { failure: 'cut_off' }],
  ['silence', { failure: 'timeout' }]
] as const)('a generic webhook that answers with %s is asked again, with the same id', async ([what, expected]) => {
  await world.channel()
  world.receiver.state.answer = reply => {
    if (what === '500') reply.writeHead(500).end('no')
    else if (what === '429') reply.writeHead(429).end()
    else if (what === '502 in HTML') reply.writeHead(502, { 'content-type': 'text/html' }).end('<html>')
    else if (what === 'half a body') {
      reply.writeHead(200, { 'content-length': '100' })
      reply.write('{"ok":')
      setTimeout(() => reply.destroy(), 20)
    }
    // Silence: the connection stays, and nothing comes.
  }
  await open()
  await world.sendDue()
  expect(await last()).toMatchObject({ state: 'waiting', tries: 1, ...expected })
  world.receiver.state.answer = reply => void reply.writeHead(204).end()
  world.pass(MINUTE)
  await world.sendDue()
  expect(await last()).toMatchObject({ state: 'sent', tries: 2 })
  expect(new Set(world.receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
})

test('a webhook that was deleted is given up at once, and a channel that is off gets nothing', async () => {
  const { id } = await world.channel()
  world.receiver.state.answer = reply => void reply.writeHead(404).end('{"message":"Unknown Webhook"}')
  await open()
  await world.sendDue()
  expect(await last()).toMatchObject({ state: 'failed', status: 404, tries: 1 })
  world.found.set('prices', [{ subject: '', words: 'prices', params: { count: 1 } }])
  await world.watch()
  await world.ctx.db.update(noticeChannels).set({ enabled: false }).where(eq(noticeChannels.id, id))
  await world.sendDue()
  expect(await last()).toMatchObject({ state: 'skipped' })
  expect(world.receiver.received).toHaveLength(1)
})

test('a process that dies after it took a message leaves it to another one', async () => {
  await world.channel()
  await open()
  const { claimSend } = await import('./claim.ts')
  const send = await last()
  expect(await claimSend(world.ctx, send?.id ?? 0, 'dead')).not.toBeNull()
  await world.sendDue('other')
  expect(world.receiver.received).toHaveLength(0)
  world.pass(3 * MINUTE)
  await world.sendDue('other')
  await world.sendDue('third')
  expect(world.receiver.received).toHaveLength(1)
  expect(await last()).toMatchObject({ state: 'sent', tries: 2 })
})

test('a test says at once what is wrong, and names no secret', async () => {
  const boss = await world.shop.admin()
  const { id } = await world.channel({ kind: 'chat', target: `${world.receiver.url}/api/webhooks/7/s3cr3t` })
  world.receiver.state.answer = reply => void reply.writeHead(500).end('down')
  const { data } = await boss.post<{ send_id: number }>(`/api/settings/notices/channels/${id}/test/`, {})
  await world.sendDue()
  expect((await boss.get(`/api/settings/notices/sends/${data.send_id}/`)).data).toMatchObject({
    telling: 'test',
    state: 'failed',
    status: 500,
    detail: 'down'
  })
  const shown = JSON.stringify(await boss.get('/api/settings/notices/channels/'))
  expect(shown).toContain(new URL(world.receiver.url).host)
  expect(shown).not.toContain('s3cr3t')
  expect(shown).not.toContain('whsec')
})

test.for([
  'http://127.0.0.1:80/',
  'https://10.0.0.1/',
  'http://example.com/',
  'https://localhost/',
  'https://example.com:22/'
])('nothing is sent to %s, which is refused at its field', async target => {
  const boss = await world.shop.admin()
  const form = { name: 'Inside', kind: 'webhook', target, secret: SECRET }
  expect(await boss.post('/api/settings/notices/channels/', form)).toMatchObject({
    status: 400,
    data: { reason: 'notice_target', errors: { target: expect.any(String) as string } }
  })
})

test('customers are no operators: they get no notices, and see none', async () => {
  const boss = await world.shop.admin()
  const customer = await world.shop.customer()
  const form = { name: 'Mail', kind: 'mail', user_ids: [customer.user.id] }
  expect(await boss.post('/api/settings/notices/channels/', form)).toMatchObject({
    data: { reason: 'notice_recipients' }
  })
  expect((await customer.get('/api/settings/notices/')).status).toBe(403)
})
