/**
 * What the shop keeps, by the names that the audit log, the change feed and bulk commands share. Without the validation
 * library, so that the browser can take it anywhere.
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
 * What the shop shows to every customer: each of them is told that such a resource changed, but not which one, since
 * some of them (unpublished products, gift cards) are for administrators only.
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

/** What changed, for whoever shows or caches it. Without an id: any of them may have. */
export type Change = { resource: Resource; id?: number }
