import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { beforeAll, expect, test } from 'vitest'
import { HOUR } from '../../infra/clock.ts'
import { startTestShop } from '../../testing/shop.ts'
import { writeSettings } from '../settings/index.ts'
import { useStarted } from '../../testing/use-started.ts'
import { blockOf } from './blocked-addresses.ts'
import { sendMail } from './send-mail.ts'
import { cancelledMail } from './mail.fixture.ts'
import { mails } from './tables.ts'

/** Its reply to each recipient, and its reply to the sender. */
let reply = ''
let toSender = '250 ok'
/** 'page': another server's page instead of a greeting; 'cut': it disconnects once it has the mail. */
let fault: 'page' | 'cut' | null = null
let asked: string[] = []

function serve(socket: Socket): void {
  socket.on('error', () => socket.destroy())
  if (fault === 'page') return void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n<html>What is this?</html>')
  const say = (line: string) => socket.write(`${line}\r\n`)
  say('220 mail.test ESMTP')
  let isMail = false
  socket.on('data', chunk => {
    for (const line of chunk.toString().split('\r\n').filter(Boolean)) {
      if (isMail && line !== '.') continue
      if (isMail && fault === 'cut') return void socket.destroy()
      if (/^RCPT/i.test(line)) asked.push(line)
      isMail = /^DATA/i.test(line)
      say(isMail ? '354 go on' : /^RCPT/i.test(line) ? reply : /^MAIL/i.test(line) ? toSender : '250 ok')
    }
  })
}

const server = useStarted(async () => {
  const smtp = createServer(serve).listen(0, '127.0.0.1')
  await once(smtp, 'listening')
  return { url: `smtp://127.0.0.1:${(smtp.address() as AddressInfo).port}`, close: () => void smtp.close() }
})
const shop = useStarted(() => startTestShop({ routes: () => {}, config: { smtpUrl: server.url } }))
beforeAll(() => writeSettings(shop.ctx, { email_method: 'smtp' }))

const mailTo = (to: string, key: string) => cancelledMail(to, { key })
const rowOf = async (key: string) => (await shop.ctx.db.select().from(mails)).find(mail => mail.key === key)
const stateOf = async (key: string) => (await rowOf(key))?.state

test.each([
  ['550 5.1.1 no such user here', 'bounced', 'failed'],
  ['550 no such user here', 'bounced', 'failed'],
  ['550 <ann@example.com>: Recipient address rejected: User unknown', 'bounced', 'failed'],
  ['550 <ann@example.com> does not exist', 'bounced', 'failed'],
  ['551 Mailbox not found', 'bounced', 'failed'],
  // A reply about us, our sender or a full mailbox is no reason to block the address.
  ['550 5.7.1 your address is on a blocklist', null, 'failed'],
  ['550 your address is on a blocklist', null, 'failed'],
  ['550 Rejected because 192.0.2.1 is in a black list at zen.spamhaus.org', null, 'failed'],
  ['550 relay not permitted', null, 'failed'],
  ['550 Sender verify failed: no such user here', null, 'failed'],
  ['550 IP address not found', null, 'failed'],
  ['553 mailbox name not allowed', null, 'failed'],
  ['552 5.2.2 mailbox full', null, 'waiting'],
  ['451 4.7.1 greylisted, try later', null, 'waiting']
])('%s', async (said, blocked, state) => {
  const to = `${said.replaceAll(/\W+/g, '-').slice(0, 60)}@example.com`
  reply = said
  asked = []
  const sent = sendMail(shop.ctx, mailTo(to, said), 'first')
  if (state === 'waiting') await expect(sent).rejects.toThrow(said)
  else await sent
  expect(asked).toHaveLength(1)
  expect(await stateOf(said)).toBe(state)
  expect(await blockOf(shop.ctx.db, to)).toBe(blocked)
  if (!blocked) return
  await sendMail(shop.ctx, mailTo(to, `next ${said}`), 'second')
  expect(await stateOf(`next ${said}`)).toBe('skipped')
  // The server is not asked again.
  expect(asked).toHaveLength(1)
})

test.each([
  ['a page instead of a mail server', { fault: 'page' }, 'server_error'],
  ['535 5.7.8 the password has ended', { toSender: '535 5.7.8 the password has ended' }, 'unauthorized']
] as const)('%s: the mail waits, and the next try sends it', async (what, said, code) => {
  const key = `wait ${what}`
  reply = '250 ok'
  fault = 'fault' in said ? said.fault : null
  toSender = 'toSender' in said ? said.toSender : '250 ok'
  await expect(sendMail(shop.ctx, mailTo('wait@example.com', key), 'job')).rejects.toThrow('The email server at')
  expect(await rowOf(key)).toMatchObject({ state: 'waiting', errorCode: code })
  fault = null
  toSender = '250 ok'
  await sendMail(shop.ctx, mailTo('wait@example.com', key), 'job')
  expect(await rowOf(key)).toMatchObject({ state: 'sent', error: null })
})

test('a server that takes the mail and leaves gets it twice more at most', async () => {
  reply = '250 ok'
  fault = 'cut'
  asked = []
  for (const job of ['first', 'second', 'third', 'fourth']) {
    await sendMail(shop.ctx, mailTo('cut@example.com', 'cut'), job)
    shop.advance(2 * HOUR)
  }
  fault = null
  expect(await rowOf('cut')).toMatchObject({ state: 'failed', errorCode: 'network' })
  expect(asked).toHaveLength(3)
})
