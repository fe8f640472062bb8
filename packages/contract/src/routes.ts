import { accounts } from './accounts.ts'
import { bulk } from './bulk.ts'
import { catalog } from './catalog.ts'
import { changes } from './changes.ts'
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
