import { refusals, refuse, routes } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { FastifyRequest } from 'fastify'
import type { Executor } from '../../infra/db/client.ts'
import { actorOf, type Actor } from '../../infra/http/actor.ts'
import type { Caller, Mount } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { users } from '../accounts/tables.ts'
import { proxyDetail, proxyLines } from './proxy-list.ts'
import { requestTask, type OrderTask } from './tasks.ts'

/** Administrators act on anyone's order, customers on their own. */
const scopeOf = (caller: Caller): number | null => (caller.isSuperuser ? null : caller.id)

/** What an administrator asks for is written to the audit log, through a customer's eyes as well. */
async function administratorOf(db: Executor, call: { caller: Caller; request: FastifyRequest }): Promise<Actor | null> {
  const { isSuperuser, impersonatorId } = call.caller
  if (isSuperuser) return actorOf(call)
  if (impersonatorId === null) return null
  const [visitor] = await db
    .select({ id: users.id, username: users.username })
    .from(users)
    .where(eq(users.id, impersonatorId))
  return visitor ? { ...actorOf(call), ...visitor } : null
}

export function deliveryRoutes(mount: Mount, ctx: AppContext): void {
  const ask = async (call: { caller: Caller; request: FastifyRequest }, orderId: number, task: OrderTask) =>
    requestTask(ctx, orderId, task, scopeOf(call.caller), await administratorOf(ctx.db, call))
  mount(routes.orders.proxyDetail, ({ params, query, caller }) =>
    proxyDetail(ctx.db, params.id, scopeOf(caller), query, ctx.now())
  )
  mount(routes.orders.exportProxies, ({ params, caller }) => proxyLines(ctx.db, params.id, scopeOf(caller)))
  mount(routes.orders.copyProxies, async ({ params, caller }) => {
    const lines = await proxyLines(ctx.db, params.id, scopeOf(caller))
    return lines.ok ? ok({ proxy_lines: lines.data.proxy_lines, proxy_count: lines.data.proxy_count }) : lines
  })
  mount(routes.orders.resetPassword, call => ask(call, call.params.id, 'reset'))
  mount(routes.orders.check, call => ask(call, call.params.id, 'check'))
  mount(routes.orders.change, call => ask(call, call.params.id, 'change'))
  mount(routes.orders.deliver, call => ask(call, call.params.id, 'deliver'))
  mount(routes.orders.resetMany, async call => {
    const { body } = call
    if (body.order_ids.length === 0) return refuse('invalid', { msg: '请先选择订单' })
    const asked = []
    for (const id of body.order_ids) {
      const one = await ask(call, id, 'change')
      asked.push(
        one.ok ? { id, ...one.data } : { id, status: 'refused' as const, msg: one.msg ?? refusals[one.reason][1] }
      )
    }
    return ok(asked)
  })
}
