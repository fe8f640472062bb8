import { Webhook } from 'standardwebhooks'
import { beforeEach, describe, expect, test } from 'vitest'
import { eq, desc } from '../../infra/db/drizzle.ts'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { users } from '../accounts/tables.ts'
import { openWorld, SECRET, type World } from './notices.fixture.ts'
import { noticeChannels } from './tables.ts'
import { useStarted } from '../../testing/use-started.ts'
import { type NoticeChannel, type NoticeSend, type Page, noticeSentence } from '@netlet/contract'
import { auditLog } from '../../infra/tables.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { blockAddresses } from '../mail/blocked-addresses.ts'
import { blockedAddresses } from '../mail/tables.ts'
import { countUndeliveredNotices, pathOf } from './list.ts'

const world = useStarted(openWorld)
beforeEach(async () => {
  await world.clear()
  world.at('2026-06-15T12:00:00Z')
  world.ports.timeoutMs = 30_000
})

type Answer = World['receiver']['state']['answer']

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
  // The library refuses other times than now: the time is part of the signature.
  const at = Number(headers['webhook-timestamp']) * 1000
  expect(at).toBe(world.ctx.now().getTime())
  const signature = new Webhook(SECRET).sign(headers['webhook-id'] ?? '', new Date(at), second?.body ?? '')
  expect(headers['webhook-signature']).toBe(signature)
  expect(JSON.parse(second?.body ?? '')).toMatchObject({
    type: 'notice.opened',
    data: { severity: 'warning', title: 'Failed emails: 1', notices: [{ cause: 'mails', count: 1 }] }
  })
  expect(await last()).toMatchObject({ state: 'sent', tries: 2 })
  answers = []
})

test('a chat gets a message that mentions no one, in the language of the channel', async () => {
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

const cutOff: Answer = reply => {
  reply.writeHead(200, { 'content-length': '100' })
  reply.write('{"id":', () => reply.destroy())
}
/** The connection stays open without a reply. */
const silence: Answer = () => {}

test.for([
  ['500', reply => void reply.writeHead(500).end('no'), { failure: 'status', status: 500 }, 11],
  ['a page', reply => void reply.writeHead(200).end('<html>'), { failure: 'no_chat', status: 200 }, 11],
  // A chat cannot recognize a repeat, so what it may already have is not repeated without end.
  ['half a body', cutOff, { failure: 'cut_off' }, 3],
  ['silence', silence, { failure: 'timeout' }, 3]
] as [string, Answer, object & { failure: string }, number][])(
  '%s of a chat is tried again, and in the end it stands in the console',
  async ([what, answer, expected, tries]) => {
    await world.channel({ kind: 'chat', target: `${world.receiver.url}/hook` })
    world.receiver.state.answer = answer
    if (what === 'silence') world.ports.timeoutMs = 300
    await open()
    await world.sendDue()
    expect(await last()).toMatchObject({ state: 'waiting', tries: 1, ...expected })
    for (let n = 0; n < 12; n++) {
      world.pass(8 * HOUR)
      await world.sendDue()
    }
    expect(await last()).toMatchObject({ state: 'failed', tries, ...expected })
    const [channel] = await world.ctx.db.select().from(noticeChannels)
    expect(channel).toMatchObject({ failure: expected.failure, failingSince: new Date('2026-06-15T12:00:00Z') })
    const boss = await world.shop.admin()
    const failed = async () =>
      (await boss.get<{ data: { id: number }[] }>('/api/settings/notices/?state=failed')).data.data
    const [notice, ...others] = await failed()
    expect(others).toEqual([])
    await boss.post(`/api/settings/notices/${notice?.id}/acknowledge/`, {})
    expect(await failed()).toEqual([])
  }
)

test.for([
  ['429', reply => void reply.writeHead(429).end(), { failure: 'status', status: 429 }],
  ['502 in HTML', reply => void reply.writeHead(502).end('<html>'), { failure: 'status', status: 502 }],
  ['half a body', cutOff, { failure: 'cut_off' }],
  ['silence', silence, { failure: 'timeout' }]
] as [string, Answer, object][])(
  'a generic webhook that answers with %s is asked again, with the same id',
  async ([what, answer, expected]) => {
    await world.channel()
    world.receiver.state.answer = answer
    if (what === 'silence') world.ports.timeoutMs = 300
    await open()
    await world.sendDue()
    expect(await last()).toMatchObject({ state: 'waiting', tries: 1, ...expected })
    world.receiver.state.answer = reply => void reply.writeHead(204).end()
    world.ports.timeoutMs = 30_000
    world.pass(MINUTE)
    await world.sendDue()
    expect(await last()).toMatchObject({ state: 'sent', tries: 2 })
    expect(new Set(world.receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  }
)

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

test('nothing is sent into the own network, in the clear or to customers: each is refused at its field', async () => {
  const boss = await world.shop.admin()
  const customer = await world.shop.customer()
  for (const [form, reason] of [
    [{ kind: 'webhook', target: 'https://10.0.0.1/', secret: SECRET }, 'notice_target'],
    [{ kind: 'webhook', target: 'http://example.com/', secret: SECRET }, 'notice_target'],
    [{ kind: 'mail', user_ids: [customer.user.id] }, 'notice_recipients']
  ] as const)
    expect(await boss.post('/api/settings/notices/channels/', { name: 'New', ...form })).toMatchObject({
      status: 400,
      data: { reason }
    })
})

describe('the channel of a notice', () => {
  const boss = useStarted(() => world.shop.admin())
  beforeEach(async () => {
    await world.clear()
    await world.ctx.db.delete(blockedAddresses)
  })

  const OTHER_SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
  const target = (query: string) => `${world.receiver.url}/hook?${query}`
  const put = (id: number, change: object) =>
    boss.put<NoticeChannel>(`/api/settings/notices/channels/${id}/`, { name: 'Receiver', kind: 'webhook', ...change })
  const lastEntry = async () => {
    const [entry] = await world.ctx.db.select().from(auditLog).orderBy(desc(auditLog.id)).limit(1)
    return entry
  }

  test('another address on the same host is another version, and the audit log says so without naming it', async () => {
    const { id, version } = await world.channel({ target: target('room=1') })
    const { data: moved, code } = await put(id, { target: target('room=2'), version })
    expect(code).toBe(2000)
    expect(moved.version).not.toBe(version)
    const entry = await lastEntry()
    expect(entry).toMatchObject({ action: 'notice_channel.edit', after: { new_target: true } })
    expect(entry?.after).not.toHaveProperty('has_new_secret')
    expect(JSON.stringify(entry)).not.toContain('room=')
    // Another operator's older form does not revert it.
    expect(await put(id, { target: target('room=3'), version })).toMatchObject({ data: { reason: 'stale' } })
    expect(JSON.stringify(moved)).not.toContain('room=')
  })

  test('so is another secret; what is entered again, or left empty, replaces nothing', async () => {
    const { id, version } = await world.channel({ target: target('room=1') })
    const same = await put(id, { target: target('room=1'), secret: SECRET, tell_info: true, version })
    const left = await put(id, { tell_info: true, version: same.data.version })
    expect(left.data.version).toBe(same.data.version)
    expect((await lastEntry())?.after).not.toHaveProperty('new_target')
    const other = await put(id, { secret: OTHER_SECRET, tell_info: true, version: left.data.version })
    expect(other.data.version).not.toBe(left.data.version)
    const entry = await lastEntry()
    expect(entry).toMatchObject({ after: { has_new_secret: true } })
    expect(JSON.stringify(entry)).not.toContain(OTHER_SECRET)
  })

  const block = (address: string, cause: 'bounced' | 'complained') =>
    command(world.ctx, SYSTEM, unit =>
      blockAddresses(unit, [
        { address: address.toUpperCase(), cause, reason: 'x', source: 'sendgrid', at: world.ctx.now() }
      ])
    )
  const tell = async () => {
    world.found.set('mails', [{ subject: '', words: 'mails', params: { count: 1 } }])
    await world.watch()
    await world.sendDue()
    return (await world.sends()).at(-1)
  }

  test('if no operator of a mail channel takes mail, its notices count as not delivered, and the channel says why', async () => {
    const channel = await world.channel({ kind: 'mail', target: '', user_ids: [boss.user.id] })
    await block(boss.user.email, 'bounced')
    expect(await tell()).toMatchObject({ state: 'failed', failure: 'blocked_recipients', mailKeys: null })
    expect(await countUndeliveredNotices(world.ctx.db)).toBe(1)
    const { data } = await boss.get<Page<NoticeChannel>>('/api/settings/notices/channels/')
    expect(data.data[0]).toMatchObject({ failure: 'blocked_recipients', failing_since: expect.any(String) as string })
    const test = await boss.post<{ send_id: number }>(`/api/settings/notices/channels/${channel.id}/test/`, {})
    await world.sendDue()
    expect((await boss.get<NoticeSend>(`/api/settings/notices/sends/${test.data.send_id}/`)).data).toMatchObject({
      state: 'failed',
      failure: 'blocked_recipients'
    })
  })

  test('the others of a channel get it; an operator who reported other mails as spam gets notices', async () => {
    const other = await world.shop.admin()
    await world.channel({ kind: 'mail', target: '', user_ids: [boss.user.id, other.user.id] })
    await block(boss.user.email, 'bounced')
    await block(other.user.email, 'complained')
    const send = await tell()
    expect(send).toMatchObject({ state: 'sent', mailKeys: [`notice:${send?.key}:${other.user.id}`] })
  })
})

const payment = (params: Record<string, string>) =>
  pathOf({ cause: 'payment', subject: '4f1c', params: { reason: 'Paid twice', ...params } })

test('a notice of a payment names it in both languages, and leads to it', () => {
  for (const words of ['payment', 'payments'] as const) {
    const { en, 'zh-CN': zh } = noticeSentence(words, { reason: 'Paid twice', order: '#1042' })
    expect(en.title).toBe('Payment for platform order #1042 needs your attention')
    expect(zh.title).toBe('平台订单 #1042 的付款需要处理')
  }
  expect(payment({ order: '#1042' })).toBe('/dashboard/index/payments?search=%231042')
})

test('one that names no order leads to all payments that wait', () => {
  expect(noticeSentence('payment_unreadable', { reason: '-', event: '4f1c' }).en.title).toBe(
    'Payment event 4f1c needs your attention'
  )
  expect(payment({})).toBe('/dashboard/index/payments?unresolved=1')
  expect(payment({ order: 'unknown' })).toBe('/dashboard/index/payments?unresolved=1')
})
