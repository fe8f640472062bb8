// Migrates and fills the demo's database, or updates the addresses in it. A separate process, so that its modules do
// not stay in the supervisor's memory.
import { readConfig } from '../../apps/server/src/infra/config.ts'
import { openApp } from '../../apps/server/src/open-app.ts'
import { seed, seedNotice, seedWebhook } from './seed.ts'
import { isStartError, readSettings } from './settings.ts'

async function prepare(): Promise<void> {
  const settings = readSettings(process.env)
  const { ctx, close } = await openApp(readConfig(process.env), { worker: false })
  try {
    await seed(ctx, { settings, platformUrl: `http://127.0.0.1:${settings.platformPort}` })
    await seedWebhook(ctx, settings)
    await seedNotice(ctx)
  } finally {
    await close()
  }
}

prepare().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(isStartError(error) ? error.message : error)
    process.exit(1)
  }
)
