import { eq } from 'drizzle-orm'
import { demoPlans, demoRules, demoRulesProduct } from '../../apps/sandbox/src/shopify/catalogue.ts'
import { demoLocations } from '../../apps/sandbox/src/shopify/plan.ts'
import { createUser } from '../../apps/server/src/domains/accounts/index.ts'
import {
  collections,
  productCollections,
  productOptions,
  products,
  productTags,
  tags,
  variants
} from '../../apps/server/src/domains/catalog/tables.ts'
import { openPlatform } from '../../apps/server/src/domains/catalog/index.ts'
import { renewPrefixes } from '../../apps/server/src/domains/fleet/index.ts'
import { serverGroups, serverGroupServers, servers } from '../../apps/server/src/domains/fleet/tables.ts'
import { assignCidrs, createRule } from '../../apps/server/src/domains/inventory/index.ts'
import { aclRules } from '../../apps/server/src/domains/inventory/tables.ts'
import { writeSettings } from '../../apps/server/src/domains/settings/index.ts'
import type { Transaction } from '../../apps/server/src/platform/db/client.ts'
import type { Shop } from '../../apps/server/src/platform/shop.ts'
import type { NewcomerSettings } from './settings.ts'

export const DEMO_ADMIN = { username: 'admin', password: 'Admin#2026', email: 'admin@example.com' }
export const DEMO_CUSTOMER = { username: 'demo1', password: 'Demo#2026', email: 'demo1@example.com' }

/** What the local agent leases; loopback needs no routes and no rights. */
const DEMO_RANGE = '127.10.0.0/16'

/**
 * Fills a new database with the demo: accounts, the local server, the access rules, and the catalogue as the stand-in
 * platform has it. Every start runs it: what is there stays, and only addresses that may have moved are renewed.
 */
export async function seed(
  shop: Shop,
  { settings, platformUrl }: { settings: NewcomerSettings; platformUrl: string }
): Promise<void> {
  const { kept } = settings
  await writeSettings(
    shop.db,
    shop.secrets,
    {
      shopify_shop_url: platformUrl,
      shopify_app_key: kept.platformToken,
      shopify_api_secret: kept.platformSecret,
      discord_client_id: 'netlet-demo',
      discord_client_secret: kept.discordSecret,
      discord_redirect_uri: `${shop.config.publicUrl}/api/auth/discord/redirect`,
      discord_bind_redirect_uri: `${shop.config.publicUrl}/api/auth/discord/bind_redirect`,
      sendgrid_api_key: 'outbox'
    },
    shop.now()
  )
  await accounts(shop)
  const isNew = await shop.db.transaction(async tx => {
    const known = await tx.select({ id: servers.id }).from(servers).where(eq(servers.name, 'Local agent'))
    if (known.length > 0) {
      const place = {
        ip: '127.0.0.1',
        agentPort: settings.agentPort,
        proxyPort: settings.proxyPort,
        agentToken: shop.secrets.seal(kept.agentToken)
      }
      await tx.update(servers).set(place).where(eq(servers.name, 'Local agent'))
      return false
    }
    await fleet(tx, shop, settings)
    await rules(tx)
    return true
  })
  if (isNew) await catalogue(shop)
}

async function accounts(shop: Shop): Promise<void> {
  const admin = await createUser(shop, { ...DEMO_ADMIN, isSuperuser: true })
  const customer = await createUser(shop, DEMO_CUSTOMER)
  for (const made of [admin, customer]) {
    if (!made.ok && made.reason !== 'username_taken' && made.reason !== 'email_taken')
      throw new Error(made.msg ?? made.reason)
  }
}

/** One server that stands for every location: each is a group with it as the only member. */
async function fleet(tx: Transaction, shop: Shop, settings: NewcomerSettings): Promise<void> {
  const [server] = await tx
    .insert(servers)
    .values({
      name: 'Local agent',
      ip: '127.0.0.1',
      description: 'The node agent of this machine',
      agentPort: settings.agentPort,
      proxyPort: settings.proxyPort,
      agentToken: shop.secrets.seal(settings.kept.agentToken)
    })
    .returning({ id: servers.id })
  if (!server) throw new Error('The local server was not added')
  for (const location of demoLocations) {
    const [group] = await tx
      .insert(serverGroups)
      .values({ name: location, description: `Servers in ${location}` })
      .returning({ id: serverGroups.id })
    if (group) await tx.insert(serverGroupServers).values({ groupId: group.id, serverId: server.id })
  }
  const assigned = await assignCidrs(tx, server.id, [DEMO_RANGE])
  if (!assigned.ok) throw new Error(`The demo's ranges were refused: ${assigned.reason}`)
  await renewPrefixes(tx, shop.jobs, server.id)
}

async function rules(tx: Transaction): Promise<void> {
  const known = await tx.select({ id: aclRules.id }).from(aclRules).limit(1)
  if (known.length > 0) return
  for (const rule of demoRules) {
    const made = await createRule(tx, {
      name: rule.name,
      description: rule.about,
      price: rule.price,
      platformVariantId: rule.variantId,
      aclValue: rule.domains.join('\n')
    })
    if (!made.ok) throw new Error(`The demo rule ${rule.name} was refused: ${made.reason}`)
  }
}

/** Takes the catalogue from the platform and says of each variant where its addresses come from. */
async function catalogue(shop: Shop): Promise<void> {
  const platform = await openPlatform(shop)
  if (!platform.ok) throw new Error(platform.msg ?? platform.reason)
  const registered = await platform.data.registerWebhooks(shop.config.publicUrl)
  const [shelves, plans] = await Promise.all([platform.data.collections(), platform.data.products()])
  if (!registered.ok) throw new Error(registered.message)
  if (!shelves.ok) throw new Error(shelves.message)
  if (!plans.ok) throw new Error(plans.message)
  await shop.db.transaction(async tx => {
    const groupOf = new Map(
      (await tx.select({ id: serverGroups.id, name: serverGroups.name }).from(serverGroups)).map(group => [
        group.name,
        group.id
      ])
    )
    const collectionOf = new Map<string, number>()
    for (const shelf of shelves.value) {
      const [row] = await tx
        .insert(collections)
        .values({
          platformId: shelf.id,
          name: shelf.title,
          description: shelf.description,
          imageUrl: shelf.image?.url ?? null
        })
        .returning({ id: collections.id })
      if (row) collectionOf.set(shelf.id, row.id)
    }
    const tagOf = new Map<string, number>()
    for (const name of new Set(plans.value.flatMap(plan => plan.tags))) {
      if (name === demoRulesProduct.tag) continue
      const [row] = await tx.insert(tags).values({ name, platformName: name }).returning({ id: tags.id })
      if (row) tagOf.set(name, row.id)
    }
    const known = new Map(demoPlans.flatMap(plan => plan.variants.map(variant => [variant.id, variant])))
    for (const plan of plans.value) {
      if (plan.tags.includes(demoRulesProduct.tag)) continue
      const [product] = await tx
        .insert(products)
        .values({
          platformId: plan.id,
          name: plan.title,
          description: plan.description,
          platformUpdatedAt: new Date(plan.updatedAt)
        })
        .returning({ id: products.id })
      if (!product) continue
      const productId = product.id
      const inCollections = plan.collections.flatMap(({ id }) => collectionOf.get(id) ?? [])
      if (inCollections.length > 0)
        await tx.insert(productCollections).values(inCollections.map(collectionId => ({ productId, collectionId })))
      const withTags = plan.tags.flatMap(name => tagOf.get(name) ?? [])
      if (withTags.length > 0) await tx.insert(productTags).values(withTags.map(tagId => ({ productId, tagId })))
      await tx
        .insert(productOptions)
        .values(
          plan.options.map((option, at) => ({ productId, position: at + 1, name: option.name, values: option.values }))
        )
      await tx.insert(variants).values(
        plan.variants.map(variant => {
          const demo = known.get(variant.id)
          const [option1 = null, option2 = null, option3 = null] = variant.selectedOptions.map(option => option.value)
          return {
            productId,
            platformId: variant.id,
            name: variant.title,
            description: demo?.location ?? '',
            option1,
            option2,
            option3,
            price: variant.price,
            cartStep: demo?.cartStep ?? 1,
            proxyTime: demo?.proxyTime ?? 30,
            serverGroupId: demo ? (groupOf.get(demo.location) ?? null) : null
          }
        })
      )
    }
  })
}
