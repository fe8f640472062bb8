import { routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import { type Mount, refuseWhileImpersonating } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import { ok } from '../../infra/result.ts'
import { resendDelivery, testEndpoint } from './emit.ts'
import { createEndpoint, deleteEndpoint, ownEndpoints, rotateSecret, updateEndpoint } from './endpoints.ts'
import { deliveryList, endpointList, readDelivery } from './log.ts'
import type { WebhookPorts } from './policy.ts'

export function webhookRoutes(mount: Mount, ctx: AppContext, ports: WebhookPorts): void {
  customerRoutes(mount, ctx, ports)
  operatorRoutes(mount, ctx, ports)
}

/**
 * Customers' calls for their endpoints. Endpoints outlast an administrator's visit, so administrators may only look.
 */
function customerRoutes(mount: Mount, ctx: AppContext, ports: WebhookPorts): void {
  const calls = routes.webhooks
  mount(calls.endpoints, async ({ caller }) => ok(await ownEndpoints(ctx, caller)))
  mount(
    calls.createEndpoint,
    async ({ caller, body }) =>
      refuseWhileImpersonating(caller) ?? createEndpoint(ctx, ports, { by: caller, owner: caller.id }, body)
  )
  mount(
    calls.updateEndpoint,
    async ({ caller, params, body }) =>
      refuseWhileImpersonating(caller) ?? updateEndpoint(ctx, ports, caller, { id: params.id, owner: caller.id }, body)
  )
  mount(
    calls.deleteEndpoint,
    async ({ caller, params }) =>
      refuseWhileImpersonating(caller) ?? deleteEndpoint(ctx, caller, { id: params.id, owner: caller.id })
  )
  mount(
    calls.rotateSecret,
    async ({ caller, params }) =>
      refuseWhileImpersonating(caller) ?? rotateSecret(ctx, caller, { id: params.id, owner: caller.id })
  )
  mount(
    calls.testEndpoint,
    async ({ caller, params }) =>
      refuseWhileImpersonating(caller) ?? testEndpoint(ctx, caller, { id: params.id, owner: caller.id })
  )
  mountList(mount, ctx, calls.deliveries, ({ caller }) => deliveryList(caller.id))
  mount(calls.delivery, ({ caller, params }) => readDelivery(ctx, params.id, caller.id))
  mount(
    calls.resend,
    async ({ caller, params }) => refuseWhileImpersonating(caller) ?? resendDelivery(ctx, caller, params.id, caller.id)
  )
}

function operatorRoutes(mount: Mount, ctx: AppContext, ports: WebhookPorts): void {
  const calls = routes.webhooks
  const owner = null
  mountList(mount, ctx, calls.allEndpoints, () => endpointList(ctx.now))
  mount(calls.createOperatorEndpoint, ({ caller, body }) => createEndpoint(ctx, ports, { by: caller, owner }, body))
  mount(calls.updateOperatorEndpoint, ({ caller, params, body }) =>
    updateEndpoint(ctx, ports, caller, { id: params.id, owner }, body)
  )
  mount(calls.deleteOperatorEndpoint, ({ caller, params }) => deleteEndpoint(ctx, caller, { id: params.id, owner }))
  mount(calls.rotateOperatorSecret, ({ caller, params }) => rotateSecret(ctx, caller, { id: params.id, owner }))
  mount(calls.testOperatorEndpoint, ({ caller, params }) => testEndpoint(ctx, caller, { id: params.id, owner }))
  mountList(mount, ctx, calls.allDeliveries, () => deliveryList())
  mount(calls.anyDelivery, ({ params }) => readDelivery(ctx, params.id))
  mount(calls.resendAny, ({ caller, params }) => resendDelivery(ctx, caller, params.id))
}
