import type { Health, SettingTestResult } from '@netlet/contract'
import { DAY, iso, isoOrNull } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, desc, eq, notLike } from '../../infra/db/drizzle.ts'
import { ALL_ORDERS, API_VERSION } from '../../integrations/shopify/index.ts'
import { readSettings, savedAt } from '../settings/index.ts'
import { OPTIONAL, SCOPES, allows, checkPlatform, readCheck } from './check-platform.ts'
import { RECONCILED } from './events.ts'
import { missedWebhooks, readRefused } from './refused-webhooks.ts'
import { platformEvents } from './tables.ts'
import { accessOf, readToken } from './token.ts'
import { waitingEvents } from './waiting-events.ts'
import { readWebhookSecrets } from './webhook-secrets.ts'

type Platform = NonNullable<Health['platform']>

/**
 * The platform's health according to the latest checks; it does not call the platform.
 * @param priceDrifts how many prices differ, from the catalogue
 * @param unsellable what the platform does not sell or will soon not sell, from the catalogue
 * @param unresolvedEvents the number of events that wait for an administrator, from the domain inbox
 */
export async function platformHealth(
  ctx: Pick<AppContext, 'db' | 'secrets' | 'config' | 'now'>,
  {
    priceDrifts,
    unsellable,
    unresolvedEvents
  }: Record<'priceDrifts' | 'unresolvedEvents', (db: Executor) => Promise<number>> & {
    unsellable: (db: Executor) => Promise<Pick<Platform, 'unpublished' | 'subscription_only' | 'counted' | 'shipped'>>
  }
): Promise<Platform> {
  const { db } = ctx
  const now = ctx.now()
  const settings = await readSettings(db, ctx.secrets)
  const [shop, webhooks, reconciliation, products, prices, signed, authorized] = await Promise.all([
    readCheck(db, 'shop'),
    readCheck(db, 'webhooks'),
    readCheck(db, 'reconciliation'),
    readCheck(db, 'products'),
    readCheck(db, 'prices'),
    readCheck(db, 'signed'),
    readCheck(db, 'authorized')
  ])
  const seenShop = shop && 'name' in shop.result ? shop.result : null
  const seenHooks = webhooks && 'wanted' in webhooks.result ? webhooks.result : null
  const wanted = seenHooks?.wanted ?? []
  return {
    configured: accessOf(settings) !== null,
    shop: {
      ...lookedAt(shop),
      name: seenShop?.name ?? null,
      currency: seenShop?.currency ?? null,
      expected_currency: settings.shop_currency,
      password: seenShop?.password ?? false,
      paused: seenShop?.paused ?? false,
      missing_scopes: seenShop ? SCOPES.filter(scope => !allows(seenShop.scopes, scope)) : []
    },
    webhooks: {
      ...lookedAt(webhooks),
      address: ctx.config.publicUrl,
      wanted: wanted.map(topicOf),
      present: (seenHooks?.present ?? []).map(topicOf),
      foreign: seenHooks?.foreign ?? [],
      blocked: seenHooks?.blocked ?? false,
      missed: await missedWebhooks(db, now),
      ...(await readRefused(db, now)),
      ...(await readWebhookSecrets(ctx, settings)),
      last_events: await lastEvents(db, wanted.map(topicOf))
    },
    versions: {
      wanted: API_VERSION,
      replies: shop?.result.version ?? null,
      webhooks: signed?.result.version ?? null
    },
    events: { ...(await eventsOf(db)), unresolved: await unresolvedEvents(db) },
    reconciliation: {
      ...lookedAt(reconciliation),
      found: reconciliation && 'found' in reconciliation.result ? reconciliation.result.found : 0,
      authorized: authorized && now.getTime() - authorized.at.getTime() < DAY ? authorized.result.order : null
    },
    products: lookedAt(products),
    prices: { ...lookedAt(prices), differ: await priceDrifts(db) },
    ...(await unsellable(db))
  }
}

/** Has the platform's shop no checkout, as far as the last check knows? */
export async function isPaused(db: Executor): Promise<boolean> {
  return (await readCheck(db, 'shop'))?.result.paused === true
}

/** 1 if the platform's Online Store asks visitors for a password, or its shop is paused. */
export async function countClosedCheckouts(db: Executor): Promise<number> {
  const shop = (await readCheck(db, 'shop'))?.result
  return shop?.password || shop?.paused ? 1 : 0
}

function lookedAt(check: { at: Date; result: object } | undefined): { at: string | null; error: string | null } {
  const error = check && 'error' in check.result ? String(check.result.error) : null
  return { at: isoOrNull(check?.at ?? null), error }
}

/** GraphQL's ORDERS_PAID is `orders/paid` on a webhook. */
function topicOf(constant: string): string {
  const at = constant.lastIndexOf('_')
  return `${constant.slice(0, at)}/${constant.slice(at + 1)}`.toLowerCase()
}

async function lastEvents(db: Executor, topics: readonly string[]): Promise<{ topic: string; at: string | null }[]> {
  return Promise.all(
    topics.map(async topic => {
      const [last] = await db
        .select({ at: platformEvents.receivedAt })
        .from(platformEvents)
        .where(and(eq(platformEvents.topic, topic), notLike(platformEvents.eventId, `${RECONCILED}%`)))
        .orderBy(desc(platformEvents.receivedAt))
        .limit(1)
      return { topic, at: last ? iso(last.at) : null }
    })
  )
}

async function eventsOf(db: Executor): Promise<Omit<Platform['events'], 'unresolved'>> {
  const { count, oldest, reason } = await waitingEvents(db)
  return { waiting: count, oldest_waiting: isoOrNull(oldest), waits_for: reason }
}

const notConfigured: SettingTestResult = { ok: false, outcome: 'not_configured', params: {}, detail: null }

/**
 * Tests the connection: the token works, has the needed scopes, and the currency matches. Tells how the shop gets
 * access.
 */
export async function testPlatform(ctx: AppContext): Promise<SettingTestResult> {
  const shop = await checkPlatform(ctx)
  if (!shop) return notConfigured
  if (!shop.ok) return { ok: false, outcome: 'failed', params: {}, detail: shop.message }
  const { name, currency, scopes, password } = shop.value
  const missing = SCOPES.filter(scope => !allows(scopes, scope))
  if (missing.some(scope => !OPTIONAL.includes(scope)))
    return { ok: false, outcome: 'platform_scopes', params: { name, scopes: missing.join(', ') }, detail: null }
  const settings = await readSettings(ctx.db, ctx.secrets)
  const { shop_currency: expected } = settings
  if (currency !== expected)
    return { ok: false, outcome: 'platform_currency', params: { name, currency, expected }, detail: null }
  if (password) return { ok: false, outcome: 'platform_password', params: { name }, detail: null }
  if (missing.includes(ALL_ORDERS))
    return { ok: true, outcome: 'platform_old_orders', params: { name, currency }, detail: null }
  if (accessOf(settings) === 'token')
    return { ok: true, outcome: 'platform_answers', params: { name, currency }, detail: null }
  const until = isoOrNull((await readToken(ctx.db, settings))?.endsAt ?? null) ?? '–'
  return { ok: true, outcome: 'platform_granted', params: { name, currency, until }, detail: null }
}

/**
 * Tests whether the platform signs with the saved secret. Only a webhook can show that, because no call of the platform
 * uses the secret. A valid signature counts more than an invalid one.
 */
export async function testWebhookSecret(ctx: AppContext): Promise<SettingTestResult> {
  const { db } = ctx
  const settings = await readSettings(db, ctx.secrets)
  if (settings.shopify_api_secret === '') return notConfigured
  const { signed, former_until } = await readWebhookSecrets(ctx, settings)
  const refused = await readCheck(db, 'refused_signature')
  const since = (await savedAt(db, 'shopify_api_secret')) ?? new Date(0)
  if (signed?.by === 'present') {
    const params = { at: signed.at, topic: signed.topic }
    // Anyone can send a wrong signature, so it does not disprove the valid one.
    if (refused && refused.at > new Date(signed.at))
      return { ok: true, outcome: 'webhook_doubted', params: { ...params, refused: iso(refused.at) }, detail: null }
    return { ok: true, outcome: 'webhook_signed', params, detail: null }
  }
  if (refused && refused.at > since && (!signed || refused.at > new Date(signed.at)))
    return { ok: false, outcome: 'webhook_refused', params: { at: iso(refused.at) }, detail: null }
  if (signed?.by === 'former' && former_until)
    return { ok: false, outcome: 'webhook_former', params: { at: signed.at, until: former_until }, detail: null }
  return { ok: false, outcome: 'webhook_unproved', params: {}, detail: null }
}
