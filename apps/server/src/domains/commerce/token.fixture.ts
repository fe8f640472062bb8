import { sql } from '../../infra/db/drizzle.ts'
import { control, launch, newDataDir, removeDataDir, secrets } from '../../../../sandbox/src/testing/harness.ts'
import type { Sandbox } from '../../../../sandbox/src/sandbox.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { refusedTokens } from '../notices/tables.ts'
import { writeSettings } from '../settings/index.ts'
import { openPlatform } from './platform.ts'
import { platformTokens } from './tables.ts'

/** A shop whose platform issues tokens for key and secret, with the shop's time. */
export let shop: TestShop
export let sandbox: Sandbox
let dataDir: string

export async function startTokenShop(): Promise<void> {
  dataDir = await newDataDir()
  sandbox = await launch(dataDir, 'http://127.0.0.1:9', { now: () => shop?.ctx.now().getTime() ?? Date.now() })
  shop = await startTestShop({ routes: () => {} })
}

/** No request was made, and the platform issues tokens. */
export async function resetTokens(): Promise<void> {
  await asked({ lifetime: 86_399, installed: true, end: true, fault: { kind: 'none' } })
  const { db } = shop.ctx
  await db.delete(platformTokens)
  await db.delete(refusedTokens)
  await db.execute(sql`delete from pgboss.job where name = 'raise-notice'`)
  await writeSettings(shop.ctx, {
    shopify_shop_url: sandbox.url,
    shopify_api_key: secrets.apiKey,
    shopify_api_secret: secrets.appSecret,
    shopify_app_key: ''
  })
}

export async function stopTokenShop(): Promise<void> {
  await shop?.close()
  await sandbox?.close()
  await removeDataDir(dataDir)
}

/** Changes how the platform issues tokens. @returns how many it has issued */
export const asked = async (body: object = {}): Promise<number> =>
  (await control<{ given: number }>(sandbox, 'POST', '/access_tokens', body)).given

export async function call(ctx = shop.ctx) {
  const platform = await openPlatform(ctx)
  if (!platform.ok) throw new Error(platform.reason)
  return platform.data.shop()
}

export async function fails(ctx = shop.ctx): Promise<string> {
  const reply = await call(ctx)
  return reply.ok ? 'ok' : reply.reason
}
