import type { Health, SettingTestResult, WebhookSecrets } from '@netlet/contract'
import { createHmac, randomUUID } from 'node:crypto'
import { control, launchAlone, secrets, until } from '../../sandbox/src/testing/harness.ts'
import type { Delivery } from '../../sandbox/src/shopify/state.ts'
import { createHttpApp } from './app.ts'
import { checkPlatform } from './domains/commerce/index.ts'
import { writeSettings } from './domains/settings/index.ts'
import { MINUTE } from './infra/clock.ts'
import { startTestShop } from './testing/shop.ts'
import { allQueues } from './workers.ts'

const PRODUCT = '720000000001'

/** A whole shop with the stand-in as its platform, which has told its own domain of the shop. */
export async function startPlatformShop() {
  const shop = await startTestShop({ app: createHttpApp, queues: allQueues })
  const sandbox = await launchAlone(shop.url)
  await writeSettings(shop.ctx, {
    shopify_shop_url: sandbox.url,
    shopify_app_key: secrets.accessToken,
    shopify_api_secret: secrets.appSecret
  })
  const admin = await shop.admin({ username: 'boss' })
  const ask = async (path: string) => (await admin.get<Health>(path)).data
  await checkPlatform(shop.ctx)

  /** Has the platform send a webhook, a minute after the last one. @returns the shop's status */
  async function send(action: string = 'none'): Promise<number | null | undefined> {
    shop.advance(2 * MINUTE)
    await control(sandbox, 'POST', '/webhooks/faults', { action })
    await control(sandbox, 'PATCH', `/products/${PRODUCT}`, { tags: [randomUUID().slice(0, 8)] })
    const delivery = await until('the webhook', async () => {
      const [last] = (await control<{ deliveries: Delivery[] }>(sandbox, 'GET', '/webhooks')).deliveries
      return last && last.attempts.length > 0 && last.state !== 'pending' ? last : undefined
    })
    return delivery.attempts.at(-1)?.status
  }

  /** A webhook from a stranger. @returns the status */
  async function post(secret: string, headers: Record<string, string> = {}, body = '{"id":1}'): Promise<number> {
    const reply = await fetch(`${shop.url}/api/orders/product_webhook`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-shopify-topic': 'products/delete',
        'x-shopify-webhook-id': randomUUID(),
        'x-shopify-shop-domain': 'sandbox.myshopify.com',
        'x-shopify-hmac-sha256': createHmac('sha256', secret).update(body).digest('base64'),
        ...headers
      },
      body
    })
    return reply.status
  }

  return {
    shop,
    sandbox,
    admin,
    send,
    post,
    health: async () => (await ask('/api/settings/health')).platform,
    save: (form: Record<string, unknown>) => admin.post('/api/settings/config', form),
    webhookSecrets: async () => (await admin.get<WebhookSecrets>('/api/settings/webhook_secrets')).data,
    tested: async () =>
      (await admin.post<SettingTestResult>('/api/settings/test', { test: 'webhook_secret' })).data.outcome,
    /** The figure of Home. */
    async attention(): Promise<number | null | undefined> {
      const { data } = await admin.get<{ what: string; count: number | null }[]>('/api/home/attention/')
      return data.find(({ what }) => what === 'webhooks')?.count
    },
    async close() {
      await sandbox.close()
      await shop.close()
    }
  }
}
