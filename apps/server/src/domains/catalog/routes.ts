import { routes, SUCCESS } from '@netlet/contract'
import type { FastifyReply } from 'fastify'
import type { Actor } from '../../infra/actor.ts'
import { SENT, type Mount } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { adminRoutes } from './admin-routes.ts'
import { listCollections, listTags } from './list-groupings.ts'
import { listProducts, recommendProducts } from './list-products.ts'
import { quoteEachRule, quoteVariant } from './quote.ts'
import { openReplyCache } from './reply-cache.ts'
import { largestStock, openStockBoard } from './stock-board.ts'

const isAdmin = (caller: Actor) => caller.kind === 'user' && caller.isSuperuser

/** Puts the catalogue's calls on the server. */
export function catalogRoutes(mount: Mount, ctx: AppContext): void {
  const { db } = ctx
  const { catalog } = routes
  const stock = openStockBoard({ quote: key => largestStock(db, key), now: ctx.now, log: ctx.log })
  // What every visitor asks for. Two seconds are nothing to a shopper, and the database sees one query for thousands.
  const replies = openReplyCache({ ttl: 2000, maxEntries: 500, maxBytes: 32 * 1024 * 1024, now: ctx.now })

  const sendShared = async (reply: FastifyReply, key: string, make: () => Promise<unknown>): Promise<typeof SENT> => {
    const bytes = await replies.get(key, async () => ({ code: SUCCESS, data: await make(), msg: 'success' }))
    reply.type('application/json; charset=utf-8').send(bytes)
    return SENT
  }

  mount(catalog.products, async ({ query, caller, reply }) => {
    if (isAdmin(caller)) return ok(await listProducts(db, stock, query, 'admin'))
    return sendShared(reply, keyOf('products', query), () => listProducts(db, stock, query, 'shop'))
  })
  mount(catalog.recommended, async ({ query, reply }) =>
    sendShared(reply, keyOf('recommended', query), () => recommendProducts(db, stock, query.tags))
  )
  mount(catalog.collections, async ({ query, caller, reply }) => {
    if (isAdmin(caller)) return ok(await listCollections(db, query, 'admin'))
    return sendShared(reply, keyOf('collections', query), () => listCollections(db, query, 'shop'))
  })
  mount(catalog.tags, async ({ query, caller, reply }) => {
    if (isAdmin(caller)) return ok(await listTags(db, query))
    return sendShared(reply, keyOf('tags', query), () => listTags(db, query))
  })
  mount(catalog.ruleStock, async ({ body }) =>
    quoteEachRule(db, { productId: body.product_id, options: body.option_selected })
  )
  mount(catalog.variantInfo, async ({ body }) => {
    const { acl_selected: rules, ...options } = body.option_selected
    return quoteVariant(db, { productId: body.product_id, options, rules })
  })
  adminRoutes(mount, ctx, { stock, changed: () => replies.clear() })
}

/** The same for queries that mean the same, however they were written. */
function keyOf(list: string, query: Record<string, unknown>): string {
  const parts = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, Array.isArray(value) ? value.toSorted((a, b) => Number(a) - Number(b)) : value])
  return JSON.stringify([list, ...parts.toSorted(([a], [b]) => String(a).localeCompare(String(b)))])
}
