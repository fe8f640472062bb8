import type { Resource } from '@netlet/contract'
import { pageAt, type PageId } from '@netlet/contract/pages'

const at = (page: PageId, query: string) => (id: string) => `${pageAt(page)}?${query}${id}`
const edited = (page: PageId) => at(page, 'form=edit.')
const opened = (page: PageId) => at(page, 'open=')

/** Where an object of each kind is shown; null if no address leads to it. */
export const TARGETS: Record<Resource, ((id: string) => string) | null> = {
  acl_group: edited('AclGroupManager'),
  acl_rule: edited('AclManager'),
  api_key: null,
  bulk_run: null,
  catalog_sync: null,
  // A single address leads to its history.
  cidr: id => (/^\d+$/.test(id) ? at('CIDRManage', 'detail=') : at('addresses', 'address='))(encodeURIComponent(id)),
  collection: edited('productType'),
  coupon: edited('promocode'),
  faq: edited('QA'),
  gift_card: edited('giftcard'),
  incident: opened('incidents'),
  level_code: edited('leveldiscount'),
  mail: opened('mails'),
  notice: id => at('notices', /^\d+$/.test(id) ? 'open=' : 'tab=')(id),
  notice_channel: () => at('notices', 'tab=')('channels'),
  order: id => pageAt('order', { id }),
  platform_event: null,
  product: product => pageAt('productManager', { product }),
  server: opened('servers'),
  server_group: edited('servergroup'),
  settings: () => pageAt('WebsiteSettings'),
  tag: edited('productTag'),
  ticket: opened('tickets'),
  upgrade: () => pageAt('servers'),
  user: id => pageAt('user', { id }),
  webhook: at('webhooks', 'endpoint_id=')
}
