import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { formOf, html, nothing, page, sendPage } from '../kit/http.ts'
import { answerWrongly, type Catcher, type Caught, type Fault, FAULTS, isFault } from './catcher.ts'

const FaultBody = z.object({
  kind: z.enum(Object.keys(FAULTS) as [Fault, ...Fault[]]),
  next: z.number().int().min(0).max(100).default(1)
})

/** A customer's own server for the shop's webhooks: it verifies, stores and shows them, and fails on request. */
export async function hookRoutes(app: FastifyInstance, catcher: Catcher): Promise<void> {
  let fault: { kind: Fault; next: number } | null = null
  const setFault = (kind: Fault, next: number) => (fault = next > 0 ? { kind, next } : null)

  app.get('/hooks', async (_request, reply) => sendPage(reply, catcherPage(catcher, fault)))
  app.get('/hooks.json', async (_request, reply) => reply.header('cache-control', 'no-store').send(catcher.list()))
  app.delete('/hooks.json', async (_request, reply) => {
    await catcher.clear()
    return reply.code(204).send()
  })
  app.post('/hooks/secret', async (request, reply) => {
    await catcher.setSecret((formOf(request.body).get('secret') ?? '').trim().slice(0, 500))
    return reply.redirect('/hooks', 303)
  })
  app.post('/hooks/fault', async (request, reply) => {
    const form = formOf(request.body)
    const kind = form.get('kind')
    const next = Number(form.get('next') ?? 1)
    if (isFault(kind)) setFault(kind, Number.isInteger(next) ? Math.min(100, Math.max(0, next)) : 1)
    return reply.redirect('/hooks', 303)
  })
  app.post('/sandbox/hooks/faults', async request => {
    const { kind, next } = FaultBody.parse(request.body)
    setFault(kind, next)
    return { fault }
  })

  await app.register(async scope => {
    // The signature covers the exact text of the body.
    scope.removeContentTypeParser('application/json')
    scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    scope.post<{ Params: { name: string } }>('/hooks/in/:name', async (request, reply) => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))
      )
      await catcher.add(request.params.name, typeof request.body === 'string' ? request.body : '', headers)
      if (!fault) return { caught: true }
      const { kind, next } = fault
      setFault(kind, next - 1)
      return answerWrongly(reply, kind)
    })
  })
}

const NOTICE = 'What the shop’s webhooks brought. Nothing here has left this machine.'

/** All caught posts with the state of their signature, and a form for faults. */
function catcherPage(catcher: Catcher, fault: { kind: Fault; next: number } | null): string {
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
