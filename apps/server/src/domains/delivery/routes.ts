import { refuse, routes, sentenceOf, type OrderTask } from '@netlet/contract'
import { randomUUID } from 'node:crypto'
import type { UserActor } from '../../infra/actor.ts'
import { type Mount, SENT } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import { traceCredentials } from '../../infra/traced-reads.ts'
import type { AppContext } from '../../infra/context.ts'
import { serverOrderRoutes } from './servers/index.ts'
import type { Note } from '../orders/index.ts'
import { requestTask, type TaskScope } from './tasks.ts'
import { mountList, sendCsv } from '../../infra/list/index.ts'
import { orderProxyList, proxyCsv, proxyDetail, proxyLines } from './list-proxies.ts'
import { creditsOfOrder, lostTimeOf } from './servers/lost-time.ts'

/** Administrators act on anyone's order, customers on their own. */
const scopeOf = (caller: UserActor): number | null => (caller.isSuperuser ? null : caller.id)

export function deliveryRoutes(
  mount: Mount,
  ctx: AppContext,
  { deliveryRefusal }: Pick<TaskScope, 'deliveryRefusal'>
): void {
  const ask = (call: { caller: UserActor }, orderId: number, task: OrderTask, note?: Note) =>
    requestTask(ctx, call.caller, orderId, task, { userId: scopeOf(call.caller), deliveryRefusal, note })
  serverOrderRoutes(mount, ctx, { deliveryRefusal })
  mount(routes.orders.proxyDetail, async ({ params, query, caller, reply }) => {
    const scope = { orderId: params.id, userId: scopeOf(caller), now: ctx.now() }
    if (query.format === 'json') {
      const page = await proxyDetail(ctx.db, scope, query)
      if (page.ok) await traceCredentials(ctx, caller, params.id, page.data.proxy_list.length)
      return page
    }
    const all = await proxyDetail(ctx.db, scope, { ...query, limit: 1, offset: 0, after: undefined })
    if (!all.ok) return all
    await traceCredentials(ctx, caller, params.id, all.data.total)
    const file = await proxyCsv(ctx.db, scope, query)
    if (!file.ok) return file
    await sendCsv(reply, file.data)
    return SENT
  })
  mount(routes.orders.lostTime, ({ params }) => lostTimeOf(ctx.db, { id: params.id, now: ctx.now() }))
  mount(routes.orders.credits, ({ params, caller }) =>
    creditsOfOrder(ctx.db, { id: params.id, userId: scopeOf(caller), now: ctx.now() })
  )
  mountList(mount, ctx, routes.orders.proxies, ({ params }) => orderProxyList(params.id))
  const linesFor = async (caller: UserActor, orderId: number) => {
    const lines = await proxyLines(ctx.db, { orderId, userId: scopeOf(caller), now: ctx.now() })
    if (lines.ok) await traceCredentials(ctx, caller, orderId, lines.data.proxy_count)
    return lines
  }
  mount(routes.orders.exportProxies, ({ params, caller }) => linesFor(caller, params.id))
  mount(routes.orders.copyProxies, async ({ params, caller }) => {
    const lines = await linesFor(caller, params.id)
    if (!lines.ok) return lines
    const { filename: _filename, ...rest } = lines.data
    return ok(rest)
  })
  mount(routes.orders.resetPassword, call => ask(call, call.params.id, 'reset', call.body))
  mount(routes.orders.check, call => ask(call, call.params.id, 'check'))
  mount(routes.orders.change, call => ask(call, call.params.id, 'change', call.body))
  mount(routes.orders.deliver, call => ask(call, call.params.id, 'deliver'))
  mount(routes.orders.resetMany, async call => {
    const { order_ids: ids, ...note } = call.body
    if (ids.length === 0) return refuse('no_orders_selected')
    const batch = `call:${randomUUID()}`
    const asked = []
    for (const id of ids) {
      const one = await ask(call, id, 'change', { ...note, batch })
      if (one.ok) asked.push({ id, ...one.data })
      else {
        const { reason, params = {} } = one
        asked.push({ id, status: 'refused' as const, reason, params, msg: sentenceOf(one) })
      }
    }
    return ok(asked)
  })
}
