import type { SenderCheck } from '@netlet/contract'
import { expect, test } from 'vitest'
import { startNameServer } from '../../integrations/mail/name-server.fixture.ts'
import { startTestShop } from '../../testing/shop.ts'
import { writeSettings } from '../settings/index.ts'
import { useStarted } from '../../testing/use-started.ts'

const dns = useStarted(startNameServer)
const shop = useStarted(() => startTestShop({ config: { dnsServers: [dns.address] } }))
const admin = useStarted(() => shop.admin())

const KEY = `v=DKIM1; p=${'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A'.repeat(4)}`
const check = async () => (await admin.get<SenderCheck>('/api/settings/mail_domain/')).data

test('the domain of the saved sender is looked at as its mail service wants it', async () => {
  dns.publish({
    'mail.shop.co.uk': ['v=spf1 include:mailgun.org ~all'],
    'k1._domainkey.mail.shop.co.uk': [KEY],
    'own._domainkey.mail.shop.co.uk': ['v=DKIM1; p='],
    '_dmarc.shop.co.uk': ['v=DMARC1; p=reject']
  })
  await writeSettings(shop.ctx, { email_method: 'mailgun', email_from: 'Shop <no-reply@Mail.Shop.co.uk>' })
  expect(await check()).toMatchObject({
    domain: 'mail.shop.co.uk',
    include: 'mailgun.org',
    spf: { state: 'ok' },
    dkim: { state: 'ok', name: 'k1._domainkey.mail.shop.co.uk' },
    dmarc: { state: 'ok', name: '_dmarc.shop.co.uk' }
  })
  await writeSettings(shop.ctx, { email_dkim_selector: 'own' })
  expect((await check()).dkim).toMatchObject({ state: 'wrong', name: 'own._domainkey.mail.shop.co.uk' })
  await writeSettings(shop.ctx, { email_method: 'sendgrid', email_dkim_selector: '' })
  expect(await check()).toMatchObject({ include: 'sendgrid.net', spf: { state: 'wrong' }, dkim: { state: 'missing' } })
  await writeSettings(shop.ctx, { email_method: 'smtp' })
  expect(await check()).toMatchObject({ include: null, spf: { state: 'ok' } })
})
