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
 * Fills an empty database with the demo and eleven days that the shop has behind it, by the calls that browsers and the
 * platform make and the shop's own jobs, with a moved clock. The stand-in platform's and the agent's states that belong
 * to it are left in `stateDir`.
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
    // Last: nobody listened in the days that are made up.
    await seedWebhook(ctx, options.settings)
    await seedNotice(ctx)
    await world.end()
  } finally {
    await world.close()
  }
}
