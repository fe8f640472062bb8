import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { formOf, html, type Html, nothing, page, sendPage } from '../kit/http.ts'
import type { Store } from '../kit/store.ts'
import type { Refunds } from './refunds.ts'
import { leftOfAll, statusOf } from './order-money.ts'
import { NOTICE, table } from './pages.ts'
import { DISPUTE_STATUSES, type PlatformOrder, type PlatformState } from './state.ts'

const SHOWN = 50

const RefundForm = z.object({ as: z.enum(['made', 'pending']) })
const ResultForm = z.object({ status: z.enum(['success', 'failure']) })
const DisputeForm = z.object({
  id: z.string().optional(),
  status: z.enum(DISPUTE_STATUSES),
  notify: z.enum(['yes', 'no'])
})

type ById = { Params: { id: string } }

/** The page of paid orders, with their refunds and disputes. `/sandbox/orders` has the same as JSON. */
export function orderRoutes(
  app: FastifyInstance,
  { store, giveBack }: { store: Store<PlatformState>; giveBack: Refunds }
): void {
  const { data: state } = store
  const find = (id: string) => state.orders.find(order => order.id === id)
  const fields = (body: unknown) => Object.fromEntries(formOf(body))

  app.get('/orders', async (_request, reply) => sendPage(reply, ordersPage(state)))
  app.post<ById>('/orders/:id/refund', async (request, reply) => {
    const order = find(request.params.id)
    if (!order) return reply.code(404).send({ error: 'no such order' })
    await giveBack.refund(order, { pending: RefundForm.parse(fields(request.body)).as === 'pending' })
    return reply.redirect('/orders', 303)
  })
  app.post<ById>('/orders/:id/dispute', async (request, reply) => {
    const order = find(request.params.id)
    if (!order) return reply.code(404).send({ error: 'no such order' })
    const { notify, ...dispute } = DisputeForm.parse(fields(request.body))
    await giveBack.dispute(order, { ...dispute, silent: notify === 'no' })
    return reply.redirect('/orders', 303)
  })
  app.post<ById>('/orders/refunds/:id', async (request, reply) => {
    await giveBack.endRefund(request.params.id, ResultForm.parse(fields(request.body)).status)
    return reply.redirect('/orders', 303)
  })
}

const ordersPage = (state: PlatformState): string =>
  page(
    'Orders',
    NOTICE,
    html`<h1>Orders</h1>
      <p class="quiet">
        What was paid, newest first. The result of a pending refund sends <code>order_transactions/create</code> only,
        and a silent dispute sends no webhook: the shop has to find it.
      </p>
      ${table(['Order', 'Refunds', 'Disputes'], state.orders.slice(-SHOWN).toReversed().map(orderRow))}`
  )

const button = (action: string, label: string, values: Record<string, string>): Html =>
  html`<form method="post" action="${action}">
    ${Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <button class="plain" style="margin-top: 0">${label}</button>
  </form>`

function orderRow(order: PlatformOrder): Html {
  const { id, number, email, totalPrice, currency, refunds, disputes = [] } = order
  const dispute = (label: string, values: Record<string, string>) => button(`/orders/${id}/dispute`, label, values)
  return html`<tr>
    <td>#${number}<br /><span class="quiet small">${email} · ${totalPrice} ${currency}</span></td>
    <td>
      ${refunds.map(
        refund =>
          html`<p class="small">${refund.amount} ${statusOf(refund)}</p>
            ${
              statusOf(refund) === 'pending'
                ? button(`/orders/refunds/${refund.id}`, 'Made', { status: 'success' })
                : nothing
            }
            ${
              statusOf(refund) === 'failure'
                ? nothing
                : button(`/orders/refunds/${refund.id}`, 'Failed', { status: 'failure' })
            }`
      )}
      ${
        leftOfAll(order) > 0
          ? [
              button(`/orders/${id}/refund`, 'Refund the rest', { as: 'made' }),
              button(`/orders/${id}/refund`, 'Refund the rest, pending', { as: 'pending' })
            ]
          : nothing
      }
    </td>
    <td>
      ${disputes.map(
        one =>
          html`<p class="small">${one.amount} ${one.type} ${one.status}</p>
            ${[
              dispute('Won', { id: one.id, status: 'won', notify: 'yes' }),
              dispute('Lost', { id: one.id, status: 'lost', notify: 'yes' }),
              dispute('Won, silently', { id: one.id, status: 'won', notify: 'no' })
            ]}`
      )}
      ${dispute('Chargeback', { status: 'needs_response', notify: 'yes' })}
      ${dispute('Chargeback, silently', { status: 'needs_response', notify: 'no' })}
    </td>
  </tr>`
}
