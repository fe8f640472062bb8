import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { writeSettings } from '../settings/index.ts'
import { blockOf } from './blocked-addresses.ts'
import type { MailOrder } from './mail-order.ts'
import { sendMail } from './send-mail.ts'
import { mails } from './tables.ts'

let shop: TestShop
let server: Server
let reply = ''
let asked: string[] = []

beforeAll(async () => {
  // A mail server that says `reply` to each recipient.
  server = createServer(socket => {
    socket.on('error', () => socket.destroy())
    socket.write('220 mail.test ESMTP\r\n')
    socket.on('data', chunk => {
      for (const line of chunk.toString().split('\r\n').filter(Boolean)) {
        if (/^RCPT/i.test(line)) asked.push(line)
        socket.write(/^RCPT/i.test(line) ? `${reply}\r\n` : '250 ok\r\n')
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const smtpUrl = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`
  shop = await startTestShop({ routes: () => {}, config: { smtpUrl } })
  await writeSettings(shop.ctx, { email_method: 'smtp' })
})
afterAll(async () => {
  await shop?.close()
  server?.close()
})

const mailTo = (to: string, key: string): MailOrder<'order-cancelled'> => ({
  to,
  key,
  template: 'order-cancelled',
  data: { username: 'Ann', order_id: 'NL-1', product_name: 'Plan' }
})
const stateOf = async (key: string) => (await shop.ctx.db.select().from(mails)).find(mail => mail.key === key)?.state

test.each([
  ['550 5.1.1 no such user here', 'bounced', 'failed'],
  ['550 no such user here', 'bounced', 'failed'],
  // What is said of us, of our sender or of a full mailbox says nothing against the address.
  ['550 5.7.1 your address is on a blocklist', null, 'failed'],
  ['552 5.2.2 mailbox full', null, 'waiting'],
  ['451 4.7.1 greylisted, try later', null, 'waiting']
])('%s', async (said, blocked, state) => {
  const to = `a${said.length}@example.com`
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
