import { launch, newDataDir, removeDataDir, secrets } from '../../../../sandbox/src/testing/harness.ts'
import type { AppContext } from '../../infra/context.ts'
import { writeSettings } from '../settings/index.ts'

export type Platform = Awaited<ReturnType<typeof startPlatform>>

/** A stand-in of the platform, configured in the shop. */
export async function startPlatform(ctx: AppContext) {
  const dataDir = await newDataDir()
  const sandbox = await launch(dataDir, 'http://127.0.0.1:9')
  /** Configures the shop for this address, by default the stand-in's. */
  const connect = (url = sandbox.url) =>
    writeSettings(ctx, {
      shopify_shop_url: url,
      shopify_app_key: secrets.accessToken,
      shopify_api_secret: secrets.appSecret
    })
  await connect()
  return {
    connect,
    async close() {
      await sandbox.close()
      await removeDataDir(dataDir)
    }
  }
}
