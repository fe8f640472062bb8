import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { mailJobs } from '../mail/index.ts'
import { blockAddresses } from '../mail/blocked-addresses.ts'
import { sendMail } from '../mail/send-mail.ts'
import type { TemplateData } from '../mail/templates/index.ts'
import { loginFailures } from '../accounts/tables.ts'
import { mails } from '../mail/tables.ts'
import { statusJobs, statusRoutes } from './index.ts'
import { addLocation, addServers } from './status.fixture.ts'
import { ASKS_AN_HOUR, sealedToken } from './subscribers.ts'
import { statusSubscribers } from './tables.ts'
import type { MailRequest } from '../mail/render-mail.ts'

const NO_CHECKS = async () => new Map()
let shop: TestShop
beforeAll(async () => {
  shop = await startTestShop({
    routes: (mount, ctx, app) => statusRoutes(mount, ctx, { app, proxyChecks: NO_CHECKS }),
    jobs: [...mailJobs, ...statusJobs({ proxyChecks: () => NO_CHECKS })]
  })
})
afterAll(() => shop?.close())

const complain = (address: string) =>
  command(shop.ctx, SYSTEM, unit =>
    blockAddresses(unit, [{ address, cause: 'complained', reason: 'x', source: 'sendgrid', at: shop.ctx.now() }])
  )

test('who calls a mail about an incident spam is not mailed about the next update, and is subscribed no more', async () => {
  await shop.ctx.db.execute(sql`insert into status_subscribers (address, confirmed_at, asked_at)
    values ('annoyed@example.com', now(), now()), ('glad@example.com', now(), now())`)
  await complain('Annoyed@example.com')
  const admin = await shop.admin()
  const on = await addServers(shop, ['host'])
  const london = await addLocation(shop, { group: 'g', sells: ['London'], on })
  const form = { title: 'Down', severity: 'major', locations: [london], text: 'We look into it.' }
  expect((await admin.post('/api/status/incidents/', form)).code).toBe(2000)
  await shop.outbox.waitFor('glad@example.com')
  expect(shop.outbox.mails.map(({ to }) => to)).toEqual(['glad@example.com'])
  const left = await shop.ctx.db.select({ address: statusSubscribers.address }).from(statusSubscribers)
  expect(left).toEqual([{ address: 'glad@example.com' }])
})

test('one that waited while its recipient complained is not sent, although its kind cannot be switched off', async () => {
  const to = 'late@example.com'
  await complain(to)
  const data: TemplateData<'status-incident'> = {
    incident: 1,
    title: 'Down',
    state: 'identified',
    opens: false,
    text: 'A router.',
    locations: ['London'],
    started_at: shop.ctx.now().toISOString(),
    ends_at: null,
    sealed_token: sealedToken(shop.ctx, 'unsubscribe', 1)
  }
  await sendMail(shop.ctx, { to, template: 'status-incident', data, key: 'status:1:1' }, 'job')
  const [mail] = await shop.ctx.db
    .select()
    .from(mails)
    .where(sql`${mails.key} = 'status:1:1'`)
  expect(mail).toMatchObject({ kind: 'support', state: 'skipped', errorCode: 'complained' })
  // Mails that cannot be switched off are sent.
  const test = { to, template: 'test-mail', data: { at: shop.ctx.now().toISOString() }, key: 'test:1' } as MailRequest
  await sendMail(shop.ctx, test, 'job')
  expect(shop.outbox.mails.at(-1)).toMatchObject({ to })
})

test('how often a client may ask tells nothing of the addresses that it enters', async () => {
  const known = 'subscriber@example.com'
  await shop.ctx.db.execute(
    sql`insert into status_subscribers (address, confirmed_at, asked_at) values (${known}, now(), now())`
  )
  const answersOf = async (ip: string, probe: string) => {
    const from = (email: string) => shop.visitor({ ip }).post('/api/status/subscribe/', { email })
    const answers = [(await from(probe)).status]
    for (let nth = 0; nth < ASKS_AN_HOUR; nth++) answers.push((await from(`own${nth}@example.com`)).status)
    return answers
  }
  const ofStranger = await answersOf('192.0.2.101', 'stranger@example.com')
  expect(ofStranger).toEqual([...Array.from({ length: ASKS_AN_HOUR }, () => 200), 429])
  expect(await answersOf('192.0.2.102', known)).toEqual(ofStranger)
  // Nor do addresses that just got a mail.
  expect(await answersOf('192.0.2.103', 'stranger@example.com')).toEqual(ofStranger)
  // Clients of one network count together, too.
  await shop.ctx.db
    .insert(loginFailures)
    .values(
      Array.from({ length: 16 * ASKS_AN_HOUR }, (_, n) => ({ key: `status:192.0.2.${n % 200}`, at: shop.ctx.now() }))
    )
  expect((await answersOf('192.0.2.250', 'stranger@example.com'))[0]).toBe(429)
})
