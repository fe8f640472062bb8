import { routes } from '@netlet/contract'
import { command } from '../../infra/command.ts'
import { type Mount, SENT } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { readDeadLetters } from '../../infra/dead-letters.ts'
import type { Job } from '../../infra/job.ts'
import { type HealthPorts, readHealth, type SettingTests, testSettings } from './health.ts'
import { readBrand, saveLogo, serveLogo } from './brand.ts'
import { readLogs, readLogTail } from './log-lines.ts'
import { readSettings } from './read.ts'
import { presentSettings, saveSettings, type SettingsPorts } from './save.ts'
import { discardDeadLetters, readTasks, retryDeadLetters, runNow } from './tasks.ts'
import { serveGeofeed } from './geofeed.ts'
import { lt } from '../../infra/db/drizzle.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { logLines } from './tables.ts'

/**
 * The settings that administrators save, and the latest log lines for the console. It owns settings, shop_logo and log_lines.
 * Other domains use `readSettings`; only `saveSettings` (a form) and `writeSettings` (the program) write.
 */
export { type MailBrand, readBrand, readMailBrand, readShopName } from './brand.ts'
export { storeLogLines } from './log-lines.ts'
export { checkGeofeed, readGeofeed, type GeofeedLine } from './geofeed.ts'
export { readSettings, readSome, savedAt, writeSettings } from './read.ts'
export { type HealthPorts } from './health.ts'
export { checkAppSecret, opensSecrets, sealedSettings, secretChange, settingsJobs } from './app-secret.ts'
export { endRecovery, isRecovering, markRestored, recordHeld, readRestored, type HeldRanges } from './restored.ts'
export { recordRehearsal, readRehearsal } from './rehearsals.ts'
export { type SettingTests } from './health.ts'

export function settingsRoutes(
  mount: Mount,
  ctx: AppContext,
  ports: SettingsPorts & { health?: HealthPorts; tests?: SettingTests; jobs?: readonly Job[] }
): void {
  const { db, secrets } = ctx
  const { settings } = routes

  mount(settings.config, async () => ok(presentSettings(await readSettings(db, secrets))))
  mount(settings.saveConfig, async call => saveSettings(ctx, call.caller, ports, call.body))
  const { health, tests, jobs } = ports
  if (jobs) {
    mount(settings.tasks, async () => ok(await readTasks(ctx, jobs)))
    mount(settings.runNow, async call => runNow(ctx, call.caller, jobs, call.body.queue))
    mount(settings.deadLetters, async ({ query }) => ok(await readDeadLetters(db, query)))
    mount(settings.retryDeadLetters, async call => retryDeadLetters(ctx, call.caller, call.body.ids))
    mount(settings.discardDeadLetters, async call => discardDeadLetters(ctx, call.caller, call.body.ids))
  }
  if (tests) mount(settings.test, async call => ok(await testSettings(ctx, call.caller, tests, call.body.test)))
  if (health) {
    mount(settings.health, async () => ok(await readHealth(ctx, health)))
    mount(settings.checkHealth, async ({ caller }) => {
      await command(ctx, caller, async unit => unit.audit('settings.check_health', 'platform'))
      await health.refresh()
      return ok(await readHealth(ctx, health))
    })
  }
  mount(settings.logTail, async ({ query }) => ok(await readLogTail(db, query)))
  mount(settings.logs, async () => ok(await readLogs(db)))
  mount(settings.social, async () => {
    const { support_discord: discord, support_twitter: twitter } = await readSettings(db, secrets)
    return ok({ discord, twitter })
  })
  mount(settings.brand, async () => ok(await readBrand(db)))
  mount(settings.saveLogo, call => saveLogo(ctx, call.caller, call.body.picture))
  mount(settings.logo, async ({ reply }) => {
    await serveLogo(ctx, reply)
    return SENT
  })
  mount(settings.geofeed, async ({ request, reply }) => {
    await serveGeofeed(ctx, request, reply)
    return SENT
  })
}

export const settingsRetention: RetentionEntry[] = [
  {
    what: 'log_lines',
    keep: { setting: 'keep_logs_days' },
    why: 'The latest warnings for the console, at most 500 lines per log. The processes print the full log.',
    remove: (unit, before, limit) => removeRows(unit, logLines, lt(logLines.at, before), limit),
    count: db => countRows(db, logLines, logLines.at)
  }
]
