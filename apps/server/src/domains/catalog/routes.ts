import { refuse, type Resource, type Route, routes, SUCCESS } from '@netlet/contract'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Actor } from '../../infra/actor.ts'
import { type Mount, SENT } from '../../infra/http/mount.ts'
import { answerList, columnsOf, type List, type ListInput, paginate } from '../../infra/list/index.ts'
import type { AppContext } from '../../infra/context.ts'
import { adminRoutes } from './admin-routes.ts'
import {
  cacheOffers,
  listOfferedRules,
  openReplyCache,
  rangesSoldBy,
  readOccupancy,
  type ReplyCache
} from './offers.ts'
import { collectionList, tagList } from './edit-groupings.ts'
import { productList, recommendProducts } from './list-products.ts'
import type { Viewer } from './load-products.ts'
import { quoteVariant } from './quote.ts'
import { countStock, openStockBoard, stockOfEachRule } from './stock-board.ts'

type ShopQuery = ListInput & { format: 'json' | 'csv' }

const isAdmin = (caller: Actor) => caller.kind === 'user' && caller.isSuperuser

/** The resources that visitors' shared replies contain. */
const SHOWN: ReadonlySet<Resource> = new Set(['acl_rule', 'collection', 'product', 'server_group', 'tag'])

/** How long results of counts over the whole inventory are kept, in milliseconds. */
const SLOW = 30_000

/** Mounts the catalogue's calls. The cached replies follow the change feed until `app` closes. */
export function catalogRoutes(mount: Mount, ctx: AppContext, { app }: { app: Pick<FastifyInstance, 'addHook'> }): void {
  const { db } = ctx
  const { catalog } = routes
  const stock = openStockBoard({ count: key => countStock(db, key), now: ctx.now, log: ctx.log })
  // Requested by every visitor. Shoppers do not notice two seconds, and the database answers thousands with one query.
  const replies = openReplyCache({ ttl: 2000, maxEntries: 500, maxBytes: 32 * 1024 * 1024, now: ctx.now })
  // Counts over the whole inventory, which change slowly.
  const offers = cacheOffers(db, { ttl: SLOW, now: ctx.now })
  const slow = openReplyCache({ ttl: SLOW, maxEntries: 500, maxBytes: 4 * 1024 * 1024, now: ctx.now })
  const forget = () => {
    replies.clear()
    slow.clear()
    offers.forget()
  }
  // Changes by other processes or jobs. No event means that some may have been missed.
  const unsubscribe = ctx.changes.subscribe(event => {
    if (!event || event.changes.some(({ resource }) => resource === 'server_group')) stock.forget()
    if (!event || event.changes.some(({ resource }) => SHOWN.has(resource))) forget()
  })
  app.addHook('onClose', async () => unsubscribe())

  const sharing =
    (from: ReplyCache) =>
    async (reply: FastifyReply, key: string, make: () => Promise<unknown>): Promise<typeof SENT> => {
      const bytes = await from.get(key, async () => ({ code: SUCCESS, data: await make(), msg: 'success' }))
      reply.type('application/json; charset=utf-8').send(bytes)
      return SENT
    }
  const sendShared = sharing(replies)
  const sendSlow = sharing(slow)

  /** Administrators see the current state, all others the cached replies. */
  const mountShopList = (route: Route, name: string, listFor: (viewer: Viewer) => List<never, { id: number }>) => {
    const columns = columnsOf(route)
    mount(route, async ({ query: asked, caller, reply }) => {
      const viewer = isAdmin(caller) ? 'admin' : 'shop'
      const given = asked as ShopQuery
      const query = { ...given, sort_order: given.sort_order ?? (viewer === 'admin' ? 'desc' : 'asc') }
      const list = listFor(viewer) as List<ShopQuery, { id: number }>
      if (viewer === 'admin' || query.format === 'csv' || query.after !== undefined)
        return answerList(ctx, list, query, { columns, reply })
      return sendShared(reply, keyOf(name, query), async () => {
        const page = await paginate(db, list, query)
        if (!page.ok) throw new Error('only a cursor is refused')
        return page.data
      })
    })
  }

  mountShopList(catalog.products, 'products', viewer => productList(stock, viewer, offers.read))
  mount(catalog.recommended, async ({ query, reply }) =>
    sendShared(reply, keyOf('recommended', query), () => recommendProducts(db, stock, query.tags))
  )
  mountShopList(catalog.collections, 'collections', collectionList)
  mountShopList(catalog.tags, 'tags', tagList)
  mount(catalog.ruleStock, async ({ body }) =>
    stockOfEachRule(db, { productId: body.product_id, options: body.option_selected })
  )
  mount(catalog.variantInfo, async ({ body }) => {
    const { acl_selected: rules, ...options } = body.option_selected
    return quoteVariant(db, { productId: body.product_id, options, rules })
  })
  mount(catalog.rules, async ({ reply }) =>
    sendSlow(reply, 'rules', async () => listOfferedRules(db, await offers.read()))
  )
  mount(catalog.occupancy, async ({ params, reply }) => {
    const ranges = await rangesSoldBy(db, params.id)
    if (!ranges) return refuse('not_found')
    return sendSlow(reply, JSON.stringify(ranges), () => readOccupancy(db, ranges))
  })
  // Cleared at once too, so that the caller of a change sees it in its next call, before the feed reports it.
  adminRoutes(mount, ctx, { stock, changed: forget })
}

/** The same key for queries with the same meaning. */
function keyOf(list: string, query: Record<string, unknown>): string {
  const parts = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, Array.isArray(value) ? value.toSorted((a, b) => Number(a) - Number(b)) : value])
  return JSON.stringify([list, ...parts.toSorted(([a], [b]) => String(a).localeCompare(String(b)))])
}
