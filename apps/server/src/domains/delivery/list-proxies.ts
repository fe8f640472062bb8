import type { Proxy } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import { iso } from '../../infra/clock.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { checkOf, isAt } from './proxy-columns.ts'
import { proxies } from './tables.ts'
import { selectWithCredentials } from './with-credentials.ts'

/** An order's live proxies, oldest first; found by address. */
export const proxyList = (orderId: number) =>
  defineList<ListInput<'id'>, Proxy>({
    name: `order_${orderId}_proxies`,
    table: proxies,
    id: proxies.id,
    sort: { id: proxies.id },
    match: (_db, { search }) => ({
      where: [
        // A literal, or a prepared plan could not tell that the partial index serves.
        sql`${proxies.state} = 'live'`,
        search === undefined ? undefined : isAt(search)
      ],
      anyOf: [{ column: proxies.orderId, among: [orderId] }]
    }),
    async load(db, ids) {
      const rows = await selectWithCredentials(db).where(among(proxies.id, ids))
      return rows.map(({ proxy, ip, port, username, password }) => ({
        id: proxy.id,
        ip,
        port,
        username,
        password,
        ...checkOf(proxy),
        created_at: iso(proxy.createdAt),
        updated_at: iso(proxy.updatedAt)
      }))
    }
  })
