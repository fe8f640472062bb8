import { routes } from '@netlet/contract'
import { command } from '../../infra/command.ts'
import { SENT, type Mount } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { readDeadLetters } from '../../infra/dead-letters.ts'
import type { Job } from '../../infra/job.ts'
import { type HealthPorts, type SettingTests, readHealth, testSettings } from './health.ts'
import { readLogs, readLogTail } from './log-lines.ts'
import { readSettings } from './read.ts'
import { presentSettings, saveSettings, type SettingsPorts } from './save.ts'
import { discardDeadLetters, readTasks, retryDeadLetters, runNow } from './tasks.ts'
import { serveGeofeed } from './geofeed.ts'

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
  mount(settings.geofeed, async ({ request, reply }) => {
    await serveGeofeed(ctx, request, reply)
    return SENT
  })
}
