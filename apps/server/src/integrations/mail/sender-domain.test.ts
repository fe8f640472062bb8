import { expect, test } from 'vitest'
import { checkSenderDomain } from './index.ts'
import { startNameServer, type Zone } from './name-server.fixture.ts'
import { useStarted } from '../../testing/use-started.ts'

const dns = useStarted(startNameServer)

const KEY = `v=DKIM1; k=rsa; p=${'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A'.repeat(10)}`
const check = (include: string | null = 'sendgrid.net', timeoutMs = 1000) =>
  checkSenderDomain('shop.example', { include, selectors: ['s1', 's2'], servers: [dns.address], timeoutMs })
const publish = (zone: Zone) => dns.publish(zone)

test('a correct domain is ok, with its records', async () => {
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

test('a domain without records differs from one whose name server is silent', async () => {
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
  expect(await check('sendgrid.net', 100)).toMatchObject({
    spf: { state: 'unknown' },
    dkim: { state: 'unknown' },
    dmarc: { state: 'unknown' }
  })
})

test.each(['failure', 'refused', 'page', 'half', 'cut'] as const)(
  'of a name server that answers with %s nothing is said of the domain',
  async kind => {
    publish({
      'shop.example': ['v=spf1 include:sendgrid.net ~all'],
      's1._domainkey.shop.example': [KEY],
      '_dmarc.shop.example': ['v=DMARC1; p=reject']
    })
    dns.fail(kind)
    const found = await check('sendgrid.net', 300)
    dns.fail(null)
    expect(found).toMatchObject({ spf: { state: 'unknown' }, dkim: { state: 'unknown' }, dmarc: { state: 'unknown' } })
    expect(await check()).toMatchObject({ spf: { state: 'ok' }, dkim: { state: 'ok' }, dmarc: { state: 'ok' } })
  }
)

test.each([
  ['without the mail service', ['v=spf1 include:mailgun.org ~all']],
  ['that allows everyone', ['v=spf1 include:sendgrid.net +all']],
  ['given twice', ['v=spf1 include:sendgrid.net ~all', 'v=spf1 -all']]
])('SPF %s is wrong', async (_what, texts) => {
  publish({ 'shop.example': texts })
  expect((await check()).spf).toMatchObject({ state: 'wrong', found: texts.join('\n') })
})

test('any sender passes without an include; a revoked key and an invalid policy do not', async () => {
  publish({
    'shop.example': ['v=spf1 mx -all'],
    's1._domainkey.shop.example': ['v=DKIM1; p='],
    '_dmarc.shop.example': ['v=DMARC1; pct=100']
  })
  expect(await check(null)).toMatchObject({ spf: { state: 'ok' }, dkim: { state: 'wrong' }, dmarc: { state: 'wrong' } })
})

test.each([
  ['mail.shop.co.uk', '_dmarc.shop.co.uk', 'ok'],
  ['a.b.shop.co.uk', '_dmarc.shop.co.uk', 'ok'],
  // A public suffix belongs to no organisation, so its policy does not count.
  ['other.co.uk', '_dmarc.other.co.uk', 'missing']
])('the policy of %s is that of its organisation', async (domain, name, state) => {
  publish({ '_dmarc.shop.co.uk': ['v=DMARC1; p=none; sp=reject'], '_dmarc.co.uk': ['v=DMARC1; p=reject'] })
  const look = () =>
    checkSenderDomain(domain, { include: null, selectors: ['s1'], servers: [dns.address], timeoutMs: 1000 })
  expect((await look()).dmarc).toMatchObject({ state, name })
  publish({ [`_dmarc.${domain}`]: ['v=DMARC1; p=quarantine'], '_dmarc.shop.co.uk': ['v=DMARC1; p=none'] })
  expect((await look()).dmarc).toMatchObject({ state: 'ok', name: `_dmarc.${domain}` })
})

test('a domain whose keys and return path the mail service keeps needs no entry for it in SPF', async () => {
  const automated = (timeoutMs = 1000) =>
    checkSenderDomain('shop.example', {
      include: 'sendgrid.net',
      selectors: ['s1', 's2'],
      delegate: 'sendgrid.net',
      servers: [dns.address],
      timeoutMs
    })
  const key = { 's1._domainkey.shop.example': [KEY, 'CNAME s1.domainkey.u1.wl2.sendgrid.net'] }
  publish(key)
  expect(await automated()).toMatchObject({
    spf: { state: 'ok', found: 's1._domainkey.shop.example CNAME s1.domainkey.u1.wl2.sendgrid.net' },
    dkim: { state: 'ok' }
  })
  publish({ ...key, 'shop.example': ['v=spf1 include:_spf.google.com ~all'] })
  expect((await automated()).spf).toMatchObject({ state: 'ok' })
  publish({ ...key, 'shop.example': ['v=spf1 +all'] })
  expect((await automated()).spf).toMatchObject({ state: 'wrong' })
  // A CNAME to elsewhere does not delegate the domain.
  publish({ 's1._domainkey.shop.example': [KEY, 'CNAME s1.sendgrid.net.example.com'] })
  expect((await automated()).spf).toMatchObject({ state: 'missing' })
  // The state is unknown, because one of the names is not answered.
  const silent = { 's1._domainkey.shop.example': [KEY], 's2._domainkey.shop.example': null }
  publish({ ...silent, 'shop.example': ['v=spf1 include:_spf.google.com ~all'] })
  expect((await automated(400)).spf).toMatchObject({ state: 'unknown', found: 'v=spf1 include:_spf.google.com ~all' })
  publish({ ...silent, 'shop.example': ['v=spf1 +all'] })
  expect((await automated(400)).spf).toMatchObject({ state: 'wrong' })
})
