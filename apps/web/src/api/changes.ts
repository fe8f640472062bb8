import type { Change, Resource } from '@netlet/contract'
import { followChanges } from './change-feed.ts'
import type { Endpoint } from './client.ts'
import { setFeedConnected } from './feed-connected.ts'
import { queryClient, refresh } from './query.ts'
import {
  accounts,
  bulk,
  catalog,
  changes,
  fleet,
  inventory,
  orders,
  payments,
  rewards,
  settings,
  support
} from './routes.ts'

/** Which calls read what the shop keeps: these are asked again when it changes. */
export const readsOf: Record<Resource, readonly Endpoint[]> = {
  acl_group: [inventory.groups],
  acl_rule: [inventory.rules, inventory.ruleConflicts, inventory.groups, catalog.ruleStock, catalog.priceDrift],
  api_key: [accounts.apiKeys],
  bulk_run: [bulk.runs, bulk.run, bulk.rows],
  cidr: [inventory.cidrs, fleet.servers],
  collection: [catalog.collections, catalog.products],
  coupon: [rewards.coupons],
  faq: [support.faqs],
  gift_card: [rewards.giftCards, rewards.exchangeList],
  level_code: [rewards.levelCodes],
  order: [
    orders.list,
    orders.search,
    orders.statistics,
    orders.proxyDetail,
    orders.events,
    orders.payment,
    catalog.products,
    inventory.cidrs
  ],
  platform_event: [payments.inbox, payments.inboxEntry, settings.health, catalog.priceDrift],
  product: [catalog.products, catalog.recommended, catalog.platformProducts, catalog.priceDrift],
  server: [fleet.servers, fleet.serverInfo, fleet.groups, settings.health],
  server_group: [fleet.groups, fleet.servers],
  settings: [settings.config, settings.retention, settings.social, settings.health],
  tag: [catalog.tags, catalog.products],
  ticket: [support.tickets],
  user: [accounts.users, accounts.currentUser, accounts.inviteLog, rewards.pointRecords]
}

/** What an administrator changes of anything is in the audit log. */
const readsOfAny: readonly Endpoint[] = [settings.audit]

/** Milliseconds that pass at least between two rounds of reading: a shop that is busy changes all the time. */
const ROUND = 1000

/** Follows the change feed for a user and has what is on the screen read again as it changes. @returns how to end it */
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
      reset: () => void queryClient.invalidateQueries(),
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
