import { and, eq, inArray, isNull, ne } from 'drizzle-orm'
import type { Executor } from '../../../infra/db/client.ts'
import { serverGroupServers, servers } from '../tables.ts'
import { serverPlaces } from './tables.ts'

/** The countries (ISO 3166-1) where operators say these groups' servers stand, by group. */
export async function countriesOfGroups(
  db: Executor,
  groupIds: readonly number[]
): Promise<ReadonlyMap<number, readonly string[]>> {
  if (groupIds.length === 0) return new Map()
  const rows = await db
    .selectDistinct({ groupId: serverGroupServers.groupId, country: serverPlaces.country })
    .from(serverGroupServers)
    .innerJoin(serverPlaces, and(eq(serverPlaces.serverId, serverGroupServers.serverId), ne(serverPlaces.country, '')))
    .innerJoin(
      servers,
      and(eq(servers.id, serverGroupServers.serverId), isNull(servers.deletedAt), ne(servers.status, 'given_up'))
    )
    .where(inArray(serverGroupServers.groupId, [...groupIds]))
  const countries = new Map<number, string[]>()
  for (const { groupId, country } of rows)
    countries.set(groupId, [...(countries.get(groupId) ?? []), country.toUpperCase()])
  return countries
}
