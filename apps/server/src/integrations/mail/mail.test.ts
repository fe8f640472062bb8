import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { OutboxMail } from '../../../../sandbox/src/outbox/outbox.ts'
import type { Sandbox } from '../../../../sandbox/src/sandbox.ts'
import { closedUrl, control, launch, newDataDir, removeDataDir } from '../../../../sandbox/src/testing/harness.ts'
import { createMailer, type Mail, type MailerOptions } from './index.ts'

let dir: string
let sandbox: Sandbox

beforeAll(async () => {
  dir = await newDataDir()
  sandbox = await launch(dir, 'http://127.0.0.1:1')
})
beforeEach(async () => {
  await fetch(`${sandbox.url}/outbox.json`, { method: 'DELETE' })
  await control(sandbox, 'POST', '/mail/faults', { status: 500, next: 0 })
})
afterAll(async () => {
  await sandbox.close()
  await removeDataDir(dir)
})

const mail: Mail = {
  to: 'buyer@example.test',
  from: 'Netlet <shop@netlet.test>',
  subject: 'Your code: ünï 123456',
  text: 'Code 123456',
  html: '<p>Code <b>123456</b></p>',
  idempotencyKey: 'code:1'
}
const outbox = async () => (await (await fetch(`${sandbox.url}/outbox.json`)).json()) as OutboxMail[]

const services: [string, () => MailerOptions][] = [
  ['SendGrid', () => ({ method: 'sendgrid', apiKey: 'SG.key-77', baseUrl: sandbox.url })],
  ['Mailgun', () => ({ method: 'mailgun', apiKey: 'mg-key-77', domain: 'mg.netlet.test', baseUrl: sandbox.url })]
]

test.each(services)('%s: a mail arrives as it was written', async (_name, options) => {
  const result = await createMailer(options()).send(mail)
  expect(result).toMatchObject({ ok: true, id: expect.any(String) })
  const { idempotencyKey, ...rest } = mail
  expect(await outbox()).toMatchObject([{ ...rest, idempotency_key: idempotencyKey, sent_at: expect.any(String) }])
})

test.each(services)('%s: failures are told apart, and none tells the key', async (_name, options) => {
  const mailer = createMailer(options())
  for (const [status, reason, retryable] of [
    [400, 'rejected', false],
    [401, 'unauthorized', false],
    [429, 'throttled', true],
    [503, 'server_error', true]
  ] as const) {
    await control(sandbox, 'POST', '/mail/faults', { status, next: 1 })
    const result = await mailer.send(mail)
    expect(result).toMatchObject({ ok: false, reason, retryable })
    expect(JSON.stringify(result)).not.toContain('key-77')
  }
  expect(await outbox()).toEqual([])
})

test.each(services)('%s: nobody there', async (_name, options) => {
  const result = await createMailer({ ...options(), baseUrl: await closedUrl() } as MailerOptions).send(mail)
  expect(result).toMatchObject({ ok: false, reason: 'network', retryable: true })
})

test('without a key nothing is sent', async () => {
  const sendgrid = createMailer({ method: 'sendgrid', apiKey: '', baseUrl: sandbox.url })
  const mailgun = createMailer({ method: 'mailgun', apiKey: 'k', domain: '', baseUrl: sandbox.url })
  expect(await sendgrid.send(mail)).toMatchObject({ ok: false, reason: 'not_configured' })
  expect(await mailgun.send(mail)).toMatchObject({ ok: false, reason: 'not_configured' })
})

test.each(['a@b.test, c@d.test', 'a@b.test\r\nBcc: c@d.test', 'nobody', ''])('%j is no recipient', async to => {
  const mailer = createMailer({ method: 'sendgrid', apiKey: 'k', baseUrl: sandbox.url })
  expect(await mailer.send({ ...mail, to })).toMatchObject({ ok: false, reason: 'rejected', retryable: false })
  expect(await outbox()).toEqual([])
})

/** A mail server that knows just enough; `refusal` answers RCPT TO instead of 250. */
async function smtpServer(refusal?: string) {
  const messages: string[] = []
  const server = createServer(socket => {
    let data: string | null = null
    let rest = ''
    const say = (line: string) => socket.write(`${line}\r\n`)
    say('220 mail.test ESMTP')
    socket.on('error', () => socket.destroy())
    socket.on('data', chunk => {
      rest += chunk.toString()
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        const line = rest.slice(0, end)
        rest = rest.slice(end + 2)
        if (data !== null) {
          if (line === '.') {
            messages.push(data)
            data = null
            say('250 queued')
          } else data += `${line}\n`
        } else if (/^(EHLO|HELO|MAIL)/i.test(line)) say('250 mail.test')
        else if (/^RCPT/i.test(line)) say(refusal ?? '250 ok')
        else if (/^DATA/i.test(line)) {
          data = ''
          say('354 go on')
        } else if (/^QUIT/i.test(line)) socket.end('221 bye\r\n')
        else say('250 ok')
      }
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { messages, port, close: () => new Promise(resolve => server.close(resolve)) }
}

test('SMTP: the mail goes out, a repeat carries the same Message-ID', async () => {
  const server = await smtpServer()
  const mailer = createMailer({ method: 'smtp', host: '127.0.0.1', port: server.port })
  expect(await mailer.send(mail)).toMatchObject({ ok: true })
  expect(await mailer.send(mail)).toMatchObject({ ok: true })
  expect(await mailer.send({ ...mail, idempotencyKey: 'code:2' })).toMatchObject({ ok: true })
  await server.close()
  const ids = server.messages.map(text => /^Message-ID: (.+)$/im.exec(text)?.[1])
  expect(ids[0]).toMatch(/^<[\da-f]{32}@netlet\.test>$/)
  expect(ids[1]).toBe(ids[0])
  expect(ids[2]).not.toBe(ids[0])
  expect(server.messages[0]).toContain('To: buyer@example.test')
})

test.each([
  ['451 try later', 'server_error', true],
  ['550 no such user', 'rejected', false]
])('SMTP: %j is %s', async (refusal, reason, retryable) => {
  const server = await smtpServer(refusal)
  const result = await createMailer({ method: 'smtp', host: '127.0.0.1', port: server.port }).send(mail)
  await server.close()
  expect(result).toMatchObject({ ok: false, reason, retryable })
})

test('SMTP: a password is not sent where the server has no TLS', async () => {
  const server = await smtpServer()
  const account = { username: 'u', password: 'secret-77' }
  const result = await createMailer({ method: 'smtp', host: '127.0.0.1', port: server.port, ...account }).send(mail)
  await server.close()
  expect(result).toMatchObject({ ok: false })
  expect(JSON.stringify(result)).not.toContain('secret-77')
  expect(server.messages).toEqual([])
})

test('SMTP: nobody there', async () => {
  const port = Number(new URL(await closedUrl()).port)
  const result = await createMailer({ method: 'smtp', host: '127.0.0.1', port }).send(mail)
  expect(result).toMatchObject({ ok: false, reason: 'network', retryable: true })
})
