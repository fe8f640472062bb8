import { retryAfterMs } from '../http-exchange.ts'
/** Why a call to the platform failed. Only `retryable` failures are worth a retry without an operator. */
export type ShopifyReason =
  | 'not_configured'
  | 'unauthorized'
  | 'throttled'
  | 'timeout'
  | 'network'
  | 'server_error'
  | 'bad_reply'
  /** The shop is frozen or locked there, and nothing was done. */
  | 'inactive'
  | 'rejected'
  | 'not_found'
  /** An earlier attempt under this idempotency key failed, and the key stays unusable. */
  | 'key_failed'

/** `message` is for the shop's operator and never contains the access token. */
export type ShopifyFailure = { ok: false; reason: ShopifyReason; message: string; retryable: boolean }

export type ShopifyResult<T> = { ok: true; value: T } | ShopifyFailure

const retryableReasons: ReadonlySet<ShopifyReason> = new Set([
  'throttled',
  'timeout',
  'network',
  'server_error',
  'inactive'
])

export const done = <T>(value: T): ShopifyResult<T> => ({ ok: true, value })

export const failed = (reason: ShopifyReason, message: string): ShopifyFailure => ({
  ok: false,
  reason,
  message,
  retryable: retryableReasons.has(reason)
})

/** The wait that a 429 requests, in milliseconds; a second by default. */
export const throttleMs = (headers: Headers): number =>
  retryAfterMs(headers.get('retry-after'), new Date(), Infinity) || 1000

/** Timeouts, conflicts, and the platform's rejections by client address (430), which also hit honest clients. */
export const TEMPORARY_STATUSES: ReadonlySet<number> = new Set([408, 409, 425, 430])

/**
 * The origin of the shop, without a trailing slash, or null if the setting is no address. A bare domain gets https. A
 * whole http(s) URL is kept, so that it can name a stand-in.
 */
export function shopBase(shopUrl: string): string | null {
  const given = shopUrl.trim()
  if (given === '') return null
  const url = URL.parse(/^https?:\/\//i.test(given) ? given : `https://${given}`)
  return url && url.hostname !== '' && url.username === '' ? url.origin : null
}
