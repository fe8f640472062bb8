import { z } from 'zod'
import { route } from './route.ts'
import { accounts } from './accounts.ts'
import { bulk } from './bulk.ts'
import { catalog } from './catalog.ts'
import { documentation } from './documentation.ts'
import { fleet } from './fleet.ts'
import { home } from './home.ts'
import { inventory } from './inventory.ts'
import { mail } from './mail.ts'
import { notices } from './notices.ts'
import { orders } from './orders.ts'
import { payments } from './payments.ts'
import { rewards } from './rewards.ts'
import { secondFactor } from './second-factor-routes.ts'
import { settings } from './settings.ts'
import { status } from './status.ts'
import { support } from './support.ts'
import { webhooks } from './webhooks.ts'

/**
 * The change feed (server-sent events). Each event `change` carries `{"changes": [{"resource", "id"?}]}` and an id. A
 * browser that reconnects with `Last-Event-ID` gets the missed events, or `reset` if there were too many; it then reads
 * everything on the screen again. Customers receive changes of their own orders, account, coupons and API keys and,
 * without an id, of what all customers see: products, collections, tags, questions, levels, gift cards and settings.
 */
export const changes = {
  feed: route('GET', '/api/events', {
    summary: 'Changes, as server-sent events',
    access: 'user',
    reply: z.string(),
    raw: 'text/event-stream'
  })
}

/** The whole API, by domain. */
export const routes = {
  accounts,
  secondFactor,
  bulk,
  catalog,
  changes,
  orders,
  payments,
  inventory,
  mail,
  notices,
  fleet,
  rewards,
  status,
  support,
  settings,
  home,
  webhooks,
  documentation
}
export type Domain = keyof typeof routes
