import type { OrderProxy } from '@netlet/contract'
import { eq, ne, sql } from 'drizzle-orm'
import { iso, isoOrNull } from '../../infra/clock.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { servers } from '../fleet/tables.ts'
import { checkOf, isAt } from './proxy-columns.ts'
import { proxies } from './tables.ts'

type Query = ListInput<'id'> & { retired?: '0' | '1' | undefined }

/** An order's present and former addresses for operators, oldest first, with their servers and without passwords. */
export const orderProxyList = (orderId: number) =>
  defineList<Query, OrderProxy>({
    name: `order_${orderId}_addresses`,
    table: proxies,
    id: proxies.id,
    sort: { id: proxies.id },
    match: (_db, { search, retired }) => ({
      where: [
        retired === undefined ? undefined : (retired === '1' ? eq : ne)(proxies.state, 'retired'),
        search === undefined ? undefined : isAt(search)
      ],
      anyOf: [{ column: proxies.orderId, among: [orderId] }]
    }),
    async load(db, ids) {
      const rows = await db
        .select({
          proxy: proxies,
          ip: sql<string>`host(${proxies.ip})`,
          server: { id: servers.id, name: servers.name, port: servers.proxyPort, status: servers.status }
        })
        .from(proxies)
        .innerJoin(servers, eq(servers.id, proxies.serverId))
        .where(among(proxies.id, ids))
      return rows.map(({ proxy, ip, server }) => ({
        id: proxy.id,
        ip,
        port: server.port,
        state: proxy.state,
        server_id: server.id,
        server: server.name,
        server_status: server.status,
        ...checkOf(proxy),
        checked_at: isoOrNull(proxy.checkedAt),
        live_at: isoOrNull(proxy.liveAt),
        created_at: iso(proxy.createdAt)
      }))
    }
  })
