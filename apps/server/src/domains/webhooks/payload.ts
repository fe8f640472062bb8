import type { WebhookEvent } from '@netlet/contract'
import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { iso } from '../../infra/clock.ts'
import type { Secrets } from '../../infra/secrets.ts'

export type EventToSend = { publicId: string; type: WebhookEvent; data: Record<string, unknown>; at: Date }

/**
 * The body of an event: the same letters at each try. It names things by ids and links where to read them with an API
 * key; what opens a proxy is in no event, since bodies end up in logs of receivers.
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

/** A secret as Standard Webhooks writes it: 32 random bytes. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

type Keys = { secret: Buffer; formerSecret: Buffer | null; formerUntil: Date | null }

/**
 * The headers of one try, signed as Standard Webhooks says: with the secret, and for a day after a new one was made with
 * the former one as well.
 * @returns null where the secret was sealed with another APP_SECRET
 */
export function signedHeaders(secrets: Secrets, keys: Keys, { publicId }: EventToSend, body: string, now: Date) {
  const secret = opened(secrets, keys.secret)
  if (secret === null) return null
  // One that cannot be read is why a new one was made.
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
