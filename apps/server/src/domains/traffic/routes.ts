import { routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import { readServerTraffic } from './read.ts'

export function trafficRoutes(mount: Mount, ctx: AppContext): void {
  mount(routes.fleet.traffic, async ({ params, query }) =>
    ok(await readServerTraffic(ctx.db, params.id, { ...query, now: ctx.now() }))
  )
}
