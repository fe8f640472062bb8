import type { Health } from '@netlet/contract'
import { expect, test } from 'vitest'
import { HOUR } from '../../infra/clock.ts'
import { startTestShop } from '../../testing/shop.ts'
import { sendMail } from './send-mail.ts'
import { cancelledMail, readMailLog } from './mail.fixture.ts'
import { useStarted } from '../../testing/use-started.ts'
import type { MailRequest } from './render-mail.ts'

// No worker runs: the test runs the jobs at the times that it chooses.
const shop = useStarted(() => startTestShop({}))
const admin = useStarted(() => shop.admin({ username: 'boss' }))

const logged = async (to: string) => (await readMailLog(admin, to))[0]
const copies = (to: string) => shop.outbox.mails.filter(mail => mail.to === to).length
const waiting = async (to: string) => {
  const { rows } = await shop.ctx.db.execute<{ start_after: string }>(
    `select start_after from pgboss.job where name = 'send-mail' and state = 'created' and data ->> 'to' = '${to}'`
  )
  return rows.map(row => Date.parse(row.start_after))
}
/** The data of the job that sends a mail to this address. */
const asked = async (to: string): Promise<MailRequest> => {
  const { rows } = await shop.ctx.db.execute<{ data: MailRequest }>(
    `select data from pgboss.job where name = 'send-mail' and data ->> 'to' = '${to}' order by created_on desc limit 1`
  )
  if (!rows[0]) throw new Error('no job sends it')
  return rows[0].data
}
const healthOfMail = async () => (await admin.get<Health>('/api/settings/health/')).data.mail

test.each([
  [404, { message: 'Domain not found: mg.example.com' }],
  [400, { errors: [{ message: 'The from address does not match a verified Sender Identity.', field: 'from' }] }],
  [413, {}]
])('a service that refuses with %i because of the set-up loses no mail', async (status, body) => {
  const request = cancelledMail(`setup${status}@example.com`)
  shop.outbox.fail(status, 1, body)
  await expect(sendMail(shop.ctx, request, 'first')).rejects.toThrow(`HTTP ${status}`)
  expect(await logged(request.to)).toMatchObject({ state: 'waiting' })
  expect((await healthOfMail())?.error).toContain(`HTTP ${status}`)
  await sendMail(shop.ctx, request, 'first')
  expect(copies(request.to)).toBe(1)
})

test('a permanently failed mail counts on the health page, and an administrator sends it again', async () => {
  const request = cancelledMail('again@example.com')
  const before = (await healthOfMail())?.failed ?? 0
  const field = 'personalizations.0.to.0.email'
  shop.outbox.fail(400, 1, { errors: [{ message: 'Does not contain a valid address.', field }] })
  await sendMail(shop.ctx, request, 'first')
  const failed = await logged(request.to)
  expect(failed).toMatchObject({ state: 'failed', error_code: 'rejected' })
  expect((await healthOfMail())?.failed).toBe(before + 1)
  const path = `/api/settings/mails/${failed?.id}/send_again/`
  expect(await admin.post(path, {})).toMatchObject({ code: 2000 })
  expect(await waiting(request.to)).toHaveLength(1)
  expect((await admin.post(path, {})).status).toBe(404)
  await sendMail(shop.ctx, request, 'second')
  expect(await logged(request.to)).toMatchObject({ state: 'sent' })
  expect((await healthOfMail())?.failed).toBe(before)
})

/** A mail refused for a day and `more` tries, which an administrator sends again. @returns its request */
async function sentAgainAfterADay(to: string, more: number): Promise<MailRequest> {
  const request = cancelledMail(to)
  shop.outbox.fail(404, 2 + more)
  await expect(sendMail(shop.ctx, request, 'first')).rejects.toThrow('HTTP 404')
  shop.advance(23 * HOUR)
  await sendMail(shop.ctx, request, 'first')
  const failed = await logged(to)
  expect(failed).toMatchObject({ state: 'failed', error_code: 'server_error' })
  expect(await admin.post(`/api/settings/mails/${failed?.id}/send_again/`, {})).toMatchObject({ code: 2000 })
  return asked(to)
}

test('a mail that the service refused for a day has failed, and can be sent again as well', async () => {
  const request = await sentAgainAfterADay('day@example.com', 0)
  await sendMail(shop.ctx, request, 'second')
  expect(await logged(request.to)).toMatchObject({ state: 'sent' })
})

test('a mail that is sent again after a day is tried for a day more', async () => {
  const request = await sentAgainAfterADay('days@example.com', 2)
  await expect(sendMail(shop.ctx, request, 'second')).rejects.toThrow('HTTP 404')
  expect(await logged(request.to)).toMatchObject({ state: 'waiting' })
  shop.advance(23 * HOUR)
  await sendMail(shop.ctx, request, 'second')
  expect(await logged(request.to)).toMatchObject({ state: 'failed' })
})

test('a service that goes on to ask for a second is asked more and more seldom', async () => {
  const request = cancelledMail('second@example.com')
  const pauses: number[] = []
  for (let tries = 1; tries <= 9; tries++) {
    shop.outbox.fail(429, 1, {}, { 'retry-after': '1' })
    await sendMail(shop.ctx, request, `try-${tries}`)
    const [next = 0] = await waiting(request.to)
    pauses.push(Math.round((next - Date.now()) / 5000) * 5)
    await shop.ctx.db.execute(`delete from pgboss.job where name = 'send-mail' and data ->> 'to' = '${request.to}'`)
  }
  expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 320, 600, 600])
  await sendMail(shop.ctx, request, 'last')
  expect(await logged(request.to)).toMatchObject({ state: 'sent' })
})
