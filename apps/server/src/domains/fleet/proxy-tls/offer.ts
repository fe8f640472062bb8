import { and, eq, inArray, isNull, ne } from 'drizzle-orm'
import type { Executor } from '../../../infra/db/client.ts'
import { serverGroupServers, serverReports, servers } from '../tables.ts'
import { tlsOf } from './kept.ts'
import type { TlsOffer } from './names.ts'

/** What these servers' proxies offer over TLS, as their agents last reported. Servers without TLS are left out. */
export async function readOffers(db: Executor, serverIds: number[], now: Date): Promise<Map<number, TlsOffer>> {
  if (serverIds.length === 0) return new Map()
  const rows = await db
    .select({ id: servers.id, agentSettings: servers.agentSettings, report: serverReports.report })
    .from(servers)
    .innerJoin(serverReports, eq(serverReports.serverId, servers.id))
    .where(inArray(servers.id, serverIds))
  return new Map(
    rows.flatMap(row => {
      const { proxy, proxy_names: names = [] } = row.report.certificates ?? {}
      // Clients refuse a certificate past its end. An older agent reports no names.
      if (!proxy || Date.parse(proxy) <= now.getTime() || names.length === 0) return []
      return [[row.id, { names, leads: tlsOf(row)?.leads ?? {} }] as const]
    })
  )
}

export const readOffer = async (db: Executor, serverId: number, now: Date): Promise<TlsOffer | undefined> =>
  (await readOffers(db, [serverId], now)).get(serverId)

/** Which of these groups have TLS on each of their servers. Servers that were given up do not count. */
export async function groupsWithTls(db: Executor, groupIds: number[], now = new Date()): Promise<Set<number>> {
  if (groupIds.length === 0) return new Set()
  const members = await db
    .select({ groupId: serverGroupServers.groupId, serverId: servers.id })
    .from(serverGroupServers)
    .innerJoin(servers, eq(servers.id, serverGroupServers.serverId))
    .where(
      and(inArray(serverGroupServers.groupId, groupIds), isNull(servers.deletedAt), ne(servers.status, 'given_up'))
    )
  const offers = await readOffers(db, [...new Set(members.map(({ serverId }) => serverId))], now)
  const of = Map.groupBy(members, ({ groupId }) => groupId)
  return new Set([...of].filter(([, all]) => all.every(({ serverId }) => offers.has(serverId))).map(([id]) => id))
}
