import { refuse, type Refusal } from '@netlet/contract'
import { createShopify, type Shopify, type ShopifyFailure } from '../../integrations/shopify/index.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { readSettings } from '../settings/index.ts'
import { accessOf, openTokens } from './token.ts'

/** The e-commerce platform of the saved settings; 'platform_not_configured' if there is none. */
export async function openPlatform(ctx: AppContext): Promise<Result<Shopify>> {
  const settings = await readSettings(ctx.db, ctx.secrets)
  if (accessOf(settings) === null) return refuse('platform_not_configured')
  return ok(
    createShopify({
      shopUrl: settings.shopify_shop_url,
      accessToken: openTokens(ctx, settings),
      apiSecret: settings.shopify_api_secret,
      ...ctx.platformLimits
    })
  )
}

/** The platform's failure as our refusal, with its message for the operator. */
export function platformRefusal(failure: ShopifyFailure): Refusal {
  if (failure.reason === 'not_configured') return refuse('platform_not_configured')
  return refuse('platform_unavailable', { params: { message: failure.message }, data: { platform: failure.reason } })
}
