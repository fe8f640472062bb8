import { fillIn, type Refusal, refusals, refuse, type WebhookEvent } from '@netlet/contract'
import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { iso } from '../../infra/clock.ts'
import type { Secrets } from '../../infra/secrets.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { forbiddenTarget, type PublicHttpPolicy, type Resolve } from '../../integrations/public-http/index.ts'
import { readSettings } from '../settings/index.ts'

export type EventToSend = { publicId: string; type: WebhookEvent; data: Record<string, unknown>; at: Date }

/**
 * The body of an event, the same for each try. It contains ids, and links for an API key. It contains no credentials,
 * because receivers log bodies.
 */
export function payloadOf({ type, at, data }: EventToSend, publicUrl: string, forOperators: boolean): string {
  return JSON.stringify({ type, timestamp: iso(at), data: { ...data, ...linksOf(data, publicUrl, forOperators) } })
}

function linksOf(data: Record<string, unknown>, publicUrl: string, forOperators: boolean) {
  const { order_id: order, server_id: server } = data
  if (typeof order === 'number')
    return {
      links: forOperators
        ? { page: `${publicUrl}/dashboard/index/order/${order}` }
        : {
            page: `${publicUrl}/dashboard/index/proxies/${order}`,
            proxies: `${publicUrl}/api/orders/order_list/${order}/get_proxy_detail/`
          }
    }
  return typeof server === 'number' ? { links: { page: `${publicUrl}/dashboard/index/servers?open=${server}` } } : {}
}

/** A secret in the form of Standard Webhooks: 32 random bytes. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

type Keys = { secret: Buffer; formerSecret: Buffer | null; formerUntil: Date | null }

/**
 * The headers of one try, signed according to Standard Webhooks, for a day also with the former secret.
 * @returns null if the secret was sealed with another APP_SECRET
 */
export function signedHeaders(secrets: Secrets, keys: Keys, { publicId }: EventToSend, body: string, now: Date) {
  const secret = opened(secrets, keys.secret)
  if (secret === null) return null
  // An unreadable former secret is the reason for the new one.
  const former = keys.formerUntil && keys.formerUntil > now ? opened(secrets, keys.formerSecret) : null
  const signatures = [secret, ...(former === null ? [] : [former])].map(key =>
    new Webhook(key).sign(publicId, now, body)
  )
  return {
    'content-type': 'application/json',
    'user-agent': 'Netlet-Webhooks/1',
    'webhook-id': publicId,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': signatures.join(' ')
  }
}

function opened(secrets: Secrets, sealed: Buffer | null): string | null {
  try {
    return sealed && secrets.open(sealed)
  } catch {
    return null
  }
}

/** What webhooks need from higher domains and from the network. */
export type WebhookPorts = {
  /** Do some of these addresses belong to the shop's servers or ranges? */
  ownsAddresses: (db: Executor, addresses: readonly string[]) => Promise<boolean>
  /** By default the DNS. */
  resolve?: Resolve
}

/** The owner of endpoints: a customer (by id), or the operators (null). */
export type Owner = number | null

type Asking = Pick<AppContext, 'db' | 'config' | 'secrets'>

/**
 * The targets that an owner's webhooks may have now. Customers read replies, so they must not reach the operators' own
 * network.
 */
export async function readPolicy(
  ctx: Asking,
  { ownsAddresses }: WebhookPorts,
  owner: Owner
): Promise<PublicHttpPolicy> {
  const { webhooks_allow_http: allowHttp } = await readSettings(ctx.db, ctx.secrets)
  const { config } = ctx
  return {
    allowHttp,
    allowedUrls: owner === null ? config.webhookOrigins.map(origin => `${origin}/`) : config.customerWebhookUrls,
    ownHosts: [new URL(config.publicUrl).hostname],
    areOwn: addresses => ownsAddresses(ctx.db, addresses)
  }
}

/** Refuses an address that could never be sent to. Each try checks where its name resolves. */
export async function refusedTarget(
  ctx: Asking,
  ports: WebhookPorts,
  owner: Owner,
  url: string
): Promise<Refusal | null> {
  const policy = await readPolicy(ctx, ports, owner)
  const why = forbiddenTarget(new URL(url), policy)
  if (!why) return null
  const reason = `webhook_${why}` as const
  return refuse(reason, { data: { errors: { url: fillIn(refusals[reason][1]) } } })
}
