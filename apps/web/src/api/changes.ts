import type { Change, Resource } from '@netlet/contract'
import { followChanges } from './change-feed.ts'
import type { Endpoint } from './client.ts'
import { setFeedConnected } from './feed-connected.ts'
import { refresh, refreshAll } from './query.ts'
import {
  accounts,
  bulk,
  catalog,
  changes,
  fleet,
  home,
  inventory,
  mail,
  notices,
  orders,
  payments,
  rewards,
  secondFactor,
  settings,
  status,
  support,
  webhooks
} from './routes.ts'

/** The calls to read again when a resource changes. */
export const readsOf: Record<Resource, readonly Endpoint[]> = {
  acl_group: [inventory.groups],
  acl_rule: [
    inventory.rules,
    inventory.ruleConflicts,
    inventory.groups,
    catalog.ruleStock,
    catalog.priceDrift,
    home.stock,
    home.attention
  ],
  api_key: [accounts.apiKeys, accounts.userApiKeys, accounts.user],
  bulk_run: [bulk.runs, bulk.run, bulk.rows],
  catalog_sync: [catalog.syncRuns, catalog.lastSync],
  cidr: [
    inventory.cidrs,
    inventory.cidrBlocks,
    fleet.servers,
    fleet.server,
    catalog.groupStock,
    home.stock,
    home.attention
  ],
  collection: [catalog.collections, catalog.products],
  coupon: [rewards.coupons],
  faq: [support.faqs],
  gift_card: [rewards.giftCards, rewards.exchangeList],
  incident: [status.page, status.publicIncident, status.incidents, status.incident, fleet.allOutages, orders.credits],
  // The price of an unpaid order depends on its level code.
  level_code: [rewards.levelCodes, rewards.levelDiscount, orders.list, orders.proxyDetail],
  mail: [mail.mails],
  notice: [notices.notices, notices.notice, notices.rules, home.attention],
  notice_channel: [notices.channels],
  order: [
    orders.list,
    orders.search,
    orders.statistics,
    orders.proxyDetail,
    orders.credits,
    orders.lostTime,
    orders.order,
    orders.proxies,
    orders.timeline,
    orders.receipts,
    orders.payment,
    orders.ofProduct,
    catalog.groupStock,
    accounts.user,
    payments.ofUser,
    payments.ofOrder,
    catalog.products,
    inventory.cidrs,
    home.attention,
    home.sales,
    home.stock,
    home.endings,
    home.deliveries
  ],
  platform_event: [
    payments.inbox,
    payments.inboxEntry,
    payments.ofUser,
    payments.ofOrder,
    orders.timeline,
    settings.health,
    settings.webhookSecrets,
    catalog.priceDrift,
    home.attention,
    home.sales
  ],
  product: [catalog.products, catalog.recommended, catalog.platformProducts, catalog.priceDrift, home.attention],
  server: [
    fleet.servers,
    fleet.serverNames,
    fleet.server,
    // The agent's settings are applied only after the installation.
    fleet.agentSettings,
    fleet.proxyTls,
    fleet.serverInfo,
    fleet.allOutages,
    fleet.outage,
    fleet.outageOrders,
    orders.lostTime,
    fleet.geofeedProposal,
    fleet.groups,
    settings.health,
    home.attention,
    home.stock
  ],
  server_group: [fleet.groups, fleet.servers, fleet.server, catalog.groupStock, home.stock, home.attention],
  settings: [
    settings.brand,
    settings.config,
    settings.retention,
    settings.social,
    settings.health,
    settings.webhookSecrets,
    orders.limits
  ],
  tag: [catalog.tags, catalog.products],
  saved_reply: [support.savedReplies],
  ticket: [support.tickets, support.ticket, support.userTickets, support.ownTickets, support.ownTicket, home.attention],
  upgrade: [fleet.upgrades, fleet.upgradeServers, home.attention],
  user: [
    accounts.users,
    accounts.user,
    accounts.sessions,
    accounts.userSessions,
    accounts.userLogins,
    accounts.currentUser,
    accounts.inviteCode,
    accounts.inviteLog,
    secondFactor.secondFactors,
    rewards.levelDiscount,
    rewards.pointRecords,
    rewards.userPoints
  ],
  webhook: [
    webhooks.endpoints,
    webhooks.deliveries,
    webhooks.delivery,
    webhooks.allEndpoints,
    webhooks.allDeliveries,
    webhooks.anyDelivery
  ]
}

/** Every administrator's change adds an entry to the audit log. */
const readsOfAny: readonly Endpoint[] = [settings.audit]

/** Minimum milliseconds between two refetches, because a busy shop changes constantly. */
const ROUND = 1000

/** Follows the change feed and refetches what is on the screen when it changes. @returns stops following */
export function refreshOnChange(userId: number): () => void {
  let waiting = new Set<Resource>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const round = () => {
    const resources = [...waiting]
    waiting = new Set()
    timer = resources.length > 0 ? setTimeout(round, ROUND) : undefined
    if (resources.length > 0)
      void refresh(...new Set([...readsOfAny, ...resources.flatMap(resource => readsOf[resource] ?? [])]))
  }
  const stop = followChanges(
    {
      url: changes.feed.path,
      userId,
      EventSource,
      statusOf,
      delays: { first: 1000, most: 60_000 },
      locks: 'locks' in navigator ? navigator.locks : undefined,
      openChannel: 'BroadcastChannel' in window ? name => new BroadcastChannel(name) : undefined
    },
    {
      changes: (changed: Change[]) => {
        for (const { resource } of changed) waiting.add(resource)
        timer ??= setTimeout(round, 0)
      },
      reset: () => void refreshAll(),
      connected: setFeedConnected
    }
  )
  return () => {
    clearTimeout(timer)
    stop()
  }
}

async function statusOf(url: string): Promise<number> {
  const ending = new AbortController()
  try {
    const { status } = await fetch(url, { headers: { accept: 'text/event-stream' }, signal: ending.signal })
    return status
  } catch {
    return 0
  } finally {
    ending.abort()
  }
}
