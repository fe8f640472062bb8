import type { FastifyInstance } from 'fastify'
import { sendPage } from '../kit/http.ts'
import { toCents, toMoney } from '../kit/money.ts'
import type { Store } from '../kit/store.ts'
import { customersPage, discountsPage, productsPage } from './pages.ts'
import { withPrices } from './prices.ts'
import { productsOf, type PlatformState } from './state.ts'

/** What the platform holds, for whoever walks through the demo. `/sandbox/…` has the same as JSON. */
export function pageRoutes(
  app: FastifyInstance,
  { store, now }: { store: Store<PlatformState>; now: () => number }
): void {
  const { data: state } = store
  app.get('/products', async (_request, reply) => sendPage(reply, productsPage(state)))
  app.get('/discounts', async (_request, reply) => sendPage(reply, discountsPage(state)))
  app.get('/customers', async (_request, reply) => sendPage(reply, customersPage(state)))
  app.post<{ Params: { id: string } }>('/products/:id/raise', async (request, reply) => {
    const found = productsOf(state).find(product => product.id === request.params.id)
    if (!found) return reply.code(404).send({ error: 'no such product' })
    const raised = found.variants.map(one => [one.id, toMoney(Math.ceil((toCents(one.price) * 110) / 100))] as const)
    withPrices(state, found, new Map(raised), new Date(now()).toISOString())
    await store.save()
    return reply.redirect('/products', 303)
  })
}
