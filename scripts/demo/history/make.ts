import { MINUTE, DAY } from '../../../apps/server/src/infra/clock.ts'
import type { Config } from '../../../apps/server/src/infra/config.ts'
import { seed } from '../seed.ts'
import { seedNotice } from '../notice.ts'
import type { DemoSettings } from '../settings.ts'
import { seedWebhook } from '../webhook.ts'
import { createActs } from './acts.ts'
import { DAYS, tellStory } from './story.ts'
import { useProxies } from './traffic.ts'
import { openWorld } from './world.ts'

/**
 * Fills an empty database with the demo and eleven days of history, through the calls of browsers and the platform and
 * the shop's own jobs, with a moved clock. The matching states of the stand-in platform and agent are left in
 * `stateDir`.
 */
export async function makeHistory(options: {
  config: Config
  settings: DemoSettings
  stateDir: string
  end?: Date
}): Promise<void> {
  const end = options.end ?? new Date(Date.now() - MINUTE)
  const start = new Date(end.getTime() - DAYS * DAY)
  const world = await openWorld({ ...options, start })
  try {
    const { ctx, timeline } = world
    await seed(ctx, { settings: options.settings, platformUrl: world.platformUrl })
    const acts = await createActs(world)
    tellStory(world, acts, end)
    await timeline.play(ctx, end)
    await useProxies(world, acts)
    // Last, because no receiver listened during the simulated days.
    await seedWebhook(ctx, options.settings)
    await seedNotice(ctx)
    await world.end()
  } finally {
    await world.close()
  }
}
