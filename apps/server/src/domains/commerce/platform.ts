import { refuse, type Refusal } from '@netlet/contract'
import { createShopify, shopBase, type Shopify, type ShopifyFailure } from '../../integrations/shopify/index.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { readSettings } from '../settings/index.ts'

/** The e-commerce platform as the saved settings name it; 'platform_not_configured' where they do not. */
export async function openPlatform(ctx: Pick<AppContext, 'db' | 'secrets'>): Promise<Result<Shopify>> {
  const settings = await readSettings(ctx.db, ctx.secrets)
  if (!shopBase(settings.shopify_shop_url) || settings.shopify_app_key === '') return refuse('platform_not_configured')
  return ok(
    createShopify({
      shopUrl: settings.shopify_shop_url,
      accessToken: settings.shopify_app_key,
      apiSecret: settings.shopify_api_secret
    })
  )
}

/** The platform's failure as a refusal of ours, with its words for the operator. */
export function platformRefusal(failure: ShopifyFailure): Refusal {
  if (failure.reason === 'not_configured') return refuse('platform_not_configured')
  return refuse('platform_unavailable', { params: { message: failure.message }, data: { platform: failure.reason } })
}
