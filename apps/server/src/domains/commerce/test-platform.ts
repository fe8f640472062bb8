import type { SettingTestResult } from '@netlet/contract'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import { ALL_ORDERS } from '../../integrations/shopify/index.ts'
import { readSettings, savedAt } from '../settings/index.ts'
import { SCOPES, checkPlatform } from './check-platform.ts'
import { readCheck } from './checks.ts'
import { allows } from './health.ts'
import { accessOf, readToken } from './token.ts'
import { readWebhookSecrets } from './webhook-secrets.ts'

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
  if (missing.some(scope => scope !== ALL_ORDERS))
    return { ok: false, outcome: 'platform_scopes', params: { name, scopes: missing.join(', ') }, detail: null }
  const settings = await readSettings(ctx.db, ctx.secrets)
  const { shop_currency: expected } = settings
  if (currency !== expected)
    return { ok: false, outcome: 'platform_currency', params: { name, currency, expected }, detail: null }
  if (password) return { ok: false, outcome: 'platform_password', params: { name }, detail: null }
  if (missing.length > 0) return { ok: true, outcome: 'platform_old_orders', params: { name, currency }, detail: null }
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
