import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { startJobs } from '../../infra/job.ts'
import { URGENT } from '../../infra/jobs.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { enqueueMail, mailJobs } from './index.ts'
import { priorityOf } from './priority.ts'
import { TEMPLATES, type Template } from './templates/index.ts'

let shop: TestShop
beforeAll(async () => {
  shop = await startTestShop({
    routes: () => undefined,
    queues: mailJobs.map(job => job.queue),
    workers: ctx => startJobs(ctx, mailJobs)
  })
})
afterAll(() => shop.close())

test('a code leaves before the reminders and notices that were waiting already', async () => {
  const { ctx, outbox } = shop
  const reminders = 200
  const expiresAt = new Date(Date.now() + 600_000).toISOString()
  await command(ctx, SYSTEM, async unit => {
    for (let n = 0; n < reminders; n++) {
      enqueueMail(unit, {
        to: `reminded${n}@example.com`,
        template: 'expiry-reminder',
        data: {
          username: 'Ann',
          order_id: String(n),
          product_name: 'Plan',
          proxies: 8,
          expires_at: expiresAt,
          renew_url: 'https://shop.example.com/',
          last: false
        },
        key: `reminder ${n}`
      })
    }
    // Notices that people cause themselves are not urgent either.
    for (let n = 0; n < reminders; n++) {
      enqueueMail(unit, {
        to: `noticed${n}@example.com`,
        template: 'password-changed',
        data: { username: 'Ann', at: expiresAt },
        key: `notice ${n}`
      })
    }
    // Its job is the last of all that are sent.
    enqueueMail(unit, {
      to: 'code@example.com',
      template: 'sign-up-code',
      data: { sealed_code: ctx.secrets.seal('123456').toString('base64'), expires_at: expiresAt },
      key: 'a very long key: jobs are sent in the order of their keys, the longest ones last'
    })
  })
  await outbox.waitFor('code@example.com')
  // Among the first, whatever arrived until we looked.
  expect(outbox.mails.findIndex(({ to }) => to === 'code@example.com')).toBeLessThan(30)
})

test('mails about an order leave before those that thousands get at once, whenever these were asked for', async () => {
  const { ctx, outbox } = shop
  const at = new Date().toISOString()
  const order = { username: 'Ann', order_id: 'NL-1', product_name: 'Plan' }
  await command(ctx, SYSTEM, async unit => {
    for (let n = 0; n < 100; n++) {
      enqueueMail(unit, {
        to: `subscriber${n}@example.com`,
        template: 'status-incident',
        data: { ...TEMPLATES['status-incident'].sample, started_at: at, sealed_token: '' },
        key: `incident ${n}`
      })
      enqueueMail(unit, {
        to: `concerned${n}@example.com`,
        template: 'server-outage',
        data: { ...order, addresses: 8, since: at },
        key: `outage ${n}`
      })
    }
    enqueueMail(unit, {
      to: 'buyer@example.com',
      template: 'order-cancelled',
      data: order,
      key: 'the longest key of all, so that its job is the last one'
    })
  })
  await outbox.waitFor('buyer@example.com')
  const many = outbox.mails.filter(({ to }) => /^(subscriber|concerned)/.test(to))
  expect(many.length).toBeLessThan(30)
})

test('no mail but one with a code takes the workers that are kept for urgent ones', () => {
  const urgent = (Object.keys(TEMPLATES) as Template[]).filter(
    template => priorityOf({ template, data: TEMPLATES[template].sample }) >= URGENT
  )
  expect(urgent.toSorted()).toEqual(['change-email-code', 'forgot-code', 'sign-up-code'])
})
