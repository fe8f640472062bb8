import type { WebhookEvent } from '@netlet/contract'
import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { iso } from '../../infra/clock.ts'
import type { Secrets } from '../../infra/secrets.ts'

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
