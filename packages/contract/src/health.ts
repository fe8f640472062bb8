import { z } from 'zod'
import { route } from './route.ts'
import { Money, Time } from './shapes.ts'

/** What was found by a look at the platform, which is not repeated for each reader. */
const Looked = z.object({ at: Time.nullable(), error: z.string().nullable() })

/**
 * Why a webhook of the platform was refused. `signature`: signed with another secret, or not by the platform; `no_secret`:
 * Web Settings have none; `other_shop`: signed, and of another shop; `topic`: signed, and of a topic that the shop did not ask for.
 */
export const WEBHOOK_REFUSALS = ['signature', 'no_secret', 'other_shop', 'unreadable', 'too_large', 'topic'] as const
export type WebhookRefusal = (typeof WEBHOOK_REFUSALS)[number]

const RefusedWebhooks = z.object({
  /** Since a webhook was taken last, by cause, the latest first. */
  refused: z.array(
    z.object({
      kind: z.enum(WEBHOOK_REFUSALS),
      count: z.number(),
      since: Time,
      at: Time,
      topic: z.string(),
      /** Signed by the platform. Otherwise it only named this shop, which a stranger can do too. */
      certain: z.boolean()
    })
  ),
  /** Requests that passed for no webhook of this shop, and the shop that the last of them named. */
  strangers: z.object({ count: z.number(), at: Time, domain: z.string() }).nullable()
})
export type RefusedWebhooks = z.infer<typeof RefusedWebhooks>

/** Which secret signed the last webhook that was taken, and until when former secrets are taken; null: none is. */
export const WebhookSecrets = z.object({
  signed: z.object({ at: Time, topic: z.string(), by: z.enum(['present', 'former', 'ended']) }).nullable(),
  former_until: Time.nullable()
})
export type WebhookSecrets = z.infer<typeof WebhookSecrets>

/** How many there are, and the names of the first ones. */
const Named = z.object({ count: z.number(), names: z.array(z.string()) })

export const PlatformHealth = z.object({
  configured: z.boolean(),
  /** The last look at the platform itself. */
  shop: Looked.extend({
    name: z.string().nullable(),
    currency: z.string().nullable(),
    /** What Web Settings say; another currency at the platform settles nothing. */
    expected_currency: z.string(),
    missing_scopes: z.array(z.string())
  }),
  webhooks: Looked.extend({
    address: z.string(),
    wanted: z.array(z.string()),
    present: z.array(z.string()),
    /** Addresses of other installations on the same keys. */
    foreign: z.array(z.string()),
    /** Another installation is there, so this one has registered nothing. */
    blocked: z.boolean(),
    /** Payments of the last day that no webhook told of. */
    missed: z.number(),
    ...RefusedWebhooks.shape,
    ...WebhookSecrets.shape,
    last_events: z.array(z.object({ topic: z.string(), at: Time.nullable() }))
  }),
  /** Of the platform's API: what the shop asks for, and what replies and webhooks came in last. */
  versions: z.object({ wanted: z.string(), replies: z.string().nullable(), webhooks: z.string().nullable() }),
  events: z.object({
    waiting: z.number(),
    oldest_waiting: Time.nullable(),
    /** What the database said when the oldest of them could not be handled. */
    waits_for: z.string().nullable(),
    /** Payments of the last 30 days that could not simply be delivered. */
    unresolved: z.number()
  }),
  reconciliation: Looked.extend({ found: z.number() }),
  products: Looked,
  prices: Looked.extend({ differ: z.number() }),
  /** For sale on the platform, and not in its Online Store: a checkout would refuse them, so they are not sold. */
  unpublished: z.object({ products: Named, rules: Named })
})

export const JobsHealth = z.object({
  queues: z.array(
    z.object({
      name: z.string(),
      waiting: z.number(),
      active: z.number(),
      /** When the one that has waited longest was due. */
      oldest: Time.nullable(),
      /** Jobs that failed as often as they may. */
      dead: z.number()
    })
  )
})

export const ServersHealth = z.object({
  total: z.number(),
  reachable: z.number(),
  unreachable: z.array(z.object({ id: z.number(), name: z.string(), since: Time.nullable() })),
  /** Servers that answer and do not hold what is wanted of them: why, and since when their changes fail (if they do). */
  troubled: z.array(z.object({ id: z.number(), name: z.string(), since: Time.nullable(), message: z.string() })),
  /** Certificates that proxy clients are shown, the one that ends first before the others; negative days: it has ended. */
  certificates: z.array(z.object({ id: z.number(), name: z.string(), ends_at: Time, days_left: z.number() }))
})

export const MailHealth = z.object({
  waiting: z.number(),
  oldest: Time.nullable(),
  /** Mails that failed for good. */
  failed: z.number(),
  /** What the mail service said last of one that waits. */
  error: z.string().nullable()
})

export const DatabaseHealth = z.object({
  bytes: z.number(),
  connections: z.number(),
  max_connections: z.number(),
  /** Of this process. */
  pool: z.object({ size: z.number(), idle: z.number(), waiting: z.number() })
})

export const HttpHealth = z.object({
  public_url: z.string(),
  /** Reverse proxies that forward for others and that TRUST_PROXY does not name, as this process saw them. */
  untrusted_proxies: z.array(z.object({ address: z.string(), at: Time }))
})

/** How the shop is doing, by sections; null where a section could not be read. */
export const Health = z.object({
  at: Time,
  platform: PlatformHealth.nullable(),
  jobs: JobsHealth.nullable(),
  servers: ServersHealth.nullable(),
  mail: MailHealth.nullable(),
  database: DatabaseHealth.nullable(),
  http: HttpHealth.nullable()
})
export type Health = z.infer<typeof Health>

/** A price that is another one on the platform. */
export const PriceDrift = z.object({
  id: z.number(),
  kind: z.enum(['variant', 'rule']),
  /** The product or the rule. */
  target_id: z.number(),
  name: z.string(),
  shopify_variant_id: z.string(),
  price: Money,
  platform_price: Money,
  since: Time
})
export type PriceDrift = z.infer<typeof PriceDrift>

/** The two prices that were shown to whoever decides: where one is another by now, nothing is changed. */
export const ShownPrices = PriceDrift.pick({ price: true, platform_price: true }).partial()
export type ShownPrices = z.infer<typeof ShownPrices>

/** A part of the settings' calls. */
export const healthRoutes = {
  health: route('GET', '/api/settings/health', {
    summary: 'How the shop and what it depends on are doing',
    access: 'admin',
    permission: 'health.view',
    reply: Health
  }),
  checkHealth: route('POST', '/api/settings/health/check', {
    summary: 'Look at the platform now: shop, webhooks and prices',
    access: 'admin',
    permission: 'health.change',
    body: z.object({}).optional(),
    reply: Health
  }),
  webhookSecrets: route('GET', '/api/settings/webhook_secrets', {
    summary: 'Which secret signed the last webhook of the platform, and until when former ones are taken',
    access: 'admin',
    permission: 'settings.view',
    reply: WebhookSecrets
  }),
  endFormerSecrets: route('POST', '/api/settings/webhook_secrets/end', {
    summary: 'Take no former secret of webhooks any more',
    access: 'admin',
    permission: 'settings.change',
    body: z.object({}).optional(),
    reply: WebhookSecrets
  }),
  takeOverWebhooks: route('POST', '/api/settings/webhooks/take_over', {
    summary: "Move the webhooks of other installations on the same platform keys to this shop's address",
    access: 'admin',
    permission: 'health.change',
    body: z.object({}).optional(),
    reply: z.object({ taken: z.array(z.string()) })
  })
}
