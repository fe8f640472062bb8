import type { Translations } from '@netlet/contract'
import { inArray, sql } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { products, variants } from '../catalog/tables.ts'
import { serverGroups, serverGroupServers } from '../servers/tables.ts'
import { leases } from '../inventory/tables.ts'

/** A place by its plans' name, in each language, and the server groups that sell it. `id` is their lowest. */
export type Location = { id: number; name: string; translations: Translations; groupIds: number[] }

/**
 * The public locations. A group belongs to the location that most of its plans name, or else to one with its own name;
 * groups with the same name are one location. Only groups of plans on sale or of live leases are included. Plans that
 * are no longer sold name a group only if no other plan does. Sorted by name.
 * @param onSale without groups that only have live leases
 */
export async function readLocations(db: Executor, { onSale = false } = {}): Promise<Location[]> {
  const { rows } = await db.execute<{ group_id: number; name: string; word: string | null }>(sql`
    with offers as (
      select v.server_group_id as group_id, coalesce(nullif(trim(v.description), ''), trim(g.name)) as name,
        p.translations #> '{zh-CN,words}' as words,
        (v.is_active and v.deleted_at is null and p.active and p.valid and p.deleted_at is null) as on_sale
      from ${variants} v
      join ${products} p on p.id = v.product_id
      join ${serverGroups} g on g.id = v.server_group_id and g.deleted_at is null
    ), named as (
      select distinct on (group_id) group_id, name, on_sale, mode() within group (order by words ->> name) as word from offers
      group by group_id, name, on_sale order by group_id, on_sale desc, count(*) desc, name
    )
    select group_id, name, word from named
    where on_sale or not ${onSale} and group_id in (select l.group_id from ${leases} l where l.state = 'active')
    order by group_id`)
  const byName = new Map<string, Location>()
  for (const { group_id: id, name, word } of rows) {
    const key = name.toLowerCase()
    const { groupIds, ...known } = byName.get(key) ?? { id, name, translations: {}, groupIds: [] }
    const translations = word && !known.translations['zh-CN'] ? { 'zh-CN': { name: word } } : known.translations
    byName.set(key, { ...known, translations, groupIds: [...groupIds, id] })
  }
  return [...byName.values()].toSorted((a, b) => a.name.localeCompare(b.name))
}

/** The locations' names in other languages, by name, for a reply. */
export function locationWords(locations: readonly Pick<Location, 'name' | 'translations'>[]) {
  const words = Object.fromEntries(
    locations.flatMap(({ name, translations }) => {
      const word = translations['zh-CN']?.name
      return word ? [[name, word]] : []
    })
  )
  return Object.keys(words).length > 0 ? { translations: { 'zh-CN': { words } } } : {}
}

/** The locations of these groups, each once. Unknown groups are left out. */
export const locationsOf = (locations: readonly Location[], groupIds: readonly number[]): Location[] =>
  locations.filter(location => location.groupIds.some(id => groupIds.includes(id)))

/** The locations that currently sell from servers, by server. */
export async function locationsOfServers(
  db: Executor,
  serverIds: readonly number[]
): Promise<ReadonlyMap<number, { id: number; name: string }[]>> {
  if (serverIds.length === 0) return new Map()
  const groups = await db
    .select()
    .from(serverGroupServers)
    .where(inArray(serverGroupServers.serverId, [...serverIds]))
  const locations = await readLocations(db)
  return new Map(
    serverIds.map(id => {
      const own = groups.filter(({ serverId }) => serverId === id).map(({ groupId }) => groupId)
      return [id, locationsOf(locations, own).map(location => ({ id: location.id, name: location.name }))]
    })
  )
}
