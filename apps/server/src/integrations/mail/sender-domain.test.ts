import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkSenderDomain } from './index.ts'

/** What stands in DNS, by name; a name that is not here does not exist, and `null` is not answered. */
const records = new Map<string, string[] | null>()
let server: string
let close: () => void

beforeAll(async () => {
  const socket = createSocket('udp4')
  socket.on('message', (question, { port, address }) => {
    const answer = answerTo(question)
    if (answer) socket.send(answer, port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  server = `127.0.0.1:${socket.address().port}`
  close = () => socket.close()
})
afterAll(() => close())

/** RFC 1035: the question again, and a TXT record for each text. */
function answerTo(question: Buffer): Buffer | null {
  const labels: string[] = []
  let at = 12
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const found = records.get(labels.join('.').toLowerCase())
  if (found === null) return null
  const head = Buffer.alloc(12)
  question.copy(head, 0, 0, 2)
  head.writeUInt16BE(found ? 0x8180 : 0x8183, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(found?.length ?? 0, 6)
  const answers = (found ?? []).map(text => {
    const parts = text.match(/.{1,255}/gs) ?? []
    const data = Buffer.concat(parts.map(part => Buffer.concat([Buffer.from([part.length]), Buffer.from(part)])))
    const fixed = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, 0])
    fixed.writeUInt16BE(data.length, 10)
    return Buffer.concat([fixed, data])
  })
  return Buffer.concat([head, question.subarray(12, at + 5), ...answers])
}

const KEY = `v=DKIM1; k=rsa; p=${'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A'.repeat(10)}`
const check = (include: string | null = 'sendgrid.net') =>
  checkSenderDomain('shop.example', { include, selectors: ['s1', 's2'], servers: [server], timeoutMs: 1000 })
const publish = (found: Record<string, string[] | null>) => {
  records.clear()
  for (const [name, texts] of Object.entries(found)) records.set(name, texts)
}

test('a domain that is set up is in order, with what was found', async () => {
  publish({
    'shop.example': ['google-site-verification=x', 'v=spf1 include:sendgrid.net ~all'],
    's2._domainkey.shop.example': [KEY],
    '_dmarc.shop.example': ['v=DMARC1; p=quarantine; rua=mailto:x@shop.example']
  })
  expect(await check()).toEqual({
    domain: 'shop.example',
    spf: { state: 'ok', name: 'shop.example', found: 'v=spf1 include:sendgrid.net ~all' },
    dkim: { state: 'ok', name: 's2._domainkey.shop.example', found: KEY.slice(0, 500) },
    dmarc: { state: 'ok', name: '_dmarc.shop.example', found: 'v=DMARC1; p=quarantine; rua=mailto:x@shop.example' }
  })
})

test('a domain without records, and one whose name server is silent, are told apart', async () => {
  publish({})
  expect(await check()).toMatchObject({
    spf: { state: 'missing', found: null },
    dkim: { state: 'missing', name: 's1._domainkey.shop.example' },
    dmarc: { state: 'missing' }
  })
  publish({
    'shop.example': null,
    's1._domainkey.shop.example': null,
    's2._domainkey.shop.example': null,
    '_dmarc.shop.example': null
  })
  expect(await check()).toMatchObject({
    spf: { state: 'unknown' },
    dkim: { state: 'unknown' },
    dmarc: { state: 'unknown' }
  })
})

test.each([
  ['without the mail service', ['v=spf1 include:mailgun.org ~all']],
  ['that lets everybody send', ['v=spf1 include:sendgrid.net +all']],
  ['given twice', ['v=spf1 include:sendgrid.net ~all', 'v=spf1 -all']]
])('SPF %s is wrong', async (_what, texts) => {
  publish({ 'shop.example': texts })
  expect((await check()).spf).toMatchObject({ state: 'wrong', found: texts.join('\n') })
})

test('any sender will do where nobody knows who sends, a key that was taken back and a policy of none will not', async () => {
  publish({
    'shop.example': ['v=spf1 mx -all'],
    's1._domainkey.shop.example': ['v=DKIM1; p='],
    '_dmarc.shop.example': ['v=DMARC1; pct=100']
  })
  expect(await check(null)).toMatchObject({ spf: { state: 'ok' }, dkim: { state: 'wrong' }, dmarc: { state: 'wrong' } })
})
