import { html, nothing, page } from '../kit/html.ts'
import type { Catcher, Caught } from './catcher.ts'
import { FAULTS, type Fault } from './faults.ts'

const NOTICE = 'What the shop’s webhooks brought. Nothing here has left this machine.'

/** All caught posts with the state of their signature, and a form for faults. */
export function catcherPage(catcher: Catcher, fault: { kind: Fault; next: number } | null): string {
  const caught = catcher.list()
  return page(
    'Webhooks',
    NOTICE,
    html`<h1>Webhooks</h1>
      <div class="two">
        <div>
          ${
            caught.length === 0
              ? html`<div class="card">
                  <p>Nothing yet. Buy a plan in the shop, or press Test beside the endpoint in its settings.</p>
                </div>`
              : caught.map(caughtOne)
          }
        </div>
        <div>
          <form class="card" method="post" action="/hooks/secret">
            <label for="secret">Secret that signatures are checked with</label>
            <input type="text" id="secret" name="secret" value="${catcher.secret()}" autocomplete="off" />
            <button>Use this secret</button>
          </form>
          <form class="card" method="post" action="/hooks/fault" style="margin-top: 1.25rem">
            <h2>Answer the next ones with a fault</h2>
            ${
              fault
                ? html`<p class="note">${FAULTS[fault.kind]}: ${fault.next} more</p>`
                : html`<p class="quiet">They are answered with 200.</p>`
            }
            <label for="next">How many</label>
            <input type="text" id="next" name="next" value="1" inputmode="numeric" />
            ${Object.entries(FAULTS).map(
              ([kind, words]) => html`<button class="plain" name="kind" value="${kind}">${words}</button>`
            )}
          </form>
        </div>
      </div>`
  )
}

const caughtOne = (one: Caught) =>
  html`<section class="card" style="margin-bottom: 1.25rem">
    <h2>${one.type}</h2>
    <p class="${one.wrong === null ? 'quiet' : 'bad'} small">
      ${one.wrong === null ? 'Signature verified' : `Signature not verified: ${one.wrong}`}
      ${one.seen_before ? ' · seen before: the same event again' : nothing}<br />
      ${one.caught_at.slice(0, 19).replace('T', ' ')} UTC · ${one.id} · /hooks/in/${one.at}
    </p>
    <pre>${pretty(one.body)}</pre>
  </section>`

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
