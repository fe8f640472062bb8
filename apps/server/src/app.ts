import type { FastifyInstance } from 'fastify'
import { documentationRoutes } from './api/routes.ts'
import { accountRoutes, createGuard } from './domains/accounts/index.ts'
import { auditRoutes } from './domains/audit/index.ts'
import { catalogRoutes, requestWebhooks } from './domains/catalog/index.ts'
import { deliveryRoutes } from './domains/delivery/index.ts'
import { fleetRoutes, askDenyLists } from './domains/fleet/index.ts'
import { inventoryRoutes } from './domains/inventory/index.ts'
import { orderRoutes } from './domains/orders/index.ts'
import { paymentRoutes } from './domains/payments/index.ts'
import { rewardsRoutes } from './domains/rewards/index.ts'
import { settingsRoutes } from './domains/settings/index.ts'
import { supportRoutes } from './domains/support/index.ts'
import { createApp } from './platform/http/app.ts'
import { mounter } from './platform/http/mount.ts'
import { healthRoutes } from './platform/http/health.ts'
import { serveWeb } from './platform/http/web.ts'
import type { Shop } from './platform/shop.ts'

/** The whole HTTP side: every call of the contract, health and metrics, and the web app. */
export async function createShopApp(shop: Shop): Promise<FastifyInstance> {
  const app = await createApp({ log: shop.log, trustProxy: shop.config.trustProxy })
  healthRoutes(app, shop)
  const mount = mounter(app, createGuard(shop))
  accountRoutes(mount, shop)
  catalogRoutes(mount, shop)
  orderRoutes(mount, shop)
  deliveryRoutes(mount, shop)
  paymentRoutes(mount, shop)
  inventoryRoutes(mount, shop, tx => askDenyLists(tx, shop.jobs))
  fleetRoutes(mount, shop)
  rewardsRoutes(mount, shop)
  supportRoutes(mount, shop)
  settingsRoutes(mount, shop, tx => requestWebhooks(tx, shop.jobs))
  auditRoutes(mount, shop)
  documentationRoutes(mount, shop)
  await serveWeb(app, shop.config)
  return app
}
