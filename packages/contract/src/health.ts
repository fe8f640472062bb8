import { z } from 'zod'
import { route } from './route.ts'
import { Money, Time } from './shapes.ts'

/** The result of a check of the platform. It is shared by all readers. */
const Looked = z.object({ at: Time.nullable(), error: z.string().nullable() })

/**
 * Why a platform webhook was refused. `signature`: signed with another secret or not by the platform. `no_secret`: no
 * secret is configured. `other_shop`: signed, but of another shop. `topic`: signed, but we did not subscribe to the
 * topic.
 */
export const WEBHOOK_REFUSALS = ['signature', 'no_secret', 'other_shop', 'unreadable', 'too_large', 'topic'] as const
export type WebhookRefusal = (typeof WEBHOOK_REFUSALS)[number]

const RefusedWebhooks = z.object({
  /** Refusals since the last accepted webhook, by cause, latest first. */
  refused: z.array(
    z.object({
      kind: z.enum(WEBHOOK_REFUSALS),
      count: z.number(),
      since: Time,
      at: Time,
      topic: z.string(),
      /** Signed by the platform. Otherwise it only names this shop, which anyone can do. */
      certain: z.boolean()
    })
  ),
  /** Requests that were no webhook of this shop, and the shop that the last one named. */
  strangers: z.object({ count: z.number(), at: Time, domain: z.string() }).nullable()
})
export type RefusedWebhooks = z.infer<typeof RefusedWebhooks>

/** The secret that signed the last accepted webhook, and until when former secrets are accepted; null: none. */
export const WebhookSecrets = z.object({
  signed: z.object({ at: Time, topic: z.string(), by: z.enum(['present', 'former', 'ended']) }).nullable(),
  former_until: Time.nullable()
})
export type WebhookSecrets = z.infer<typeof WebhookSecrets>

/** The total, and the first names. */
const Named = z.object({ count: z.number(), names: z.array(z.string()) })

export const PlatformHealth = z.object({
  configured: z.boolean(),
  /** The last check of the platform itself. */
  shop: Looked.extend({
    name: z.string().nullable(),
    currency: z.string().nullable(),
    /** The configured currency. Payments in another one do not settle an order. */
    expected_currency: z.string(),
    /** Its Online Store asks visitors for a password, so no customer reaches the checkout. */
    password: z.boolean(),
    /** Its owner has paused or closed it there: the checkout takes no payment. */
    paused: z.boolean(),
    missing_scopes: z.array(z.string())
  }),
  webhooks: Looked.extend({
    address: z.string(),
    wanted: z.array(z.string()),
    present: z.array(z.string()),
    /** Webhook addresses of other installations with the same keys. */
    foreign: z.array(z.string()),
    /** Another installation exists, so this one registers no webhooks. */
    blocked: z.boolean(),
    /** Payments of the last 24 hours that no webhook reported. */
    missed: z.number(),
    ...RefusedWebhooks.shape,
    ...WebhookSecrets.shape,
    last_events: z.array(z.object({ topic: z.string(), at: Time.nullable() }))
  }),
  /** API versions: the one we request, and those of the last reply and webhook. */
  versions: z.object({ wanted: z.string(), replies: z.string().nullable(), webhooks: z.string().nullable() }),
  events: z.object({
    waiting: z.number(),
    oldest_waiting: Time.nullable(),
    /** The database error of the oldest unhandled event. */
    waits_for: z.string().nullable(),
    /** Payments of the last 30 days that need a decision. */
    unresolved: z.number()
  }),
  reconciliation: Looked.extend({
    found: z.number(),
    /** The platform's name of an order whose payment was authorised in the last 24 hours and not captured. */
    authorized: z.string().nullable()
  }),
  products: Looked,
  prices: Looked.extend({ differ: z.number() }),
  /** For sale on the platform but not in its Online Store. A checkout would refuse them, so we do not sell them. */
  unpublished: z.object({ products: Named, rules: Named }),
  /** Not for sale here, because the platform sells them with a selling plan only, which checkout links cannot buy. */
  subscription_only: z.object({ products: Named, rules: Named }),
  /** For sale, but the platform keeps a stock of them that each sale lowers. At zero its checkout refuses them. */
  counted: z.object({ products: Named, rules: Named }),
  /** For sale, but the platform ships them: its checkout asks for an address, and refuses places without a rate. */
  shipped: z.object({ products: Named, rules: Named })
})

export const JobsHealth = z.object({
  queues: z.array(
    z.object({
      name: z.string(),
      waiting: z.number(),
      active: z.number(),
      /** When the oldest waiting job was due. */
      oldest: Time.nullable(),
      /** Jobs that used up their retries. */
      dead: z.number()
    })
  )
})

export const ServersHealth = z.object({
  total: z.number(),
  reachable: z.number(),
  unreachable: z.array(z.object({ id: z.number(), name: z.string(), since: Time.nullable() })),
  /** Servers that answer but are not up to date: why, and since when changes fail (if they do). */
  troubled: z.array(z.object({ id: z.number(), name: z.string(), since: Time.nullable(), message: z.string() })),
  /** Certificates that proxy clients see, first to end first. Negative days: it has ended. */
  certificates: z.array(z.object({ id: z.number(), name: z.string(), ends_at: Time, days_left: z.number() }))
})

export const MailHealth = z.object({
  waiting: z.number(),
  oldest: Time.nullable(),
  /** Mails that failed permanently. */
  failed: z.number(),
  /** The mail service's last error for a waiting mail. */
  error: z.string().nullable()
})

export const DatabaseHealth = z.object({
  bytes: z.number(),
  connections: z.number(),
  max_connections: z.number(),
  /** The pool of this process. */
  pool: z.object({ size: z.number(), idle: z.number(), waiting: z.number() }),
  /** When the backup was made from which the shop was restored, while it looks for what was paid since; else null. */
  recovering_since: Time.nullable(),
  /** The latest rehearsal of a restore: when, the moment that the restored data were at, and why it failed. */
  rehearsal: z.object({ at: Time, data_until: Time.nullable(), error: z.string().nullable() }).nullable(),
  /** While APP_SECRET_PREVIOUS is given: rows that still need it, and when it may be removed. */
  secret_change: z.object({ left: z.number(), removable_at: Time.nullable() }).nullable()
})

export const HttpHealth = z.object({
  public_url: z.string(),
  /** Reverse proxies not listed in TRUST_PROXY that forwarded requests to this process. */
  untrusted_proxies: z.array(z.object({ address: z.string(), at: Time }))
})

/** The shop's health by section; null if a section could not be read. */
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

/** A price that differs from the platform's. */
export const PriceDrift = z.object({
  id: z.number(),
  kind: z.enum(['variant', 'rule']),
  /** The product or rule. */
  target_id: z.number(),
  name: z.string(),
  shopify_variant_id: z.string(),
  price: Money,
  platform_price: Money,
  since: Time
})
export type PriceDrift = z.infer<typeof PriceDrift>

/** The two prices shown to the operator. If one has changed, the call is refused. */
export const ShownPrices = PriceDrift.pick({ price: true, platform_price: true }).partial()
export type ShownPrices = z.infer<typeof ShownPrices>

/** A part of the settings' calls. */
export const healthRoutes = {
  health: route('GET', '/api/settings/health', {
    summary: 'Health of the shop and the services it depends on',
    access: 'admin',
    permission: 'health.view',
    reply: Health
  }),
  checkHealth: route('POST', '/api/settings/health/check', {
    summary: 'Check the platform now: shop, webhooks and prices',
    access: 'admin',
    permission: 'health.change',
    body: z.object({}).optional(),
    reply: Health
  }),
  webhookSecrets: route('GET', '/api/settings/webhook_secrets', {
    summary: "Which secret signed the platform's last webhook, and until when previous ones are accepted",
    access: 'admin',
    permission: 'settings.view',
    reply: WebhookSecrets
  }),
  endFormerSecrets: route('POST', '/api/settings/webhook_secrets/end', {
    summary: 'Stop accepting previous webhook secrets',
    access: 'admin',
    permission: 'settings.change',
    needsConfirmation: true,
    body: z.object({}).optional(),
    reply: WebhookSecrets
  }),
  takeOverWebhooks: route('POST', '/api/settings/webhooks/take_over', {
    summary: 'Take over the webhooks of other installations with the same platform keys',
    access: 'admin',
    permission: 'health.change',
    body: z.object({}).optional(),
    reply: z.object({ taken: z.array(z.string()) })
  })
}
