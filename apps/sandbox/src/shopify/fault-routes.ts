import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { formOf, sendPage } from '../kit/http.ts'
import type { Store } from '../kit/store.ts'
import { WEBHOOK_FAULTS, type Deliveries, type WebhookFault } from './deliveries.ts'
import { faultsPage } from './fault-pages.ts'
import type { GiveBack } from './give-back.ts'
import { GRAPHQL_FAULTS, type createFaults, type GraphqlFault } from './graphql-routes.ts'
import type { PlatformState } from './state.ts'
import { secretsOf } from './webhook-request.ts'

const Count = z.coerce.number().int().min(1).max(100).default(1)

const WebhookFaultBody = z.object({
  action: z.enum(['none', ...WEBHOOK_FAULTS]),
  next: Count,
  times: z.number().int().min(2).max(50).default(10),
  delay_ms: z.number().int().min(0).max(86_400_000).default(5000)
})
const GraphqlFaultBody = z.object({
  kind: z.enum(['none', ...GRAPHQL_FAULTS]),
  next: Count,
  after: z.number().int().min(0).max(100).default(0),
  retry_after: z.number().min(0).max(86_400).optional()
})
const RefundFaultBody = z.object({ kind: z.enum(['none', 'pending']), next: Count })
const SecretBody = z.object({ action: z.enum(['rotate', 'revoke']) })

/** The platform's next faults and the rotation of the app's secret, as a page and as JSON. */
export function faultRoutes(
  app: FastifyInstance,
  options: {
    store: Store<PlatformState>
    appSecret: string
    deliveries: Deliveries
    graphqlFaults: ReturnType<typeof createFaults>
    giveBack: GiveBack
  }
): void {
  const { store, appSecret, deliveries, graphqlFaults, giveBack } = options
  const secrets = () => secretsOf(store.data, appSecret)

  function setWebhookFault(body: unknown): WebhookFault | null {
    const { action, next, times, delay_ms } = WebhookFaultBody.parse(body)
    deliveries.setFault(action === 'none' ? null : { action, next, times, delayMs: delay_ms })
    return deliveries.fault()
  }

  function setGraphqlFault(body: unknown): GraphqlFault | null {
    const { kind, next, after, retry_after: retryAfter } = GraphqlFaultBody.parse(body)
    graphqlFaults.set(kind === 'none' ? null : { kind, next, after, retryAfter })
    return graphqlFaults.now()
  }

  function setRefundFault(body: unknown): number {
    const { kind, next } = RefundFaultBody.parse(body)
    giveBack.setPendingNext(kind === 'none' ? 0 : next)
    return giveBack.pendingNext()
  }

  /** As on the platform there are at most two, and the older one signs until it is revoked. */
  async function changeSecret(body: unknown): Promise<readonly string[]> {
    const { action } = SecretBody.parse(body)
    const now = secrets()
    if (action === 'rotate' && now.length === 1)
      store.data.appSecrets = [...now, `shpss_${randomBytes(16).toString('hex')}`]
    if (action === 'revoke' && now.length > 1) store.data.appSecrets = now.slice(1)
    await store.save()
    return secrets()
  }

  app.post('/sandbox/webhooks/faults', async request => ({ fault: setWebhookFault(request.body) }))
  app.post('/sandbox/graphql/faults', async request => ({ fault: setGraphqlFault(request.body) }))
  // Each affected call counts the fault down.
  app.get('/sandbox/graphql/faults', async () => ({ fault: graphqlFaults.now() }))
  app.post('/sandbox/refunds/faults', async request => ({ pending: setRefundFault(request.body) }))
  app.post('/sandbox/app_secret', async request => ({ secrets: await changeSecret(request.body) }))

  app.get('/faults', async (_request, reply) =>
    sendPage(
      reply,
      faultsPage({
        webhooks: deliveries.fault(),
        api: graphqlFaults.now(),
        pendingRefunds: giveBack.pendingNext(),
        secrets: secrets()
      })
    )
  )
  const forms: Record<string, (body: unknown) => unknown> = {
    '/faults/webhooks': setWebhookFault,
    '/faults/api': setGraphqlFault,
    '/faults/refunds': setRefundFault,
    '/faults/secret': changeSecret
  }
  for (const [path, change] of Object.entries(forms))
    app.post(path, async (request, reply) => {
      await change(Object.fromEntries(formOf(request.body)))
      return reply.redirect('/faults', 303)
    })
}
