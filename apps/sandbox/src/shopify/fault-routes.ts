import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { formOf, html, type Html, nothing, page, sendPage } from '../kit/http.ts'
import type { Store } from '../kit/store.ts'
import { type Deliveries, secretsOf, WEBHOOK_FAULTS, type WebhookFault } from './deliveries.ts'
import type { Refunds } from './refunds.ts'
import { type createFaults, GRAPHQL_FAULTS, type GraphqlFault } from './graphql-routes.ts'
import type { PlatformState } from './state.ts'

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
    giveBack: Refunds
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

const WEBHOOKS: Record<WebhookFault['action'], string> = {
  drop: 'Not sent at all',
  duplicate: 'Sent ten times',
  late: 'Sent five seconds late',
  hold: 'Held until it is released by the control API',
  wrong_signature: 'Signed with another secret',
  too_large: 'A body of more than 8 MiB',
  unreadable: 'Half of the body, signed',
  other_shop: 'Named as another shop’s, signed',
  other_version: 'In another API version'
}

const API: Record<GraphqlFault['kind'], string> = {
  error500: '500: a fault of its own',
  throttled: '200 with THROTTLED and the cost',
  too_many: '429 with Retry-After: 2 s',
  timeout: 'Silence',
  garbage: 'A page in HTML',
  unauthorized: '401: the token is not taken',
  locked: '423: the shop is locked',
  half: 'Done, and the answer breaks off',
  lost: 'Done, without an answer',
  no_emails: 'Without the addresses of customers',
  no_publishing: 'Without since when products are published',
  other_version: 'In a later API version'
}

const REFUNDS: Record<string, string> = { pending: 'Pending, until they get a result on the page Orders' }

const faultsPage = ({
  webhooks,
  api,
  pendingRefunds,
  secrets
}: {
  webhooks: WebhookFault | null
  api: GraphqlFault | null
  /** How many of the next refunds stay pending. */
  pendingRefunds: number
  secrets: readonly string[]
}): string =>
  page(
    'Faults',
    'A stand-in shop platform, which fails on request.',
    html`<h1>Faults</h1>
      <div class="two">
        ${faultForm('webhooks', 'action', 'The next webhooks', WEBHOOKS, webhooks && { kind: webhooks.action, next: webhooks.next })}
        ${faultForm('api', 'kind', 'The next calls of the API', API, api)}
        ${faultForm('refunds', 'kind', 'The next refunds', REFUNDS, { kind: 'pending', next: pendingRefunds })}
      </div>
      <form class="card" method="post" action="/faults/secret" style="margin-top: 1.25rem">
        <h2>The app’s secret</h2>
        <p class="quiet">
          After a rotation both secrets are taken, and webhooks are signed with the former one until it is revoked.
        </p>
        ${secrets.map(
          (secret, at) =>
            html`<p><code>${secret}</code> <span class="quiet">${at === 0 ? 'signs webhooks' : 'new'}</span></p>`
        )}
        <button class="plain" name="action" value="rotate" ${secrets.length > 1 ? { markup: 'disabled' } : nothing}>
          Rotate: make a new secret
        </button>
        <button class="plain" name="action" value="revoke" ${secrets.length > 1 ? nothing : { markup: 'disabled' }}>
          Revoke the former secret
        </button>
      </form>`
  )

const faultForm = (
  name: string,
  field: string,
  title: string,
  words: Record<string, string>,
  set: { kind: string; next: number } | null
): Html =>
  html`<form class="card" method="post" action="/faults/${name}">
    <h2>${title}</h2>
    ${
      set && set.next > 0
        ? html`<p class="note">${words[set.kind] ?? set.kind}: ${set.next} more</p>`
        : html`<p class="quiet">They are as they should be.</p>`
    }
    <label for="${name}-next">How many</label>
    <input type="text" id="${name}-next" name="next" value="1" inputmode="numeric" />
    ${Object.entries(words).map(
      ([kind, label]) => html`<button class="plain" name="${field}" value="${kind}">${label}</button>`
    )}
    <button class="plain" name="${field}" value="none">None</button>
  </form>`
