import type { BodyOf, ParamsOf, ReplyOf, Route } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { TestClient, TestReply } from '../../testing/client.ts'
import { startTestShop } from '../../testing/shop.ts'
import { commerceJobs, commerceRoutes } from '../commerce/index.ts'
import { applyProductDeletion, applyProductUpdate, catalogJobs, catalogRoutes } from './index.ts'

/** `as` missing: a visitor. */
export type CallInput<R> = {
  params?: ParamsOf<R>
  query?: Record<string, string>
  body?: BodyOf<R>
  as?: 'admin' | 'customer' | undefined
  headers?: Record<string, string>
}

export type Catalogue = {
  ctx: AppContext
  /** Calls a route of the contract, with its own types. */
  call<R extends Route>(route: R, input?: CallInput<R>): Promise<TestReply<ReplyOf<R>>>
  /** Runs the jobs that are due. */
  drain(): Promise<string[]>
  /** Moves the clock past the life of cached replies. */
  forget(): void
  close(): Promise<void>
}

/** A shop with the catalogue's calls and jobs, an administrator and a customer. */
export async function openCatalogue(): Promise<Catalogue> {
  const events = commerceJobs({
    'orders/create': async () => ({ outcome: 'ignored' }),
    'order_transactions/create': async () => ({ outcome: 'ignored' }),
    'orders/paid': async () => ({ outcome: 'ignored' }),
    'orders/cancelled': async () => ({ outcome: 'ignored' }),
    'refunds/create': async () => ({ outcome: 'ignored' }),
    'reconciled/refund': async () => ({ outcome: 'ignored' }),
    'reconciled/doubt': async () => ({ outcome: 'ignored' }),
    'disputes/create': async () => ({ outcome: 'ignored' }),
    'disputes/update': async () => ({ outcome: 'ignored' }),
    'products/update': applyProductUpdate,
    'products/delete': applyProductDeletion
  })
  const jobs = [...events, ...catalogJobs]
  const testShop = await startTestShop({
    routes: (mount, ctx, app) => {
      catalogRoutes(mount, ctx, { app })
      commerceRoutes(mount, ctx)
    },
    jobs
  })
  const clients: Record<'admin' | 'customer' | 'visitor', TestClient> = {
    admin: await testShop.admin({ username: 'admin' }),
    customer: await testShop.customer(),
    visitor: testShop.visitor()
  }
  return {
    ctx: testShop.ctx,
    async call<R extends Route>(route: R, { params, query, body, as, headers }: CallInput<R> = {}) {
      const client = clients[as ?? 'visitor']
      const path = route.path.replace(/:(\w+)/g, (_, name: string) => String((params as Record<string, unknown>)[name]))
      const url = query ? `${path}?${new URLSearchParams(query).toString()}` : path
      if (route.method === 'GET') return client.get<ReplyOf<R>>(url, headers)
      if (route.method === 'DELETE') return client.delete<ReplyOf<R>>(url, headers)
      return route.method === 'PUT'
        ? client.put<ReplyOf<R>>(url, body, headers)
        : client.post<ReplyOf<R>>(url, body, headers)
    },
    drain: () => testShop.drain(),
    forget: () => testShop.advance(31_000),
    close: () => testShop.close()
  }
}
