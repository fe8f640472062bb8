import { z } from 'zod'
import { documents } from './documents.ts'
import { done, failed, type ShopifyFailure, type ShopifyResult } from './result.ts'
import { UserErrors, page } from './shapes.ts'
import type { Execute } from './transport.ts'
import { Address, Name } from '../foreign-texts.ts'

const PAY_WEBHOOK_PATH = '/api/orders/pay_webhook'
const PRODUCT_WEBHOOK_PATH = '/api/orders/product_webhook'

/** The topics that the shop subscribes to, with their paths. */
const wanted = [
  { topic: 'ORDERS_CREATE', path: PAY_WEBHOOK_PATH },
  { topic: 'ORDERS_PAID', path: PAY_WEBHOOK_PATH },
  { topic: 'ORDERS_CANCELLED', path: PAY_WEBHOOK_PATH },
  { topic: 'REFUNDS_CREATE', path: PAY_WEBHOOK_PATH },
  { topic: 'ORDER_TRANSACTIONS_CREATE', path: PAY_WEBHOOK_PATH },
  { topic: 'DISPUTES_CREATE', path: PAY_WEBHOOK_PATH },
  { topic: 'DISPUTES_UPDATE', path: PAY_WEBHOOK_PATH },
  { topic: 'PRODUCTS_CREATE', path: PRODUCT_WEBHOOK_PATH },
  { topic: 'PRODUCTS_UPDATE', path: PRODUCT_WEBHOOK_PATH },
  { topic: 'PRODUCTS_DELETE', path: PRODUCT_WEBHOOK_PATH }
] as const

type Topic = (typeof wanted)[number]['topic']
const PATHS = new Set<string>(wanted.map(({ path }) => path))

/** The shop that registers, with its database. */
export type Installation = {
  /** Its address, `PUBLIC_URL`. */
  callbackBase: string
  /** All addresses at which it registered webhooks of this platform before; empty if it never did. */
  earlier: readonly string[]
}

/** The platform's subscriptions, by owner. */
export type Webhooks = {
  wanted: Topic[]
  /** Topics that reach this installation. */
  present: Topic[]
  /** Addresses of other installations of this shop with the same keys. */
  foreign: string[]
}

/**
 * How many subscriptions were created, moved to the new address, or kept. `blocked`: another installation is registered
 * and this one never was, so nothing was changed.
 */
export type WebhookRegistration = Webhooks & { created: number; updated: number; kept: number; blocked: boolean }

type Subscription = { id: string; topic: string; uri: string }

const Subscriptions = z
  .object({ webhookSubscriptions: page(z.object({ id: Name, topic: Name, uri: Address })) })
  .transform(data => data.webhookSubscriptions)
const Changed = z.object({ userErrors: UserErrors }).nullable()

export async function inspectWebhooks(execute: Execute, installation: Installation): Promise<ShopifyResult<Webhooks>> {
  const present = await readSubscriptions(execute)
  return present.ok ? done(sortSubscriptions(present.value, installation)) : present
}

export async function registerWebhooks(
  execute: Execute,
  installation: Installation,
  { takeOver = false }: { takeOver?: boolean } = {}
): Promise<ShopifyResult<WebhookRegistration>> {
  const read = await readSubscriptions(execute)
  if (!read.ok) return read
  const before = sortSubscriptions(read.value, installation)
  const counts = { created: 0, updated: 0, kept: 0 }
  const established = installation.earlier.length > 0 || before.present.length > 0
  if (before.foreign.length > 0 && !established && !takeOver) return done({ ...before, ...counts, blocked: true })

  const refused = new Map<Topic, ShopifyFailure>()
  const origins = originsOf(installation)
  const base = installation.callbackBase.replace(/\/+$/, '')
  for (const { topic, path } of wanted) {
    const uri = base + path
    const ours = read.value.filter(one => one.topic === topic && isShop(one))
    const others = ours.filter(one => one.uri !== uri && (takeOver || origins.has(originOf(one.uri))))
    const stands = ours.some(one => one.uri === uri)
    if (stands) counts.kept++
    const moved = stands ? undefined : others.shift()
    if (!stands) {
      const made = moved ? await update(execute, moved, uri) : await create(execute, topic, uri)
      // The platform refuses a topic if the app lacks its scope, such as disputes. The others still count.
      if (!made.ok && made.reason !== 'rejected') return made
      if (made.ok) counts[moved ? 'updated' : 'created']++
      else refused.set(topic, made)
    }
    // A second subscription of a topic would send everything twice, or to a shop that no longer exists.
    for (const surplus of others) {
      const gone = await remove(execute, surplus)
      if (!gone.ok) return gone
    }
  }
  const [failure] = refused.values()
  if (failure && refused.size === wanted.length) return failure
  return done({
    wanted: before.wanted,
    present: before.wanted.filter(topic => !refused.has(topic)),
    foreign: takeOver ? [] : before.foreign,
    ...counts,
    blocked: false
  })
}

function sortSubscriptions(found: readonly Subscription[], installation: Installation): Webhooks {
  const base = installation.callbackBase.replace(/\/+$/, '')
  const origins = originsOf(installation)
  return {
    wanted: wanted.map(({ topic }) => topic),
    present: wanted
      .filter(({ topic, path }) => found.some(one => one.topic === topic && one.uri === base + path))
      .map(({ topic }) => topic),
    foreign: [...new Set(found.filter(isShop).map(one => originOf(one.uri)))].filter(origin => !origins.has(origin))
  }
}

const originsOf = ({ callbackBase, earlier }: Installation) => new Set([callbackBase, ...earlier].map(originOf))

const originOf = (uri: string): string => URL.parse(uri)?.origin ?? uri

/** Does it lead to a shop like this one? The list contains all of the app's subscriptions, also for other programs. */
const isShop = ({ uri }: Subscription): boolean => PATHS.has(URL.parse(uri)?.pathname ?? '')

async function readSubscriptions(execute: Execute): Promise<ShopifyResult<Subscription[]>> {
  const present: Subscription[] = []
  let after: string | null = null
  do {
    const reply: ShopifyResult<z.infer<typeof Subscriptions>> = await execute(
      documents.webhooks,
      { topics: wanted.map(({ topic }) => topic), after },
      Subscriptions
    )
    if (!reply.ok) return reply
    present.push(...reply.value.nodes)
    after = reply.value.next
  } while (after !== null)
  return done(present)
}

async function create(execute: Execute, topic: Topic, uri: string): Promise<ShopifyResult<null>> {
  const reply = await execute(
    documents.createWebhook,
    { topic, uri },
    z.object({ webhookSubscriptionCreate: Changed }).transform(data => data.webhookSubscriptionCreate)
  )
  return reply.ok ? outcome(reply.value, `${topic} → ${uri}`) : reply
}

async function update(execute: Execute, { id, topic }: Subscription, uri: string): Promise<ShopifyResult<null>> {
  const reply = await execute(
    documents.updateWebhook,
    { id, uri },
    z.object({ webhookSubscriptionUpdate: Changed }).transform(data => data.webhookSubscriptionUpdate)
  )
  return reply.ok ? outcome(reply.value, `${topic} → ${uri}`) : reply
}

async function remove(execute: Execute, { id, topic, uri }: Subscription): Promise<ShopifyResult<null>> {
  const reply = await execute(
    documents.deleteWebhook,
    { id },
    z.object({ webhookSubscriptionDelete: Changed }).transform(data => data.webhookSubscriptionDelete)
  )
  return reply.ok ? outcome(reply.value, `${topic} → ${uri}`) : reply
}

function outcome(changed: z.infer<typeof Changed>, what: string): ShopifyResult<null> {
  const errors = changed?.userErrors ?? []
  if (errors.length === 0) return done(null)
  return failed(
    'rejected',
    `The e-commerce platform refused the webhook ${what}: ${errors.map(error => error.message).join('; ')}`
  )
}
