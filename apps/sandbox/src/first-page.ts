import type { FastifyInstance } from 'fastify'
import { html, page } from './kit/html.ts'
import { sendPage } from './kit/http.ts'

const PLACES = [
  ['/products', 'Products', 'what the shop platform sells; change a price without telling the shop'],
  ['/discounts', 'Discounts', 'the codes that its checkout takes'],
  ['/customers', 'Customers', 'who has bought, with the tags of their levels'],
  ['/faults', 'Faults', 'what the shop platform does wrong next, and the rotation of the app’s secret'],
  ['/app', 'App', 'what the shop may see of the platform'],
  ['/outbox', 'Mail', 'all that the shop has sent'],
  ['/chat', 'Chat', 'the channels in which the shop’s bot gives coins'],
  ['/chat/operators', 'Operators’ room', 'what the shop tells its operators'],
  ['/hooks', 'Webhooks', 'a customer’s own server: what the shop told it']
] as const

export function firstPage(app: FastifyInstance, { shopUrl }: { shopUrl: string }): void {
  app.get('/', async (_request, reply) =>
    sendPage(
      reply,
      page(
        'Stand-ins',
        'Everything here is on this machine.',
        html`<h1>Stand-ins</h1>
          <section class="card">
            <p>These stand in for what the <a href="${shopUrl}">shop</a> talks to.</p>
            <ul>
              ${PLACES.map(
                ([path, name, about]) =>
                  html`<li><a href="${path}">${name}</a> <span class="quiet">${about}</span></li>`
              )}
            </ul>
          </section>`
      )
    )
  )
}
