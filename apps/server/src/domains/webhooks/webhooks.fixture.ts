import type { NewWebhookEndpoint, WebhookDelivery, WebhookDeliveryDetail } from '@netlet/contract'
import { asc, eq } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { mailJobs } from '../mail/index.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { deliverWebhook, type Sending } from './deliver.ts'
import { emitEvent, type Happened } from './emit.ts'
import { sendWebhookQueue } from './queues.ts'
import { startReceiver, type Receiver } from './receiver.fixture.ts'
import { webhookRoutes } from './routes.ts'
import { webhookDeliveries } from './tables.ts'

/** Customers can reach a part of this one. */
export const OPERATORS_ORIGIN = 'http://10.0.0.5:8080'
export const ENDPOINTS = '/api/webhooks/endpoints/'
export const DELIVERIES = '/api/webhooks/deliveries/'
export const ADMIN = '/api/settings/outgoing_webhooks'

/** The middle value, which gives pauses without jitter. */
export const SENDING: Sending = { ownsAddresses: async () => false, random: () => 0.5, timeoutMs: 5_000 }

export type Hooks = {
  shop: TestShop
  receiver: Receiver
  /** Adds a customer's endpoint, at a path of the receiver. */
  endpoint(client: TestClient, path: string, events?: string[]): Promise<NewWebhookEndpoint>
  emit(happened: Happened): Promise<void>
  /** An endpoint's deliveries, oldest first. */
  deliveriesTo(endpointId: number): Promise<(typeof webhookDeliveries.$inferSelect)[]>
  /** Sends one as its job does. */
  deliver(deliveryId: number, sending?: Partial<Sending>): Promise<void>
  /** Sends all waiting ones of an endpoint, once. */
  deliverTo(endpointId: number, sending?: Partial<Sending>): Promise<void>
  log(client: TestClient): Promise<WebhookDelivery[]>
  detail(client: TestClient, id: number): Promise<WebhookDeliveryDetail>
  close(): Promise<void>
}

/** A shop with webhooks only, whose jobs the test runs, and a receiver that it may post to. */
export async function startHooks(): Promise<Hooks> {
  const receiver = await startReceiver()
  const shop = await startTestShop({
    routes: (mount, ctx) => webhookRoutes(mount, ctx, SENDING),
    jobs: mailJobs,
    queues: [sendWebhookQueue],
    config: {
      webhookOrigins: [receiver.origin, OPERATORS_ORIGIN],
      customerWebhookUrls: [`${receiver.origin}/`, `${OPERATORS_ORIGIN}/hooks/`]
    }
  })
  const { ctx } = shop
  const deliver: Hooks['deliver'] = (id, sending = {}) =>
    deliverWebhook(ctx, { ...SENDING, ...sending }, id, `job ${id}`)
  const deliveriesTo: Hooks['deliveriesTo'] = endpointId =>
    ctx.db
      .select()
      .from(webhookDeliveries)
      .where(eq(webhookDeliveries.endpointId, endpointId))
      .orderBy(asc(webhookDeliveries.id))
  return {
    shop,
    receiver,
    async endpoint(client, path, events = ['order.delivered']) {
      const form = { url: `${receiver.origin}${path}`, events }
      const made = await client.post<NewWebhookEndpoint>(ENDPOINTS, form)
      if (made.status !== 200) throw new Error(made.msg)
      return made.data
    },
    emit: happened => command(ctx, SYSTEM, unit => emitEvent(unit, happened)),
    deliveriesTo,
    deliver,
    async deliverTo(endpointId, sending) {
      for (const { id, state } of await deliveriesTo(endpointId)) if (state === 'waiting') await deliver(id, sending)
    },
    log: async client => (await client.get<{ data: WebhookDelivery[] }>(DELIVERIES)).data.data,
    detail: async (client, id) => (await client.get<WebhookDeliveryDetail>(`${DELIVERIES}${id}/`)).data,
    async close() {
      await shop.close()
      await receiver.close()
    }
  }
}

/** A user's order was delivered. */
export const delivered = (userId: number, orderId = 42): Happened => ({
  type: 'order.delivered',
  userId,
  data: { order_id: orderId, order: 'NL-1', state: 'delivered' }
})
