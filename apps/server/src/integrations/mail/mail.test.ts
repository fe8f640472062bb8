import { createServer, type AddressInfo, type Socket } from 'node:net'
import { createSecureContext, createServer as createSecureServer, TLSSocket, type SecureContextOptions } from 'node:tls'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import type { OutboxMail } from '../../../../sandbox/src/outbox/reports.ts'
import type { Sandbox } from '../../../../sandbox/src/sandbox.ts'
import { closedUrl, control, launchAlone } from '../../../../sandbox/src/testing/harness.ts'
import { certificateMaker } from '../../testing/certificates.ts'
import { useStarted } from '../../testing/use-started.ts'
import { createMailer, type Mail, type MailerOptions } from './index.ts'

const sandbox: Sandbox = useStarted(() => launchAlone('http://127.0.0.1:1'))

beforeEach(async () => {
  await fetch(`${sandbox.url}/outbox.json`, { method: 'DELETE' })
  await control(sandbox, 'POST', '/mail/faults', { status: 500, next: 0 })
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

test.each(services)('%s: a mail arrives as written', async (_name, options) => {
  const result = await createMailer(options()).send(mail)
  expect(result).toMatchObject({ ok: true, id: expect.any(String) })
  const { idempotencyKey, ...rest } = mail
  expect(await outbox()).toMatchObject([{ ...rest, idempotency_key: idempotencyKey, sent_at: expect.any(String) }])
})

test.each(services)('%s: failures are distinguished, and none contains the key', async (_name, options) => {
  const mailer = createMailer(options())
  for (const [status, reason, retryable] of [
    // The problem is not blamed on the recipient.
    [400, 'server_error', true],
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

test.each(services)('%s: only its own answer means that the mail was accepted', async (_name, options) => {
  const fails = async (kind: string, limits = {}) => {
    await control(sandbox, 'POST', '/mail/faults', { kind, next: 1 })
    return createMailer({ ...options(), ...limits }).send(mail)
  }
  // A proxy's page with 200 means that the mail was not delivered.
  expect(await fails('html')).toMatchObject({ ok: false, reason: 'server_error', retryable: true, uncertain: false })
  expect(await outbox()).toEqual([])
  expect(await fails('half')).toMatchObject({ ok: false, reason: 'network', retryable: true, uncertain: true })
  expect(await fails('silence', { timeoutMs: 1500 })).toMatchObject({
    ok: false,
    reason: 'timeout',
    retryable: true,
    uncertain: true
  })
  expect(await outbox()).toHaveLength(2)
})

test.each([
  ['sendgrid', 200, '{}'],
  ['sendgrid', 202, '{"status":"ok"}'],
  ['mailgun', 200, ''],
  ['mailgun', 200, '{"message":"Queued."}'],
  ['mailgun', 202, '{"id":"<1@d>"}']
] as const)('%s: %i %j is not its answer, and may hide that the mail was taken', async (method, status, body) => {
  const reply = async () => new Response(body, { status })
  const sent = await createMailer({ method, apiKey: 'k', domain: 'd', fetch: reply }).send(mail)
  expect(sent).toMatchObject({ ok: false, reason: 'server_error', uncertain: true })
})

test.each(services)('%s: the requested wait is reported', async (_name, options) => {
  await control(sandbox, 'POST', '/mail/faults', { status: 429, retry_after: 90, next: 1 })
  const told = await createMailer(options()).send(mail)
  expect(told).toMatchObject({ reason: 'throttled', retryAfterMs: 90_000 })
  const reset = String(Math.ceil(Date.now() / 1000) + 30)
  const answer = async () => new Response('', { status: 429, headers: { 'x-ratelimit-reset': reset } })
  const window = await createMailer({ ...options(), fetch: answer }).send(mail)
  expect(!window.ok && window.retryAfterMs).toBeGreaterThan(25_000)
  expect(!window.ok && window.retryAfterMs).toBeLessThan(32_000)
})

test.each(services)('%s: no server', async (_name, options) => {
  const result = await createMailer({ ...options(), baseUrl: await closedUrl() } as MailerOptions).send(mail)
  expect(result).toMatchObject({ ok: false, reason: 'network', retryable: true, uncertain: false })
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

test.each([
  ['sendgrid', { errors: [{ message: 'Does not contain a valid address.', field: 'personalizations.0.to.0.email' }] }],
  ['mailgun', { message: "'to' parameter is not a valid address. please check documentation" }]
] as const)('%s: only a refusal of the recipient is final', async (method, body) => {
  const reply = (text: object) => async () => new Response(JSON.stringify(text), { status: 400 })
  const send = (text: object) => createMailer({ method, apiKey: 'k', domain: 'd', fetch: reply(text) }).send(mail)
  expect(await send(body)).toMatchObject({ reason: 'rejected', retryable: false, uncertain: false })
  const sender = { message: "'from' parameter is not a valid address", errors: undefined }
  expect(await send(sender)).toMatchObject({ reason: 'server_error', retryable: true, uncertain: false })
})

test("the service's message is cut between characters, and can be stored", async () => {
  const body = { errors: [{ message: `a\0b\ud83d${'x'.repeat(296)}😀` }] }
  const reply = async () => new Response(JSON.stringify(body), { status: 400 })
  const sent = await createMailer({ method: 'sendgrid', apiKey: 'k', fetch: reply }).send(mail)
  expect(sent).toMatchObject({ message: `SendGrid refused the email (HTTP 400): ab\ufffd${'x'.repeat(296)}` })
  const server = await smtpServer({ data: `451 a\0b${'x'.repeat(293)}😀` })
  const said = await createMailer({ method: 'smtp', host: '127.0.0.1', port: server.port }).send(mail)
  await server.close()
  expect(said).toMatchObject({ ok: false, message: expect.stringMatching(/ 451 ab?x{293}\.$/) as string })
})

/**
 * Replies of a mail server that differ from the usual. '' is silence. Null closes the connection, for DATA after the
 * mail. `secure`: TLS from the first byte, or after STARTTLS.
 */
type Answers = {
  hello?: string | null
  ehlo?: string | null
  from?: string | null
  rcpt?: string | null
  go?: string | null
  data?: string | null
  secure?: SecureContextOptions & { start?: boolean }
}

const ENDLESS = 'goes on and on'

async function smtpServer(answers: Answers = {}) {
  const { hello = '220 mail.test ESMTP', ehlo = '250 mail.test', from = '250 ok', rcpt = '250 ok' } = answers
  const { go = '354 go on', data: taken = '250 queued', secure } = answers
  const messages: string[] = []
  const talk = (socket: Socket) => {
    let data: string | null = null
    let rest = ''
    const say = (line: string | null) => {
      if (line === null) socket.destroy()
      else if (line === ENDLESS) {
        const more = setInterval(() => socket.write('250-more\r\n'), 50)
        socket.once('close', () => clearInterval(more))
      } else if (line !== '') socket.write(`${line}\r\n`)
    }
    say(hello)
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
            say(taken)
          } else data += `${line}\n`
        } else if (/^(EHLO|HELO)/i.test(line)) say(ehlo)
        else if (/^MAIL/i.test(line)) say(from)
        else if (/^RCPT/i.test(line)) say(rcpt)
        else if (/^DATA/i.test(line)) {
          data = ''
          say(go)
        } else if (/^STARTTLS/i.test(line)) {
          say('220 go on')
          socket.removeAllListeners('data')
          new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(secure) }).on('error', () => {})
        } else if (/^QUIT/i.test(line)) socket.end('221 bye\r\n')
        else say('250 ok')
      }
    })
  }
  const server = secure && !secure.start ? createSecureServer(secure, talk) : createServer(talk)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { messages, port, close: () => new Promise(resolve => server.close(resolve)) }
}

test.each([
  ['Acme: Proxies <shop@netlet.test>', '"Acme: Proxies" <shop@netlet.test>'],
  ['"Acme, \\"Best\\" Shop" <shop@netlet.test>', String.raw`"Acme, \"Best\" Shop" <shop@netlet.test>`],
  ['Netlet <shop@netlet.test>', 'Netlet <shop@netlet.test>'],
  ['<shop@netlet.test>', 'shop@netlet.test'],
  ['shop@netlet.test', 'shop@netlet.test']
])('the sender %s is one address in every service', async (from, header) => {
  const server = await smtpServer()
  await createMailer({ method: 'smtp', host: '127.0.0.1', port: server.port }).send({ ...mail, from })
  await server.close()
  expect(server.messages[0]).toContain(`\nFrom: ${header}\n`.slice(1))
  await createMailer({ method: 'mailgun', apiKey: 'k', domain: 'd', baseUrl: sandbox.url }).send({ ...mail, from })
  expect(await outbox()).toMatchObject([{ from: header }])
})

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

test.each<[string, Answers, string, boolean]>([
  ['a recipient later', { rcpt: '451 try later' }, 'server_error', true],
  ['a recipient permanently', { rcpt: '550 no such user' }, 'rejected', false],
  ['every client', { hello: '554 5.7.1 no service for you' }, 'server_error', true],
  ['the sender', { from: '550 5.7.1 sender domain not verified' }, 'server_error', true],
  ['a client without a login', { from: '530 5.7.0 Authentication required' }, 'unauthorized', false],
  ['beyond a quota', { data: '552 5.2.2 daily quota exceeded' }, 'server_error', true]
])('SMTP: a server that refuses %s', async (_what, answers, reason, retryable) => {
  const server = await smtpServer(answers)
  const result = await createMailer({ method: 'smtp', host: '127.0.0.1', port: server.port }).send(mail)
  await server.close()
  expect(result).toMatchObject({ ok: false, reason, retryable, uncertain: false })
})

test('SMTP: a server that takes the mail and closes the connection may have it', async () => {
  const server = await smtpServer({ data: null })
  const result = await createMailer({ method: 'smtp', host: '127.0.0.1', port: server.port }).send(mail)
  await server.close()
  expect(server.messages).toHaveLength(1)
  expect(result).toMatchObject({ ok: false, uncertain: true })
})

test.each<[string, Answers]>([
  ['before its greeting', { hello: null }],
  ['instead of its name', { ehlo: null }],
  ['at the sender', { from: null }],
  ['at the recipient', { rcpt: null }],
  ['before the mail', { go: null }]
])('SMTP: a server that disconnects %s does not have the mail', async (_when, answers) => {
  const server = await smtpServer(answers)
  const result = await createMailer({ method: 'smtp', host: '127.0.0.1', port: server.port }).send(mail)
  await server.close()
  expect(result).toMatchObject({ ok: false, reason: 'network', retryable: true, uncertain: false })
})

test.each([
  ['from the first byte', false],
  ['after STARTTLS', true]
])('SMTP: a certificate that is not accepted is named, and the mail is not handed over: %s', async (_when, start) => {
  const maker = certificateMaker()
  onTestFinished(() => maker.remove())
  const { certificate: cert, key } = maker.selfSigned(['IP:127.0.0.1'])
  const server = await smtpServer({ secure: { cert, key, start }, ehlo: '250-mail.test\r\n250 STARTTLS' })
  const result = await createMailer({ method: 'smtp', host: '127.0.0.1', port: server.port, secure: !start }).send(mail)
  await server.close()
  expect(result).toMatchObject({ ok: false, reason: 'network', retryable: true, uncertain: false })
  expect(result).toMatchObject({
    message: `The email server at 127.0.0.1:${server.port} has a certificate that is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT).`
  })
})

test.concurrent.each([['hello'], ['data']] as const)(
  'SMTP: silence instead of the answer to %s ends, and says what is known',
  async at => {
    const server = await smtpServer(at === 'hello' ? { hello: '' } : { data: '' })
    const mailer = createMailer({ method: 'smtp', host: '127.0.0.1', port: server.port, timeoutMs: 1500 })
    expect(await mailer.send(mail)).toMatchObject({
      ok: false,
      reason: 'timeout',
      retryable: true,
      // Only a server that got the whole mail may have it.
      uncertain: at === 'data'
    })
    await server.close()
  }
)

test.concurrent.each([['ehlo'], ['data']] as const)(
  'SMTP: a server that goes on answering %s without an end is left, and what is known is said',
  async at => {
    const server = await smtpServer({ [at]: ENDLESS })
    const mailer = createMailer({ method: 'smtp', host: '127.0.0.1', port: server.port, timeoutMs: 300 })
    const sent = await mailer.send(mail)
    expect(sent).toMatchObject({ ok: false, reason: 'timeout', retryable: true, uncertain: at === 'data' })
    expect(sent).toMatchObject({ message: expect.stringContaining('did not respond in time') })
    // `close` waits until the connection has ended.
    await server.close()
  }
)

test.concurrent('SMTP: a password is not sent if the server has no TLS', async () => {
  const server = await smtpServer()
  const account = { username: 'u', password: 'secret-77', timeoutMs: 500 }
  const result = await createMailer({ method: 'smtp', host: '127.0.0.1', port: server.port, ...account }).send(mail)
  await server.close()
  expect(result).toMatchObject({ ok: false })
  expect(JSON.stringify(result)).not.toContain('secret-77')
  expect(server.messages).toEqual([])
})

test('SMTP: no server', async () => {
  const port = Number(new URL(await closedUrl()).port)
  const result = await createMailer({ method: 'smtp', host: '127.0.0.1', port }).send(mail)
  expect(result).toMatchObject({ ok: false, reason: 'network', retryable: true, uncertain: false })
})
