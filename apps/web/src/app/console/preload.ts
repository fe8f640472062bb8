import { type OperatorRole, mayOperate } from '@netlet/contract/permissions'
import { useEffect, useMemo } from 'react'
import { readFirstPage } from '../../admin/kit/use-list.ts'
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
import { useSession } from '../../api/session.ts'
import { type Screen, loadScreen, loadWhenIdle } from '../load-screens.ts'
import { type ScreenId, pathOf, screenAt, screens } from '../manifest.ts'
import { watchLinks } from '../preload.ts'

/**
 * Loads the console's screens before they open: the code on hover, the code and rows on click, and the code of all
 * others one by one when the first screen has its data and the browser is idle.
 */
export function Preload(): null {
  const { user } = useSession()
  const role = user?.operator_role ?? null
  const allowed = useMemo(() => screensOf(role), [role])
  useEffect(() => watchConsoleLinks(allowed), [allowed])
  useEffect(() => loadWhenIdle(allowed), [allowed])
  return null
}

const screensOf = (operator: OperatorRole | null) =>
  screens.filter(({ role, permission }) => role === 'admin' && permission && mayOperate(operator, permission))

/** @returns stops watching */
function watchConsoleLinks(allowed: Screen[]): () => void {
  return watchLinks(
    (link, event) => {
      const screen = screenAt(link.pathname)
      if (!screen || !allowed.includes(screen)) return
      void loadScreen(screen)
      const list = lists[screen.id]
      const isPlain = link.pathname === pathOf(screen.id) && !link.search
      if (list && isPlain && (event === 'pointerdown' || event === 'click')) readFirstPage(...list)
    },
    ['pointerover', 'focusin', 'pointerdown', 'click']
  )
}

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
