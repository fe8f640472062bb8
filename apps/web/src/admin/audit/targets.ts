import type { Resource } from '@netlet/contract'

const screen = (name: string) => (id: string) => `/dashboard/index/${name}${id}`
const edited = (name: string) => screen(`${name}?form=edit.`)
const opened = (name: string) => screen(`${name}?open=`)

/** Where a thing of each kind is shown; null where no address names one. */
export const TARGETS: Record<Resource, ((id: string) => string) | null> = {
  acl_group: edited('AclGroupManager'),
  acl_rule: edited('AclManager'),
  api_key: null,
  bulk_run: null,
  // Who had an address is asked about the address itself.
  cidr: id => screen(/^\d+$/.test(id) ? 'CIDRManage?detail=' : 'addresses?address=')(encodeURIComponent(id)),
  collection: edited('productType'),
  coupon: edited('promocode'),
  faq: edited('QA'),
  gift_card: edited('giftcard'),
  incident: opened('incidents'),
  level_code: edited('leveldiscount'),
  mail: opened('mails'),
  notice: id => screen(/^\d+$/.test(id) ? 'notices?open=' : 'notices?tab=')(id),
  notice_channel: () => '/dashboard/index/notices?tab=channels',
  order: screen('order/'),
  platform_event: null,
  product: screen('productManager/'),
  server: opened('servers'),
  server_group: edited('servergroup'),
  settings: () => '/dashboard/index/WebsiteSettings',
  tag: edited('productTag'),
  ticket: opened('tickets'),
  upgrade: () => '/dashboard/index/servers',
  user: screen('users/'),
  webhook: screen('webhooks?endpoint_id=')
}
