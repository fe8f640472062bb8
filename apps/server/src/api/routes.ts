import { routes } from '@netlet/contract'
import { SENT, type Mount } from '../infra/http/mount.ts'
import type { AppContext } from '../infra/context.ts'
import { ok } from '../infra/result.ts'
import { customerDocument, customerReference } from './customer.ts'
import { openApiDocument } from './openapi.ts'
import { docsPage } from './page.ts'

/**
 * Puts the documentation of the API on the server: all of it for administrators, and for everybody what customers' keys may
 * call. Each is made when it is first asked for.
 */
export function documentationRoutes(mount: Mount, ctx: Pick<AppContext, 'config'>): void {
  const page = once(docsPage)
  const document = once(() => JSON.stringify(openApiDocument(ctx.config.publicUrl)))
  mount(routes.documentation.page, async ({ reply }) => {
    await reply.type('text/html; charset=utf-8').header('cache-control', 'no-store').send(page())
    return SENT
  })
  mount(routes.documentation.openapi, async ({ reply }) => {
    await reply.type('application/json; charset=utf-8').header('cache-control', 'no-store').send(document())
    return SENT
  })
  const reference = once(() => customerReference(ctx.config.publicUrl))
  const forCustomers = once(() => JSON.stringify(customerDocument(ctx.config.publicUrl)))
  mount(routes.documentation.reference, async () => ok(reference()))
  mount(routes.documentation.customerOpenapi, async ({ reply }) => {
    await reply
      .type('application/json; charset=utf-8')
      .header('cache-control', 'public, max-age=300')
      .send(forCustomers())
    return SENT
  })
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}
