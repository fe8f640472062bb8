import { routes } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { demoPlans, demoRules } from '../../../../sandbox/src/shopify/catalogue.ts'
import { control, launch, newDataDir, removeDataDir, secrets } from '../../../../sandbox/src/testing/harness.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { startTestShop } from '../../testing/shop.ts'
import { createRule, inventoryRoutes } from '../inventory/index.ts'
import { aclRules } from '../inventory/tables.ts'
import { writeSettings } from '../settings/index.ts'
import { catalogJobs, catalogRoutes, rulePrices } from './index.ts'
import { addGroup, addProduct } from './products.fixture.ts'
import { products, variants } from './tables.ts'

export function fail(): never {
  throw new Error('the demo has no such thing')
}

export const plan = demoPlans[0] ?? fail()
export const [first, second] = [plan.variants[0] ?? fail(), plan.variants[1] ?? fail()]
export const rule = demoRules[0] ?? fail()

export type Drift = { id: number; kind: string; name: string; price: string; platform_price: string; since: string }
type PlatformRow = { id: string; variants: { id: string; price: string }[] }

/** A shop beside a platform that sells one plan in two variants and one rule; `reset` before each test. */
export type PriceShop = Awaited<ReturnType<typeof startPriceShop>>

export async function startPriceShop() {
  const shop = await startTestShop({
    routes: (mount, ctx, app) => {
      catalogRoutes(mount, ctx, { app })
      inventoryRoutes(mount, ctx, { onRulesChanged: () => undefined, prices: rulePrices })
    },
    jobs: catalogJobs
  })
  const { db } = shop.ctx
  const admin = await shop.admin()
  const dataDir = await newDataDir()
  const sandbox = await launch(dataDir, 'http://127.0.0.1:9')
  const { groupId } = await addGroup(db, [{ cidr: '10.2.0.0/24' }])
  let productId = 0
  let ruleId = 0

  /** Changes variants' prices on the platform without a webhook. */
  const platformPrices = async (prices: Record<string, string>, of = plan.id) => {
    const changed = Object.entries(prices).map(([id, price]) => ({ id, price }))
    await control(sandbox, 'PATCH', `/products/${of}`, { variants: changed, silent: true })
  }

  return {
    shop,
    admin,
    sandbox,
    platformPrices,
    /** Recreates the plan and the rule at the platform's prices. */
    reset: async () => {
      await writeSettings(shop.ctx, {
        shopify_shop_url: sandbox.url,
        shopify_app_key: secrets.accessToken,
        shopify_api_secret: secrets.appSecret
      })
      await control(sandbox, 'POST', '/graphql/faults', { kind: 'none' })
      await platformPrices({ [first.id]: '2.20', [second.id]: '2.02' })
      const deletedAt = shop.ctx.now()
      await db.update(products).set({ deletedAt, active: false })
      await db.update(variants).set({ deletedAt })
      await db.update(aclRules).set({ deletedAt })
      const product = await addProduct(db, { platformId: plan.id, name: plan.title }, [
        { platformId: first.id, option1: 'New York', option2: 'Single address', price: '2.20', serverGroupId: groupId },
        { platformId: second.id, option1: 'New York', option2: 'Block of 8', price: '2.02', cartStep: 8 }
      ])
      productId = product.id
      const made = await command(shop.ctx, SYSTEM, unit =>
        createRule(unit, {
          name: rule.name,
          description: 'shoes',
          price: rule.price,
          platformVariantId: rule.variantId,
          aclValue: rule.domains.join('\n')
        })
      )
      if (!made.ok) throw new Error(made.reason)
      ruleId = made.rule.id
      return { productId, ruleId }
    },
    priceThere: async (variantId: string): Promise<string | undefined> => {
      const all = await control<PlatformRow[]>(sandbox, 'GET', '/products')
      return all.flatMap(product => product.variants).find(variant => variant.id === variantId)?.price
    },
    pricesHere: async () => {
      const rows = await db.select().from(variants).where(eq(variants.productId, productId)).orderBy(variants.id)
      return rows.filter(row => row.deletedAt === null).map(row => row.price)
    },
    ruleHere: async () => (await db.select().from(aclRules).where(eq(aclRules.id, ruleId)))[0],
    drifts: async () => (await admin.get<{ data: Drift[] }>(routes.catalog.priceDrift.path)).data.data,
    close: async () => {
      await shop.close()
      await sandbox.close()
      await removeDataDir(dataDir)
    }
  }
}
