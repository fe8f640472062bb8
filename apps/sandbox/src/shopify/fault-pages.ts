import { html, nothing, page, type Html } from '../kit/html.ts'
import type { WebhookFault } from './deliveries.ts'
import type { GraphqlFault } from './graphql-routes.ts'

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

export const faultsPage = ({
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
