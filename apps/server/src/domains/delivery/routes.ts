import { refuse, routes } from '@netlet/contract'
import type { Caller, Mount } from '../../platform/http/mount.ts'
import { ok } from '../../platform/result.ts'
import type { Shop } from '../../platform/shop.ts'
import { record } from '../audit/index.ts'
import { proxyDetail, proxyLines } from './proxy-list.ts'
import { requestTask, type OrderTask } from './tasks.ts'

/** Administrators act on anyone's order, customers on their own. */
const scopeOf = (caller: Caller): number | null => (caller.isSuperuser ? null : caller.id)

export function deliveryRoutes(mount: Mount, shop: Shop): void {
  const ask = async (caller: Caller, orderId: number, task: OrderTask) => {
    const asked = await requestTask(shop, orderId, task, scopeOf(caller))
    if (asked.ok && caller.isSuperuser && task !== 'check') {
      await record(shop.db, caller, { action: `${task} proxies`, targetType: 'order', targetId: orderId })
    }
    return asked
  }
  mount(routes.orders.proxyDetail, ({ params, query, caller }) =>
    proxyDetail(shop.db, params.id, scopeOf(caller), query, shop.now())
  )
  mount(routes.orders.exportProxies, ({ params, caller }) => proxyLines(shop.db, params.id, scopeOf(caller)))
  mount(routes.orders.copyProxies, async ({ params, caller }) => {
    const lines = await proxyLines(shop.db, params.id, scopeOf(caller))
    return lines.ok ? ok({ proxy_lines: lines.data.proxy_lines, proxy_count: lines.data.proxy_count }) : lines
  })
  mount(routes.orders.resetPassword, ({ params, caller }) => ask(caller, params.id, 'reset'))
  mount(routes.orders.check, ({ params, caller }) => ask(caller, params.id, 'check'))
  mount(routes.orders.change, ({ params, caller }) => ask(caller, params.id, 'change'))
  mount(routes.orders.deliver, ({ params, caller }) => ask(caller, params.id, 'deliver'))
  mount(routes.orders.resetMany, async ({ body, caller }) => {
    if (body.order_ids.length === 0) return refuse('invalid', { msg: '请先选择订单' })
    const asked = []
    for (const id of body.order_ids) {
      const one = await ask(caller, id, 'change')
      asked.push(one.ok ? { id, ...one.data } : { id, status: 'refused' as const, msg: one.msg ?? one.reason })
    }
    return ok(asked)
  })
}
