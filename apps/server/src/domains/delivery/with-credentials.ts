import { eq, sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { servers } from '../fleet/tables.ts'
import { orders } from '../orders/tables.ts'
import { proxies } from './tables.ts'

/** Proxies with what a client needs: the server's port, and the order's username and password. Add a condition. */
export const selectWithCredentials = (db: Executor) =>
  db
    .select({
      proxy: proxies,
      userId: orders.userId,
      ip: sql<string>`host(${proxies.ip})`,
      port: servers.proxyPort,
      username: orders.proxyUsername,
      password: orders.proxyPassword
    })
    .from(proxies)
    .innerJoin(orders, eq(orders.id, proxies.orderId))
    .innerJoin(servers, eq(servers.id, proxies.serverId))
