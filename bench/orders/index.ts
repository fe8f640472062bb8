import { randomUUID } from 'node:crypto'
import { loadavg } from 'node:os'
import { SYSTEM } from '../../apps/server/src/infra/actor.ts'
import { command } from '../../apps/server/src/infra/command.ts'
import { enqueueMail } from '../../apps/server/src/domains/mail/index.ts'
import { writeSettings } from '../../apps/server/src/domains/settings/index.ts'
import { startTestOutbox, type TestOutbox } from '../../apps/server/src/testing/outbox.ts'
import { startTestStack, type TestStack } from '../../apps/server/src/testing/test-stack.ts'
import { openBenchDatabase } from '../database.ts'
import { median, type Bench, type Figure } from '../figures.ts'
import { buyAtOnce, buyOneByOne } from './purchases.ts'

const AT_ONCE = { orders: 200, addresses: 8 }
const ONE_BY_ONE = 30
const REMINDERS = 1000

/** The time from payment to proxies, with shop, agent and stand-in platform on one machine. */
export const ordersBench: Bench = async log => {
  const database = await openBenchDatabase()
  log(`${database.version}, load before: ${load()}`)
  const outbox = await startTestOutbox()
  const stack = await startTestStack({
    range: '127.90.0.0/20',
    cartStep: AT_ONCE.addresses,
    ruleCount: 1,
    database,
    env: { SENDGRID_URL: outbox.url },
    processes: true
  })
  try {
    await writeSettings(stack.ctx, { sendgrid_api_key: 'bench', email_from: 'Netlet <shop@example.com>' })
    const shop = await stack.startShop('all')

    const single = await buyOneByOne(stack, shop.url, ONE_BY_ONE, AT_ONCE.addresses)
    log(`one by one: checkout, pay and delivery ${ms(median(single.own))} beyond the stand-in's ${ms(single.platform)}`)

    const burst = await buyAtOnce(stack, shop.url, AT_ONCE)
    log(`${AT_ONCE.orders} at once: load ${load()}`)

    const code = await codeBehindReminders(stack, outbox)
    log(`a code behind ${REMINDERS} reminders: ${outbox.mails.length} mails sent in all; load after: ${load()}`)

    const what = `${AT_ONCE.orders} payments at once, ${AT_ONCE.addresses} addresses each`
    return [
      figure(`${what}: webhook to working proxies, median`, median(burst), 5000),
      figure(`${what}: webhook to working proxies, last`, Math.max(...burst), 12_000),
      figure(`a code queued behind ${REMINDERS} reminders leaves`, code, 5000),
      figure("one purchase at a time, median beyond the stand-in's own time", median(single.own), 100)
    ]
  } finally {
    await stack.close()
    await outbox.close()
  }
}

function figure(what: string, measured: number, goal: number): Figure {
  return { what, measured: ms(measured), goal: `≤ ${ms(goal)}`, met: measured <= goal }
}

const ms = (value: number) => (value < 1000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(1)} s`)

const load = () => loadavg().map(one => one.toFixed(2)).join(' ') // prettier-ignore

/** @returns milliseconds from their commit until the mail service has the code */
async function codeBehindReminders({ ctx }: TestStack, outbox: TestOutbox): Promise<number> {
  const expiresAt = new Date(Date.now() + 600_000).toISOString()
  await command(ctx, SYSTEM, async unit => {
    for (let n = 0; n < REMINDERS; n++) {
      enqueueMail(unit, {
        to: `reminded${n}@example.com`,
        template: 'expiry-reminder',
        data: {
          username: 'reminded',
          order_id: String(n),
          product_name: 'Metro ISP',
          proxies: 8,
          expires_at: expiresAt,
          renew_url: ctx.config.publicUrl,
          last: false
        },
        key: `bench reminder ${n}`
      })
    }
  })
  const begun = performance.now()
  await command(ctx, SYSTEM, async unit =>
    enqueueMail(unit, {
      to: 'code@example.com',
      template: 'sign-up-code',
      data: { sealed_code: ctx.secrets.seal('123456').toString('base64'), expires_at: expiresAt },
      key: `bench code ${randomUUID()}`
    })
  )
  await outbox.waitFor('code@example.com')
  return performance.now() - begun
}
