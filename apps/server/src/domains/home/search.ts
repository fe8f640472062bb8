import { FOUND_OF_EACH, type Found, type Permission } from '@netlet/contract'
import { type UserActor, mayDo } from '../../infra/actor.ts'
import type { AppContext } from '../../infra/context.ts'
import { searchUsers } from '../accounts/index.ts'
import { searchProducts } from '../catalog/index.ts'
import { searchServers } from '../servers/index.ts'
import { parseAddress, rangeOf } from '../inventory/index.ts'
import { searchHolders, searchOrders } from '../orders/index.ts'
import { ordersPaidBy } from '../payments/index.ts'

/** Rows of each kind that the caller's role may see, by a text: a few concurrent index look-ups. */
export async function search(ctx: AppContext, by: UserActor, text: string): Promise<Found> {
  const { db } = ctx
  const may = (permission: Permission) => mayDo(by, permission)
  const limit = FOUND_OF_EACH
  const [orders, users, servers, products, address] = await Promise.all([
    may('orders.view') ? searchOrders(db, text, { limit, ordersPaidBy }) : [],
    may('users.view') ? searchUsers(db, text, limit) : [],
    may('servers.view') ? searchServers(db, text, limit) : [],
    may('products.view') ? searchProducts(db, text, limit) : [],
    findAddress(ctx, by, text)
  ])
  return { orders, users, servers, products, address }
}

/** The live range of an address, and its current holder for callers who may look up addresses. */
async function findAddress(ctx: AppContext, by: UserActor, text: string): Promise<Found['address']> {
  const parsed = parseAddress(text)
  if (!parsed.ok) return null
  const [ip = ''] = parsed.cidr.split('/')
  const mayAsk = mayDo(by, 'addresses.view')
  const mayRange = mayDo(by, 'rules.view')
  if (!mayAsk && !mayRange) return null
  const [range, holders] = await Promise.all([
    mayRange ? rangeOf(ctx.db, ip) : undefined,
    mayAsk && parsed.units === 1 ? searchHolders(ctx, by, ip, FOUND_OF_EACH) : []
  ])
  return { address: text, range: range ? { id: range.id, cidr: range.cidr } : null, holders }
}
