import { routes, SUCCESS } from '@netlet/contract'
import type { FastifyInstance } from 'fastify'
import type { AppContext } from '../../infra/context.ts'
import { SENT, type Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import { ok } from '../../infra/result.ts'
import { openReplyCache } from '../catalog/index.ts'
import {
  addUpdate,
  correctUpdate,
  createIncident,
  createIncidentOfOutage,
  deleteIncident,
  linkIncident,
  updateIncident
} from './incidents.ts'
import { readStatusPage } from './page.ts'
import { type ReadDeliveryTimes, readFigures } from './shop-figures.ts'
import { incidentList, readIncident, readPublicIncident } from './present.ts'
import type { ReadProxyChecks } from './states.ts'
import { confirmSubscriber, countSubscribers, subscribe, unsubscribeStatus } from './subscribers.ts'

/** Milliseconds for which callers share the page's reply, which changes every minute. */
const SHARED_FOR = 10_000

/** The same for the figures, whose queries read the whole inventory. */
const FIGURES_FOR = 30_000

export function figureRoutes(mount: Mount, ctx: AppContext, deliveryTimes: ReadDeliveryTimes): void {
  const replies = openReplyCache({ ttl: FIGURES_FOR, maxEntries: 1, maxBytes: 4 * 1024 * 1024, now: ctx.now })
  mount(routes.status.figures, async ({ reply }) => {
    const bytes = await replies.get('figures', async () => ({
      code: SUCCESS,
      data: await readFigures(ctx.db, deliveryTimes, ctx.now()),
      msg: 'success'
    }))
    reply.type('application/json; charset=utf-8').send(bytes)
    return SENT
  })
}

type Ports = { app: Pick<FastifyInstance, 'addHook'>; proxyChecks: ReadProxyChecks }

/** Mounts the status page's calls. The cached reply follows the change feed until `app` closes. */
export function statusRoutes(mount: Mount, ctx: AppContext, { app, proxyChecks }: Ports): void {
  const { status } = routes
  // When a location fails, many visitors look at once: one read serves all.
  const replies = openReplyCache({ ttl: SHARED_FOR, maxEntries: 1, maxBytes: 32 * 1024 * 1024, now: ctx.now })
  const unsubscribe = ctx.changes.subscribe(event => {
    if (!event || event.changes.some(({ resource }) => resource === 'incident')) replies.clear()
  })
  app.addHook('onClose', async () => unsubscribe())
  mount(status.page, async ({ reply }) => {
    const bytes = await replies.get('page', async () => ({
      code: SUCCESS,
      data: await readStatusPage(ctx.db, proxyChecks, ctx.now()),
      msg: 'success'
    }))
    reply.type('application/json; charset=utf-8').send(bytes)
    return SENT
  })
  mount(status.publicIncident, call => readPublicIncident(ctx.db, call.params.id, ctx.now()))
  mount(status.subscribe, call => subscribe(ctx, call.caller, call.body))
  mount(status.confirm, call => confirmSubscriber(ctx, call.caller, call.body.token))

  mountList(mount, ctx, status.incidents, () => incidentList(ctx.now))
  mount(status.incident, call => readIncident(ctx.db, call.params.id, ctx.now()))
  mount(status.subscribers, async () => ok({ confirmed: await countSubscribers(ctx.db) }))
  // Cleared at once too, so that the author sees the change in the next call, before the feed reports it.
  const written = <T>(result: T): T => {
    replies.clear()
    return result
  }
  mount(status.createIncident, async call => written(await createIncident(ctx, call.caller, call.body)))
  mount(status.updateIncident, async call => written(await updateIncident(ctx, call.caller, call.params.id, call.body)))
  mount(status.deleteIncident, async call => written(await deleteIncident(ctx, call.caller, call.params.id)))
  mount(status.addUpdate, async call => written(await addUpdate(ctx, call.caller, call.params.id, call.body)))
  mount(status.correctUpdate, async call => written(await correctUpdate(ctx, call.caller, call.params.id, call.body)))
  mount(status.incidentOfOutage, async call =>
    written(await createIncidentOfOutage(ctx, call.caller, call.params.id, call.body))
  )
  mount(status.nameIncident, call => linkIncident(ctx, call.caller, call.params.id, call.body.incident_id))
}

/** The targets of links in mails. Mail programs post a form to them, so they need a form parser. */
export function statusUnsubscribeRoutes(mount: Mount, ctx: AppContext): void {
  const { status } = routes
  mount(status.openUnsubscribe, async ({ query, reply }) => {
    await reply.redirect(`/status?unsubscribe=${encodeURIComponent(query.token)}`)
    return SENT
  })
  mount(status.unsubscribe, ({ caller, query }) => unsubscribeStatus(ctx, caller, query.token))
}
