/**
 * The shop's kinds of objects, as named in the audit log, change feed and bulk commands. Without schemas, so that the
 * browser can import it anywhere.
 */
export const RESOURCES = [
  'acl_group',
  'acl_rule',
  'api_key',
  'bulk_run',
  'catalog_sync',
  'cidr',
  'collection',
  'coupon',
  'faq',
  'gift_card',
  'incident',
  'level_code',
  'mail',
  'notice',
  'notice_channel',
  'order',
  'platform_event',
  'product',
  'saved_reply',
  'server',
  'server_group',
  'settings',
  'tag',
  'ticket',
  'upgrade',
  'user',
  'webhook'
] as const
export type Resource = (typeof RESOURCES)[number]

/**
 * Resources that all customers see. A change is sent to them without an id, because some objects (unpublished products,
 * gift cards) are for administrators only.
 */
export const PUBLIC_RESOURCES: ReadonlySet<Resource> = new Set([
  'collection',
  'faq',
  'gift_card',
  'incident',
  'level_code',
  'product',
  'settings',
  'tag'
])

/** A change to show or to invalidate a cache. Without an id, any object may have changed. */
export type Change = { resource: Resource; id?: number }
