import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import type { NewWebhookEndpoint } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { launchAlone } from '../../../../sandbox/src/testing/harness.ts'
import type { Sandbox } from '../../../../sandbox/src/sandbox.ts'
import { startTestShop } from '../../testing/shop.ts'
import { useStarted } from '../../testing/use-started.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { deliverWebhook } from './deliver.ts'
import { emitEvent } from './emit.ts'
import { sendWebhookQueue } from './queues.ts'
import { webhookRoutes } from './routes.ts'
import { webhookDeliveries, webhookEndpoints } from './tables.ts'
import { delivered, ENDPOINTS, SENDING } from './webhooks.fixture.ts'

const ROOT = fileURLToPath(new URL('../../../../../', import.meta.url))

const urls: string[] = []
const sandbox: Sandbox = useStarted(() => launchAlone('http://127.0.0.1:9'))
const shop = useStarted(() =>
  startTestShop({
    routes: (mount, ctx) => webhookRoutes(mount, ctx, SENDING),
    queues: [sendWebhookQueue],
    config: { customerWebhookUrls: urls }
  })
)
beforeAll(() => void urls.push(`${sandbox.url}/hooks/`))

/** A customer with an endpoint there, who gets an event. @returns the delivery afterwards */
async function customerAt(url: string) {
  const client = await shop.customer()
  const made = await client.post<NewWebhookEndpoint>(ENDPOINTS, { url, events: ['order.delivered'] })
  expect(made.status).toBe(200)
  const { id, secret } = made.data
  return {
    secret,
    async send(timeoutMs = 5_000) {
      await command(shop.ctx, SYSTEM, unit => emitEvent(unit, delivered(client.user.id)))
      await shop.ctx.db.update(webhookEndpoints).set({ pausedUntil: null }).where(eq(webhookEndpoints.id, id))
      const rows = await shop.ctx.db.select().from(webhookDeliveries).where(eq(webhookDeliveries.endpointId, id))
      const last = rows.toSorted((a, b) => a.id - b.id).at(-1)
      if (!last) throw new Error('nothing waits')
      await deliverWebhook(shop.ctx, { ...SENDING, timeoutMs }, last.id, 'job')
      const [after] = await shop.ctx.db.select().from(webhookDeliveries).where(eq(webhookDeliveries.id, last.id))
      return after
    }
  }
}

test("the documentation's receiver takes what is signed for it, and nothing else", async () => {
  const text = await readFile(`${ROOT}docs/WEBHOOKS.md`, 'utf8')
  const program = /```js\n([\s\S]*?)```/.exec(text)?.[1] ?? ''
  const client = await customerAt(`${sandbox.url}/hooks/in/unused`)
  const child = spawn(process.execPath, ['--input-type=module', '-'], {
    cwd: ROOT,
    env: { ...process.env, WEBHOOK_SECRET: client.secret, PORT: '0', NODE_OPTIONS: '' },
    stdio: ['pipe', 'pipe', 'inherit']
  })
  try {
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    child.stdin.end(program)
    await expect.poll(() => said).toMatch(/^listening \d+/)
    const origin = `http://127.0.0.1:${/listening (\d+)/.exec(said)?.[1]}`
    urls.push(`${origin}/`)
    await shop.ctx.db
      .update(webhookEndpoints)
      .set({ url: `${origin}/netlet` })
      .where(eq(webhookEndpoints.url, `${sandbox.url}/hooks/in/unused`))
    expect(await client.send()).toMatchObject({ state: 'sent', status: 204 })
    await expect.poll(() => said).toContain('order.delivered 42')
    const forged = await fetch(`${origin}/netlet`, { method: 'POST', body: '{}', headers: { 'webhook-id': 'a' } })
    expect(forged.status).toBe(401)
  } finally {
    child.kill()
  }
})

test('the stand-in shows what it was sent, verifies it, and answers with faults', async () => {
  const client = await customerAt(`${sandbox.url}/hooks/in/mine`)
  const caught = async () => (await fetch(`${sandbox.url}/hooks.json`)).json() as Promise<{ wrong: string | null }[]>
  expect(await client.send()).toMatchObject({ state: 'sent' })
  expect(await caught()).toMatchObject([{ type: 'order.delivered', at: 'mine', wrong: 'no secret was entered here' }])
  const entered = await fetch(`${sandbox.url}/hooks/secret`, {
    method: 'POST',
    body: new URLSearchParams({ secret: client.secret })
  })
  expect(entered.status).toBe(200)
  await client.send()
  expect((await caught())[0]).toMatchObject({ wrong: null, seen_before: false })
  const page = await (await fetch(`${sandbox.url}/hooks`)).text()
  expect(page).toContain('Signature verified')
  const outcomes = []
  for (const kind of ['error500', 'busy', 'html', 'redirect', 'half', 'silence', 'gone']) {
    await fetch(`${sandbox.url}/hooks/fault`, { method: 'POST', body: new URLSearchParams({ kind, next: '1' }) })
    const after = await client.send(kind === 'silence' ? 200 : 5_000)
    outcomes.push([kind, after?.failure, after?.status])
  }
  expect(outcomes).toEqual([
    ['error500', 'status', 500],
    ['busy', 'status', 429],
    ['html', 'status', 502],
    ['redirect', 'redirect', 302],
    ['half', 'cut_off', 200],
    ['silence', 'timeout', null],
    ['gone', 'status', 410]
  ])
})
