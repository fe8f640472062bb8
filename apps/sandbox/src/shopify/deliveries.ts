import { createHmac, randomUUID } from 'node:crypto'
import type { Store } from '../kit/store.ts'
import { type Delivery, type PlatformState, SHOP_DOMAIN, WEBHOOK_WRONGS, type WebhookWrong, trim } from './state.ts'

const WEBHOOK_PATHS: Record<string, string> = {
  'orders/create': '/api/orders/pay_webhook',
  'orders/paid': '/api/orders/pay_webhook',
  'orders/cancelled': '/api/orders/pay_webhook',
  'refunds/create': '/api/orders/pay_webhook',
  'order_transactions/create': '/api/orders/pay_webhook',
  'disputes/create': '/api/orders/pay_webhook',
  'disputes/update': '/api/orders/pay_webhook',
  'products/create': '/api/orders/product_webhook',
  'products/update': '/api/orders/product_webhook',
  'products/delete': '/api/orders/product_webhook'
}

export const WEBHOOK_FAULTS = ['drop', 'duplicate', 'late', 'hold', ...WEBHOOK_WRONGS] as const

/** The fault for the next events. `times` counts copies of a duplicate, `delayMs` is for 'late'. */
export type WebhookFault = {
  action: (typeof WEBHOOK_FAULTS)[number]
  next: number
  times: number
  delayMs: number
}

export type DeliveryOptions = {
  store: Store<PlatformState>
  appSecret: string
  /** Target of events until the shop registers a webhook. */
  fallbackShopUrl: string
  fetch: typeof fetch
  now: () => number
  timeoutMs: number
  /** Milliseconds from failed try number n (from 1) to the next one. */
  backoff: (tries: number) => number
}

const MAX_TRIES = 19
/** 1, 2, 4 … 64 s for the first tries, then every 5 minutes: 19 tries cover about an hour. */
export const platformBackoff = (tries: number): number => (tries <= 7 ? 1000 * 2 ** (tries - 1) : 300_000)

const MAX_IN_FLIGHT = 16
// Longer waits overflow the timer and would fire at once.
const maxTimerMs = 2 ** 31 - 1

/** `orders/paid` → `ORDERS_PAID`, as in GraphQL. */
const topicConstant = (topic: string): string => topic.replace('/', '_').toUpperCase()

/** The platform's webhook queue: signs, sends and retries. Pending events survive a restart. */
export function createDeliveries(options: DeliveryOptions) {
  const { store, now } = options
  const inFlight = new Map<string, Promise<void>>()
  const stop = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let fault: WebhookFault | null = null

  async function send(delivery: Delivery, wrong = delivery.wrong): Promise<boolean> {
    const started = now()
    const [secret] = secretsOf(store.data, options.appSecret)
    let status: number | null = null
    let error: string | null = null
    try {
      const response = await options.fetch(delivery.uri, {
        method: 'POST',
        ...webhookRequest(delivery, secret, wrong),
        redirect: 'manual',
        signal: AbortSignal.any([stop.signal, AbortSignal.timeout(options.timeoutMs)])
      })
      status = response.status
      await response.body?.cancel()
    } catch (cause) {
      error = cause instanceof Error && cause.name === 'TimeoutError' ? 'timeout' : 'unreachable'
    }
    // An exchange that our own shutdown interrupts is not recorded. It is retried after the restart.
    if (!stop.signal.aborted)
      delivery.attempts.push({ at: new Date(started).toISOString(), status, error, ms: now() - started })
    return status !== null && status >= 200 && status < 300
  }

  async function attempt(delivery: Delivery): Promise<void> {
    const accepted = await send(delivery)
    if (stop.signal.aborted) return
    const tries = delivery.attempts.length
    if (accepted) {
      delivery.state = 'delivered'
      delivery.nextAt = null
    } else if (tries >= MAX_TRIES || delivery.wrong) {
      delivery.state = 'failed'
      delivery.nextAt = null
    } else {
      delivery.nextAt = now() + options.backoff(tries)
    }
    await store.save()
  }

  function pump(): void {
    clearTimeout(timer)
    if (stop.signal.aborted) return
    const waiting = store.data.deliveries.filter(one => one.state === 'pending' && !inFlight.has(one.id))
    for (const delivery of waiting.filter(one => (one.nextAt ?? 0) <= now())) {
      if (inFlight.size >= MAX_IN_FLIGHT) return
      const sending = attempt(delivery)
        .catch((error: unknown) => console.error('A webhook could not be recorded:', error))
        .finally(() => {
          inFlight.delete(delivery.id)
          pump()
        })
      inFlight.set(delivery.id, sending)
    }
    const next = Math.min(...waiting.filter(one => !inFlight.has(one.id)).map(one => one.nextAt ?? 0))
    if (Number.isFinite(next)) timer = setTimeout(pump, Math.min(maxTimerMs, Math.max(0, next - now())))
  }

  function takeFault(): WebhookFault | null {
    if (!fault || fault.next <= 0) return null
    fault.next--
    return fault
  }

  function row(topic: string, uri: string, body: string, eventId: string): Delivery {
    return {
      id: randomUUID(),
      webhookId: randomUUID(),
      eventId,
      topic,
      uri,
      body,
      triggeredAt: new Date(now()).toISOString(),
      state: 'pending',
      nextAt: now(),
      attempts: []
    }
  }

  function add(topic: string, payload: unknown, eventId: string): void {
    const subscribed = store.data.subscriptions.filter(one => one.topic === topicConstant(topic)).map(one => one.uri)
    const fallback = `${options.fallbackShopUrl}${WEBHOOK_PATHS[topic] ?? '/'}`
    const wrong = takeFault()
    const unknown = subscribed.length === 0 && !store.data.subscriptionsDropped
    for (const uri of unknown ? [fallback] : subscribed) {
      const delivery = row(topic, uri, JSON.stringify(payload), eventId)
      store.data.deliveries.push(delivery)
      if (wrong?.action === 'drop') Object.assign(delivery, { state: 'dropped', nextAt: null })
      if (wrong?.action === 'hold') Object.assign(delivery, { state: 'held', nextAt: null })
      if (wrong?.action === 'late') delivery.nextAt = now() + wrong.delayMs
      delivery.wrong = WEBHOOK_WRONGS.find(one => one === wrong?.action)
      if (wrong?.action === 'duplicate')
        for (let copy = 1; copy < wrong.times; copy++)
          store.data.deliveries.push({ ...delivery, id: randomUUID(), attempts: [] })
    }
  }

  return {
    /** Queues the events of one action, which share its id, for all subscribers of their topic. Resolves when they are on disk, before they are sent. */
    async emit(topic: string, ...payloads: unknown[]): Promise<void> {
      const eventId = randomUUID()
      for (const payload of payloads) add(topic, payload, eventId)
      trim(store.data)
      await store.save()
      pump()
    },

    setFault: (next: WebhookFault | null): void => {
      fault = next
    },
    /** The current fault, with the number of remaining events. */
    fault: (): WebhookFault | null => fault,

    /** Sends held events one after the other. Refused ones go to the usual queue. */
    async release(order: 'oldest_first' | 'newest_first'): Promise<Delivery[]> {
      const held = store.data.deliveries.filter(one => one.state === 'held')
      if (order === 'newest_first') held.reverse()
      for (const delivery of held) {
        delivery.state = 'pending'
        const sending = attempt(delivery)
        inFlight.set(delivery.id, sending)
        await sending
        inFlight.delete(delivery.id)
      }
      pump()
      return held
    },

    /** Sends a known event again `times` times at once. Returns the HTTP statuses, with null for no answer. */
    async redeliver(id: string, times: number, wrong?: WebhookWrong): Promise<(number | null)[] | null> {
      const delivery = store.data.deliveries.find(one => one.id === id)
      if (!delivery) return null
      const before = delivery.attempts.length
      const results = await Promise.all(Array.from({ length: times }, () => send(delivery, wrong)))
      if (!wrong && results.some(Boolean)) Object.assign(delivery, { state: 'delivered', nextAt: null })
      await store.save()
      return delivery.attempts.slice(before).map(one => one.status)
    },

    start: pump,

    async close(): Promise<void> {
      stop.abort()
      clearTimeout(timer)
      await Promise.allSettled(inFlight.values())
    }
  }
}

export type Deliveries = ReturnType<typeof createDeliveries>

const VERSION = '2026-07'
export const OTHER_VERSION = '2026-10'
/** More than the shop accepts. */
const TOO_LARGE = 8 * 1024 * 1024 + 1

/** The app's valid secrets, oldest first. After a rotation the older one signs until it is revoked. */
export const secretsOf = (state: PlatformState, first: string): readonly [string, ...string[]] => {
  const [oldest, ...others] = state.appSecrets ?? []
  return oldest === undefined ? [first] : [oldest, ...others]
}

function webhookRequest(delivery: Delivery, secret: string, wrong: WebhookWrong | undefined) {
  const body =
    wrong === 'too_large'
      ? `${delivery.body.slice(0, -1)},"padding":"${'x'.repeat(TOO_LARGE)}"}`
      : wrong === 'unreadable'
        ? delivery.body.slice(0, delivery.body.length / 2)
        : delivery.body
  return {
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Shopify-Captain-Hook',
      'x-shopify-topic': delivery.topic,
      'x-shopify-hmac-sha256': createHmac('sha256', wrong === 'wrong_signature' ? `${secret}-wrong` : secret)
        .update(body)
        .digest('base64'),
      'x-shopify-shop-domain': wrong === 'other_shop' ? 'another-shop.myshopify.com' : SHOP_DOMAIN,
      'x-shopify-api-version': wrong === 'other_version' ? OTHER_VERSION : VERSION,
      'x-shopify-webhook-id': delivery.webhookId,
      'x-shopify-event-id': delivery.eventId,
      'x-shopify-triggered-at': delivery.triggeredAt
    },
    body
  }
}
