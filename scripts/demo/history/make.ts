import { request } from 'node:http'
import { DAY, MINUTE } from '../../../apps/server/src/infra/clock.ts'
import type { Config } from '../../../apps/server/src/infra/config.ts'
import { seed, seedNotice, seedWebhook } from '../seed.ts'
import type { DemoSettings } from '../settings.ts'
import { type Acts, createActs } from './acts.ts'
import { DAYS, tellStory } from './story.ts'
import { type World, openWorld } from './world.ts'

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

/** Orders whose proxies are used, and requests through each of them. */
const USED = 16
const REQUESTS = 3
const PATIENCE_MS = 1000

/**
 * Sends requests through proxies of the history, because the console shows only what the agent itself has counted.
 * Skipped if this machine cannot reach the demo's addresses.
 */
async function useProxies(world: World, acts: Acts): Promise<void> {
  const list = '/api/orders/order_list/'
  const { data } = await acts.admin().call<{ data: { id: number }[] }>('GET', `${list}?state=delivered&limit=${USED}`)
  for (const { id } of data) {
    const path = `${list}${id}/copy_proxies/`
    const { proxy_lines } = await acts.admin().call<{ proxy_lines: string[] }>('GET', path)
    for (let nth = 0; nth < REQUESTS; nth++) {
      const line = proxy_lines[nth % proxy_lines.length]
      if (line && !(await through(line, `${world.platformUrl}/echo`))) return
    }
  }
}

/** @param line `ip:port:user:password` */
function through(line: string, url: string): Promise<boolean> {
  const [host, port, user, password] = line.split(':')
  return new Promise(done => {
    const asked = request({
      host,
      port,
      path: url,
      headers: {
        host: new URL(url).host,
        'proxy-authorization': `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
      },
      agent: false,
      timeout: PATIENCE_MS
    })
    asked.on('response', response => {
      response.resume()
      response.on('end', () => done(response.statusCode === 200))
    })
    asked.on('timeout', () => asked.destroy(new Error('timeout')))
    asked.on('error', () => done(false))
    asked.end()
  })
}
