import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { formOf, sendPage } from '../kit/http.ts'
import { toCents, toMoney } from '../kit/money.ts'
import type { Store } from '../kit/store.ts'
import { customersPage, discountsPage, productsPage } from './pages.ts'
import { Import } from './control.ts'
import type { Deliveries } from './deliveries.ts'
import { productPayload } from './product-payload.ts'
import { emitImport, withPrices, withStock } from './prices.ts'
import { PRODUCT_STATUSES, productsOf, type PlatformState } from './state.ts'

const Stock = z
  .literal('')
  .transform(() => null)
  .or(z.coerce.number().int().min(0).max(1_000_000))
  .default(null)

/** Pages of the platform's state for the demo. `/sandbox/…` has the same as JSON. */
export function pageRoutes(
  app: FastifyInstance,
  { store, deliveries, now }: { store: Store<PlatformState>; deliveries: Deliveries; now: () => number }
): void {
  const { data: state } = store
  const at = () => new Date(now()).toISOString()
  app.get('/products', async (_request, reply) => sendPage(reply, productsPage(state)))
  app.get('/discounts', async (_request, reply) => sendPage(reply, discountsPage(state)))
  app.get('/customers', async (_request, reply) => sendPage(reply, customersPage(state)))
  app.post<{ Params: { id: string } }>('/products/:id/raise', async (request, reply) => {
    const found = productsOf(state).find(product => product.id === request.params.id)
    if (!found) return reply.code(404).send({ error: 'no such product' })
    const raised = found.variants.map(one => [one.id, toMoney(Math.ceil((toCents(one.price) * 110) / 100))] as const)
    withPrices(state, found, new Map(raised), at())
    await store.save()
    return reply.redirect('/products', 303)
  })
  app.post<{ Params: { id: string } }>('/products/:id/sale', async (request, reply) => {
    const found = productsOf(state).find(product => product.id === request.params.id)
    const form = formOf(request.body)
    const status = PRODUCT_STATUSES.find(one => one === form.get('status'))
    if (!found || !status) return reply.code(404).send({ error: 'no such product or status' })
    const stock = Stock.parse(form.get('stock') ?? undefined)
    const left = new Map(found.variants.map(({ id }) => [id, stock]))
    const changed = withStock({ ...found, status, unpublished: !form.has('published') }, left)
    await deliveries.emit('products/update', productPayload(withPrices(state, changed, new Map(), at())))
    return reply.redirect('/products', 303)
  })
  app.post('/products/import', async (request, reply) => {
    const { times } = Import.parse({ times: formOf(request.body).get('times') ?? undefined })
    await emitImport({ state, deliveries, at: at() }, times)
    return reply.redirect('/products', 303)
  })
}
