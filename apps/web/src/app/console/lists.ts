import type { Endpoint } from '../../api/client.ts'
import {
  accounts,
  catalog,
  fleet,
  inventory,
  mail,
  notices,
  orders,
  payments,
  rewards,
  settings,
  status,
  support,
  webhooks
} from '../../api/routes.ts'
import type { ScreenId } from '../manifest.ts'

/** The key and call of the list that a screen starts with, so that its rows and code load in parallel. */
export const lists: Partial<Record<ScreenId, readonly [key: string, call: Endpoint]>> = {
  userList: ['users', accounts.users],
  Orders: ['orders', orders.list],
  payments: ['payments', payments.inbox],
  productManager: ['products', catalog.products],
  productType: ['product-types', catalog.collections],
  productTag: ['product-tags', catalog.tags],
  promocode: ['promo-codes', rewards.coupons],
  giftcard: ['gift-cards', rewards.giftCards],
  leveldiscount: ['level-codes', rewards.levelCodes],
  servers: ['servers', fleet.servers],
  servergroup: ['server-groups', fleet.groups],
  outages: ['outages', fleet.allOutages],
  incidents: ['incidents', status.incidents],
  AclManager: ['rules', inventory.rules],
  AclGroupManager: ['rule-groups', inventory.groups],
  CIDRManage: ['ranges', inventory.cidrs],
  tickets: ['tickets', support.tickets],
  QA: ['faqs', support.faqs],
  mails: ['mails', mail.mails],
  webhooks: ['hook-log', webhooks.allDeliveries],
  notices: ['notices', notices.notices],
  audit: ['audit', settings.audit]
}
