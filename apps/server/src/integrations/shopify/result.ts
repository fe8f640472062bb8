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
