import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { formOf, sendPage } from '../kit/http.ts'
import { appPage } from './pages.ts'
import type { PlatformOrder } from './state.ts'

export const READ_DISPUTES = 'read_shopify_payments_disputes'
/** The scopes of every access token of the shop's app. */
const SCOPES = [
  ...['products', 'orders', 'discounts', 'customers'].flatMap(what => [`read_${what}`, `write_${what}`]),
  READ_DISPUTES
]
/** Without it no variant tells in which sales channels it is. */
export const READ_PUBLICATIONS = 'read_publications'
/** Granted on request only. Without it older orders are hidden. */
const ALL_ORDERS = 'read_all_orders'
const SHOWN_FOR_MS = 60 * 86_400_000

export type AppAccess = ReturnType<typeof createAppAccess>

/** The app's scopes and the orders that it sees. */
export function createAppAccess({ now }: { now: () => number }) {
  let allOrders = true
  let publications = true
  return {
    scopes: () => [...SCOPES, ...(publications ? [READ_PUBLICATIONS] : []), ...(allOrders ? [ALL_ORDERS] : [])],
    shows: (order: PlatformOrder) => allOrders || Date.parse(order.createdAt) > now() - SHOWN_FOR_MS,
    mayAllOrders: () => allOrders,
    setAllOrders: (may: boolean): void => {
      allOrders = may
    },
    setPublications: (may: boolean): void => {
      publications = may
    }
  }
}

const Change = z.object({ read_all_orders: z.boolean().optional(), read_publications: z.boolean().optional() })

/** Grants and revokes scopes, from a page and as JSON. */
export function appAccessRoutes(app: FastifyInstance, access: AppAccess): void {
  app.get('/app', async (_request, reply) => sendPage(reply, appPage(access)))
  app.post('/app', async (request, reply) => {
    access.setAllOrders(formOf(request.body).get(ALL_ORDERS) === 'yes')
    return reply.redirect('/app', 303)
  })
  app.post('/sandbox/app', async request => {
    const { read_all_orders, read_publications } = Change.parse(request.body)
    if (read_all_orders !== undefined) access.setAllOrders(read_all_orders)
    if (read_publications !== undefined) access.setPublications(read_publications)
    return { scopes: access.scopes() }
  })
}
