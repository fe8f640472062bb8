import {
  CUSTOMER_EVENTS,
  NoticeChannelForm,
  ProductForm,
  type Reason,
  type Refusal,
  ServerForm
} from '@netlet/contract'
import { and, asc, eq } from 'drizzle-orm'
import { OPERATORS_WEBHOOK } from '../../apps/sandbox/src/discord/incoming-webhooks.ts'
import { demoChannel } from '../../apps/sandbox/src/discord/rooms.ts'
import { MAILGUN_KEY } from '../../apps/sandbox/src/outbox/reports.ts'
import {
  demoDiscountCodes,
  demoLocations,
  demoPlans,
  demoRules,
  demoRulesProduct
} from '../../apps/sandbox/src/shopify/catalogue.ts'
import { createUser } from '../../apps/server/src/domains/accounts/index.ts'
import { users } from '../../apps/server/src/domains/accounts/tables.ts'
import {
  createProduct,
  deleteTag,
  listPlatformProducts,
  syncCollections,
  syncTags,
  updateCollection,
  updateTag
} from '../../apps/server/src/domains/catalog/index.ts'
import { collections, products, tags } from '../../apps/server/src/domains/catalog/tables.ts'
import { openPlatform } from '../../apps/server/src/domains/commerce/index.ts'
import { addAclRule } from '../../apps/server/src/domains/inventory/index.ts'
import { createChannel, testChannel } from '../../apps/server/src/domains/notices/channels.ts'
import { noticeChannels, noticeSends } from '../../apps/server/src/domains/notices/tables.ts'
import { createGiftCard } from '../../apps/server/src/domains/rewards/index.ts'
import { levelCodeList, updateLevelCode } from '../../apps/server/src/domains/rewards/level-codes.ts'
import { levelCodes } from '../../apps/server/src/domains/rewards/tables.ts'
import { createGroup, createServer } from '../../apps/server/src/domains/servers/index.ts'
import { serverGroups, servers } from '../../apps/server/src/domains/servers/tables.ts'
import { writeSettings } from '../../apps/server/src/domains/settings/index.ts'
import { createFaq } from '../../apps/server/src/domains/support/index.ts'
import { faqs } from '../../apps/server/src/domains/support/tables.ts'
import { createEndpoint, testEndpoint } from '../../apps/server/src/domains/webhooks/index.ts'
import { webhookEndpoints } from '../../apps/server/src/domains/webhooks/tables.ts'
import { SYSTEM, type UserActor } from '../../apps/server/src/infra/actor.ts'
import type { AppContext } from '../../apps/server/src/infra/context.ts'
import { noticePorts, ownsAddresses } from '../../apps/server/src/notice-ports.ts'
import {
  DEMO_ADMIN,
  DEMO_CUSTOMER,
  collectionInChinese,
  demoFaqs,
  demoGiftCards,
  planInChinese,
  ruleInChinese,
  tagInChinese
} from './demo-texts.ts'
import type { DemoSettings } from './settings.ts'

/** The local agent's range. Loopback needs no routes or rights. */
const DEMO_RANGE = '127.10.0.0/16'

/**
 * Fills a new database with the demo through an administrator's commands: accounts, the local server, access rules, and
 * the stand-in platform's catalogue. It runs at every start, keeps existing data, and only updates addresses that may
 * have changed.
 */
export async function seed(
  ctx: AppContext,
  { settings, platformUrl }: { settings: DemoSettings; platformUrl: string }
): Promise<void> {
  const { secrets } = settings
  await writeSettings(ctx, {
    shopify_shop_url: platformUrl,
    shopify_app_key: secrets.platformToken,
    // The stand-in's checkout charges nothing.
    accept_test_payments: true,
    shopify_api_secret: secrets.platformSecret,
    discord_client_id: 'netlet-demo',
    discord_client_secret: secrets.discordSecret,
    discord_bot_token: secrets.botToken,
    discord_redirect_uri: `${ctx.config.publicUrl}/api/auth/discord/redirect`,
    discord_bind_redirect_uri: `${ctx.config.publicUrl}/api/auth/discord/bind_redirect`,
    // The stand-in's chat room.
    support_discord: `${platformUrl}/chat`,
    sendgrid_api_key: 'outbox',
    sendgrid_webhook_key: await reportKey(platformUrl),
    mailgun_webhook_key: MAILGUN_KEY
  })
  const platform = must(await openPlatform(ctx))
  // The stand-in belongs to this demo, so webhooks with other addresses are its earlier ones.
  const registered = await platform.registerWebhooks(
    { callbackBase: ctx.config.publicUrl, earlier: [] },
    { takeOver: true }
  )
  if (!registered.ok) throw new Error(registered.message)
  const admin = await accounts(ctx)
  await renewAddresses(ctx, settings)
  await channels(ctx, admin, platformUrl)
  const [product] = await ctx.db.select({ id: products.id }).from(products).limit(1)
  if (product) return
  // Only once, because an administrator may change them.
  await writeSettings(ctx, {
    discord_bot_channels: demoChannel,
    discord_bot_points_per_message: 2,
    discord_bot_max_points_per_day: 20,
    // A newcomer looks around first.
    operators_need_second_factor: false
  })
  // Each step skips what an interrupted start has already done.
  await levels(ctx, admin)
  await texts(ctx, admin)
  await rules(ctx, admin)
  await fleet(ctx, admin, settings)
  await changeOnPlatform(platformUrl, BEFORE)
  await catalogue(ctx, admin)
  await changeOnPlatform(platformUrl, SINCE)
}

/** The key with which the stand-in's mail service signs its reports, stored in its folder. */
async function reportKey(platformUrl: string): Promise<string> {
  const answer = await fetch(`${platformUrl}/sandbox/mail/webhook_key`)
  return ((await answer.json()) as { public_key: string }).public_key
}

async function renewAddresses(ctx: AppContext, { agentPort, proxyPort, secrets }: DemoSettings): Promise<void> {
  await ctx.db
    .update(servers)
    .set({ agentPort, proxyPort, agentToken: ctx.secrets.seal(secrets.agentToken) })
    .where(eq(servers.name, LOCAL_SERVER))
}

const LOCAL_SERVER = 'Local agent'

async function accounts(ctx: AppContext): Promise<UserActor> {
  for (const account of [{ ...DEMO_ADMIN, isSuperuser: true }, DEMO_CUSTOMER]) {
    const made = await createUser(ctx, SYSTEM, account)
    if (!made.ok && made.reason !== 'username_taken' && made.reason !== 'email_taken')
      throw new Error(made.msg ?? made.reason)
  }
  const [admin] = await ctx.db.select({ id: users.id }).from(users).where(eq(users.username, DEMO_ADMIN.username))
  if (!admin)
    throw new Error('The demo administrator was renamed; name it admin again, or set DATA_DIR to a new folder.')
  return {
    kind: 'user',
    id: admin.id,
    username: DEMO_ADMIN.username,
    isSuperuser: true,
    role: 'owner',
    ip: '127.0.0.1',
    sessionHash: null,
    impersonator: null,
    scopes: null
  }
}

const CHAT = 'Operators’ room'

/** Sends notices to the demo's administrator by mail and to the stand-in's operators' room at its current address. */
async function channels(ctx: AppContext, admin: UserActor, platformUrl: string): Promise<void> {
  const form = { name: CHAT, kind: 'chat', target: `${platformUrl}${OPERATORS_WEBHOOK}` } as const
  const [chat] = await ctx.db
    .select({ id: noticeChannels.id })
    .from(noticeChannels)
    .where(eq(noticeChannels.name, CHAT))
  if (chat) {
    const target = { target: ctx.secrets.seal(form.target), host: new URL(form.target).host }
    await ctx.db.update(noticeChannels).set(target).where(eq(noticeChannels.id, chat.id))
    return
  }
  // The default channel of a new shop, which mails all owners and operations.
  await ctx.db
    .update(noticeChannels)
    .set({ userIds: [admin.id] })
    .where(eq(noticeChannels.kind, 'mail'))
  // While the history is made, the stand-ins have other addresses.
  const reaching = { ...ctx, config: { ...ctx.config, webhookOrigins: [platformUrl] } }
  must(await createChannel(reaching, admin, noticePorts, NoticeChannelForm.parse(form)))
}

/** The stand-in platform's discount codes, one per level. The shop then checks them there. */
async function levels(ctx: AppContext, admin: UserActor): Promise<void> {
  const ofLevels = demoDiscountCodes.filter(code => code.code !== 'WELCOME10')
  const rows = await ctx.db.select({ id: levelCodes.id }).from(levelCodes).orderBy(asc(levelCodes.level))
  const ids = rows.map(row => row.id)
  for (const level of await levelCodeList({ withCodes: true }).load(ctx.db, ids)) {
    const known = ofLevels[level.level - 1]
    if (!known || level.code === known.code) continue
    const { point, version } = level
    const form = { point, version, code: known.code, discount: known.value, discount_type: 'percent' } as const
    must(await updateLevelCode(ctx, admin, level.id, form))
  }
}

async function texts(ctx: AppContext, admin: UserActor): Promise<void> {
  for (const card of demoGiftCards) must(await createGiftCard(ctx, admin, card), 'code_taken')
  const [faq] = await ctx.db.select({ id: faqs.id }).from(faqs).limit(1)
  if (faq) return
  for (const one of demoFaqs) must(await createFaq(ctx, admin, one))
}

async function rules(ctx: AppContext, admin: UserActor): Promise<void> {
  for (const rule of demoRules) {
    const form = {
      name: rule.name,
      description: rule.about,
      price: rule.price,
      translations: ruleInChinese(rule.name),
      shopify_variant_id: rule.variantId,
      acl_value: rule.domains.join('\n')
    }
    must(await addAclRule(ctx, admin, form, { onRulesChanged: () => undefined }), 'variant_sold')
  }
}

/** One server for all locations: each is a group with this server as its only member. */
async function fleet(ctx: AppContext, admin: UserActor, settings: DemoSettings): Promise<void> {
  const [known] = await ctx.db.select({ id: servers.id }).from(servers).where(eq(servers.name, LOCAL_SERVER))
  const form = ServerForm.parse({
    name: LOCAL_SERVER,
    ip: '127.0.0.1',
    cidr: DEMO_RANGE,
    description: 'The node agent of this machine',
    agent_port: settings.agentPort,
    agent_token: settings.secrets.agentToken,
    proxy_port: settings.proxyPort
  })
  const server = known ?? must(await createServer(ctx, admin, form))
  for (const location of demoLocations) {
    const group = { name: location, description: `Servers in ${location}`, servers: [server.id] }
    must(await createGroup(ctx, admin, group), 'name_taken')
  }
}

type Change = { product: string; change: { title?: string; tags?: string[] } }

const demoPlan = (id: string) => {
  const found = demoPlans.find(plan => plan.id === id)
  if (!found) throw new Error(`The demo has no plan ${id}`)
  return found
}
const [arcade, saturday] = [demoPlan('720000000006'), demoPlan('720000000009')]
/** Changes on the platform without a webhook, so that Sync has something to show. */
const BEFORE: Change[] = [{ product: saturday.id, change: { tags: [...saturday.tags, 'Clearance'] } }]
const SINCE: Change[] = [
  { product: saturday.id, change: { tags: [...saturday.tags, 'Weekend'] } },
  { product: arcade.id, change: { title: 'Arcade Gaming Datacenter' } }
]

async function changeOnPlatform(platformUrl: string, changes: readonly Change[]): Promise<void> {
  for (const { product, change } of changes) {
    const reply = await fetch(`${platformUrl}/sandbox/products/${product}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...change, silent: true })
    })
    if (!reply.ok) throw new Error(`The stand-in did not change product ${product}: ${reply.status}`)
  }
}

/** Adds the platform's catalogue and sets each variant's server group. */
async function catalogue(ctx: AppContext, admin: UserActor): Promise<void> {
  const rows = await ctx.db.select({ id: serverGroups.id, name: serverGroups.name }).from(serverGroups)
  const groups = new Map(rows.map(group => [group.name, group.id]))
  must(await syncCollections(ctx, admin))
  must(await syncTags(ctx, admin))
  await hideRulesTag(ctx, admin)
  await groupingsInChinese(ctx, admin)
  const known = new Map(demoPlans.flatMap(plan => plan.variants.map(variant => [variant.id, variant])))
  const offered = must(await listPlatformProducts(ctx, undefined))
  for (const plan of offered.filter(product =>
    product.variants.some(variant => known.has(variant.shopify_variant_id))
  )) {
    const form = ProductForm.parse({
      ...plan,
      translations: planInChinese(plan.shopify_product_id),
      product_collections: plan.product_collections.map(collection => collection.id),
      product_tags: plan.product_tags.map(tag => tag.id),
      variants: plan.variants.map(variant => {
        const demo = known.get(variant.shopify_variant_id)
        return {
          ...variant,
          variant_desc: demo?.location,
          cart_step: demo?.cartStep ?? 1,
          proxy_time: demo?.proxyTime ?? 30,
          server_group: demo && groups.get(demo.location)
        }
      })
    })
    must(await createProduct(ctx, admin, form))
  }
}

/** The platform tags the access rules. Shoppers choose plans, so hide this tag. */
async function hideRulesTag(ctx: AppContext, admin: UserActor): Promise<void> {
  const [tag] = await ctx.db.select({ id: tags.id }).from(tags).where(eq(tags.name, demoRulesProduct.tag))
  if (tag) must(await deleteTag(ctx, admin, tag.id), 'not_found')
}

/** Chinese names of collections and tags. */
async function groupingsInChinese(ctx: AppContext, admin: UserActor): Promise<void> {
  for (const { id, platformId, name, description } of await ctx.db.select().from(collections)) {
    const translations = collectionInChinese(platformId)
    const form = { collection_name: name, collection_desc: description, translations }
    if (translations) must(await updateCollection(ctx, admin, id, form))
  }
  for (const { id, name, description } of await ctx.db.select().from(tags)) {
    const translations = tagInChinese(name)
    if (translations) must(await updateTag(ctx, admin, id, { tag_name: name, tag_desc: description, translations }))
  }
}

/** The demo's commands are valid, so any refusal except `unless` is a bug. */
function must<T>(result: { ok: true; data: T } | Refusal): T
function must<T>(result: { ok: true; data: T } | Refusal, unless: Reason): T | undefined
function must<T>(result: { ok: true; data: T } | Refusal, unless?: Reason): T | undefined {
  if (result.ok) return result.data
  if (result.reason === unless) return undefined
  throw new Error(`The demo was refused: ${result.msg ?? result.reason}`)
}

/** Sends the stand-in's operators' room one notice, so that a newcomer finds a message there. */
export async function seedNotice(ctx: AppContext): Promise<void> {
  const [chat] = await ctx.db
    .select({ id: noticeChannels.id })
    .from(noticeChannels)
    .where(eq(noticeChannels.kind, 'chat'))
    .limit(1)
  if (!chat) return
  if ((await ctx.db.$count(noticeSends, eq(noticeSends.channelId, chat.id))) > 0) return
  const tested = await testChannel(ctx, SYSTEM, chat.id)
  if (!tested.ok) throw new Error(tested.msg ?? tested.reason)
}

const NAME = 'Stand-in on this machine'

/**
 * Creates an endpoint of the demo customer at the stand-in's page, and sends a test event, so that page and log have
 * content. A changed or deleted endpoint stays as it is; only its port is updated.
 */
export async function seedWebhook(ctx: AppContext, { platformPort, secrets }: DemoSettings): Promise<void> {
  const url = `http://127.0.0.1:${platformPort}/hooks/in/demo1`
  const [customer] = await ctx.db.select().from(users).where(eq(users.username, DEMO_CUSTOMER.username))
  if (!customer) return
  const [known] = await ctx.db
    .update(webhookEndpoints)
    .set({ url })
    .where(and(eq(webhookEndpoints.userId, customer.id), eq(webhookEndpoints.description, NAME)))
    .returning({ id: webhookEndpoints.id })
  if (known) return
  const by = {
    kind: 'user',
    id: customer.id,
    username: customer.username,
    isSuperuser: false,
    role: null,
    ip: '127.0.0.1',
    sessionHash: null,
    impersonator: null,
    scopes: null
  } as const
  const form = { url, description: NAME, events: [...CUSTOMER_EVENTS], enabled: true }
  const made = await createEndpoint(
    ctx,
    { ownsAddresses },
    { by, owner: customer.id, secret: secrets.hookSecret },
    form
  )
  if (!made.ok) throw new Error(made.msg ?? made.reason)
  const tested = await testEndpoint(ctx, by, { id: made.data.id, owner: customer.id })
  if (!tested.ok) throw new Error(tested.msg ?? tested.reason)
}
