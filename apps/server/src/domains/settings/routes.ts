import { routes } from '@netlet/contract'
import type { Transaction } from '../../infra/db/client.ts'
import { SENT, type Mount } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { readLogs } from './log-lines.ts'
import { readSettings } from './read.ts'
import { maskSecrets, saveSettings } from './save.ts'

/**
 * Puts the calls about web settings on the server.
 * @param platformChanged is called in the transaction that changes the connection to the e-commerce platform
 */
export function settingsRoutes(
  mount: Mount,
  ctx: AppContext,
  platformChanged: (tx: Transaction) => Promise<unknown>
): void {
  const { db, secrets } = ctx
  const { settings } = routes

  mount(settings.config, async () => ok(maskSecrets(await readSettings(db, secrets))))
  mount(settings.saveConfig, async call => saveSettings(ctx, call.caller, call.body, platformChanged))
  mount(settings.logs, async () => ok(await readLogs(db)))
  mount(settings.social, async () => {
    const { support_discord: discord, support_twitter: twitter } = await readSettings(db, secrets)
    return ok({ discord, twitter })
  })
  mount(settings.geofeed, async ({ reply }) => {
    const { geofeed } = await readSettings(db, secrets)
    const text = geofeed.trim()
    reply.type('text/csv; charset=utf-8').send(text === '' ? '' : `${text}\n`)
    return SENT
  })
}
