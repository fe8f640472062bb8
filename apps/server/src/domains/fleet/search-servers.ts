import type { Found } from '@netlet/contract'
import { and, asc, desc, ilike, isNull, or, sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { containing } from '../../infra/db/like.ts'
import { servers } from './tables.ts'

/** Servers whose name or address equals the text, then those that contain it. The table is small, so it is scanned. */
export function searchServers(db: Executor, text: string, limit: number): Promise<Found['servers']> {
  const ip = sql<string>`host(${servers.ip})`
  const exact = sql<boolean>`(lower(${servers.name}) = ${text.toLowerCase()} or ${ip} = ${text})`
  const pattern = containing(text)
  return db
    .select({ id: servers.id, name: servers.name, ip, status: servers.status, exact })
    .from(servers)
    .where(and(isNull(servers.deletedAt), or(ilike(servers.name, pattern), ilike(ip, pattern))))
    .orderBy(desc(exact), asc(servers.id))
    .limit(limit)
}
