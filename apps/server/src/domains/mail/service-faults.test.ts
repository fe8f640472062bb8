import type { Health } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { OutboxMail } from '../../../../sandbox/src/outbox/reports.ts'
import type { Sandbox } from '../../../../sandbox/src/sandbox.ts'
import { launchAlone } from '../../../../sandbox/src/testing/harness.ts'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { startTestShop } from '../../testing/shop.ts'
import { writeSettings } from '../settings/index.ts'
import { sendMail } from './send-mail.ts'
import { useStarted } from '../../testing/use-started.ts'
import { cancelledMail } from './mail.fixture.ts'
import { mails } from './tables.ts'
import type { MailRequest } from './render-mail.ts'

// Each fault of each mail service of the stand-in, for a mail of the shop. No worker runs: the test runs the jobs.
const service: Sandbox = useStarted(() => launchAlone('http://shop.test'))
const shop = useStarted(() => startTestShop({ config: { sendgridUrl: service.url, mailgunUrl: service.url } }))
const admin = useStarted(() => shop.admin())

beforeAll(async () => {
  const keys = { sendgrid_api_key: 'key-of-sendgrid', mailgun_api_key: 'key-of-mailgun' }
  await writeSettings(shop.ctx, { ...keys, mailgun_sender_domain: 'mg.example.com' })
})
afterEach(() => vi.restoreAllMocks())

const SERVICES = ['sendgrid', 'mailgun'] as const
type Service = (typeof SERVICES)[number]
let count = 0
const newMail = (method: string, what: string) => {
  count += 1
  return cancelledMail(`${method}.${what}@example.com`, { key: `fault:${count}` })
}
const fault = (body: object) =>
  fetch(`${service.url}/sandbox/mail/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
const copies = async (to: string) =>
  ((await (await fetch(`${service.url}/outbox.json`)).json()) as OutboxMail[]).filter(mail => mail.to === to).length
const rowOf = async ({ key }: MailRequest) => (await shop.ctx.db.select().from(mails).where(eq(mails.key, key)))[0]
const due = async ({ key }: MailRequest) => {
  const { rows } = await shop.ctx.db.execute<{ start_after: string }>(
    `select start_after from pgboss.job where name = 'send-mail' and state = 'created' and data ->> 'key' = '${key}'`
  )
  return rows.map(row => Date.parse(row.start_after) - Date.now())
}
/** Requests time out when the test says so, not by the clock. */
function holdTimeouts() {
  let controller = new AbortController()
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => (controller = new AbortController()).signal)
  return () => controller.abort(new DOMException('The operation timed out', 'TimeoutError'))
}

const REFUSALS: [what: string, body: object, code: string, said: string][] = [
  ['500', { status: 500 }, 'server_error', 'internal error'],
  ['a page with 200', { kind: 'html' }, 'server_error', 'in place of'],
  ['a key that ended', { status: 401 }, 'unauthorized', 'refused the API key']
]
test.each(SERVICES.flatMap(method => REFUSALS.map(refusal => [method, ...refusal] as const)))(
  '%s, %s: the mail waits, Health says why, and the next try sends it once',
  async (method, what, body, code, said) => {
    await writeSettings(shop.ctx, { email_method: method })
    const request = newMail(method, `refused.${what.replaceAll(' ', '.')}`)
    await fault(body)
    await expect(sendMail(shop.ctx, request, 'job')).rejects.toThrow(said)
    expect(await rowOf(request)).toMatchObject({ state: 'waiting', errorCode: code })
    expect(await copies(request.to)).toBe(0)
    const { error } = (await admin.get<Health>('/api/settings/health/')).data.mail ?? {}
    expect(error).toContain(said)
    expect(error).not.toMatch(/key-of-/)
    await sendMail(shop.ctx, request, 'job')
    expect(await rowOf(request)).toMatchObject({ state: 'sent', tries: 2, error: null })
    expect(await copies(request.to)).toBe(1)
  }
)

test.each(SERVICES)('%s, 429: the mail leaves no sooner than the service says', async method => {
  await writeSettings(shop.ctx, { email_method: method })
  const request = newMail(method, 'busy')
  await fault({ status: 429, retry_after: 90 })
  await sendMail(shop.ctx, request, 'first')
  expect(await rowOf(request)).toMatchObject({ state: 'waiting', errorCode: 'throttled' })
  const [wait = 0] = await due(request)
  expect(wait).toBeGreaterThan(80_000)
  expect(wait).toBeLessThan(91_000)
  shop.advance(90_000)
  await sendMail(shop.ctx, request, 'second')
  expect(await rowOf(request)).toMatchObject({ state: 'sent' })
  expect(await copies(request.to)).toBe(1)
})

const UNCERTAIN: [kind: 'half' | 'silence', code: string][] = [
  ['half', 'network'],
  ['silence', 'timeout']
]
test.each(SERVICES.flatMap((method: Service) => UNCERTAIN.map(one => [method, ...one] as const)))(
  '%s, %s: a mail that may have been taken is handed over twice more at most, after long pauses',
  async (method, kind, code) => {
    await writeSettings(shop.ctx, { email_method: method })
    const request = newMail(method, kind)
    const timeOut = holdTimeouts()
    let taken = 0
    const send = async (job: string) => {
      const sending = sendMail(shop.ctx, request, job)
      await expect.poll(() => copies(request.to)).toBe((taken += 1))
      if (kind === 'silence') timeOut()
      await sending
    }
    await fault({ kind, next: 10 })
    for (const [at, pause] of [10 * MINUTE, HOUR].entries()) {
      await send(`try ${at}`)
      expect(await rowOf(request)).toMatchObject({ state: 'waiting', errorCode: code, uncertainTries: at + 1 })
      expect((await due(request)).some(wait => Math.abs(wait - pause) < 20_000)).toBe(true)
      await shop.ctx.db.execute(`delete from pgboss.job where name = 'send-mail' and data ->> 'key' = '${request.key}'`)
      shop.advance(pause)
    }
    await send('last')
    expect(await rowOf(request)).toMatchObject({ state: 'failed', errorCode: code })
    await fault({ status: 500, next: 0 })
    await sendMail(shop.ctx, request, 'after all')
    expect(await copies(request.to)).toBe(3)
  }
)
