import { routes } from '@netlet/contract'
import { SENT, type Mount } from '../platform/http/mount.ts'
import type { Shop } from '../platform/shop.ts'
import { openApiDocument } from './openapi.ts'
import { docsPage } from './page.ts'

/** Puts the documentation of the API on the server, for administrators. It is made when it is first asked for. */
export function documentationRoutes(mount: Mount, shop: Pick<Shop, 'config'>): void {
  const page = once(docsPage)
  const document = once(() => JSON.stringify(openApiDocument(shop.config.publicUrl)))
  mount(routes.documentation.page, async ({ reply }) => {
    await reply.type('text/html; charset=utf-8').header('cache-control', 'no-store').send(page())
    return SENT
  })
  mount(routes.documentation.openapi, async ({ reply }) => {
    await reply.type('application/json; charset=utf-8').header('cache-control', 'no-store').send(document())
    return SENT
  })
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}
