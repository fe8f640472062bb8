import { type GeofeedChange, type GeofeedProposal, type ServerPlace, refuse } from '@netlet/contract'
import { cityIn } from '@netlet/contract/places'
import { and, asc, eq, inArray, isNull, ne } from '../../../infra/db/drizzle.ts'
import ipaddr from 'ipaddr.js'
import type { AppContext } from '../../../infra/context.ts'
import { cidrs } from '../../inventory/tables.ts'
import { type GeofeedLine, checkGeofeed, readGeofeed, readSettings } from '../../settings/index.ts'
import { serverGroupServers, serverGroups, servers } from '../tables.ts'
import { serverPlaces } from './tables.ts'
import type { Actor } from '../../../infra/actor.ts'
import { command } from '../../../infra/command.ts'
import { type Result, done } from '../../../infra/result.ts'

type Said = ServerPlace & { server_id: number }

/** A block for documentation, because every line needs a range. */
const SOME_RANGE = '192.0.2.0/24'

/** Sets where servers stand; an empty country removes the place. Refuses all if a geofeed cannot say one. */
export async function savePlaces(ctx: AppContext, by: Actor, places: readonly Said[]): Promise<Result<null>> {
  for (const place of places) {
    const wrong = checkGeofeed(lineOf(SOME_RANGE, place))
    if (wrong) return wrong
  }
  const byServer = new Map(places.map(place => [place.server_id, place]))
  return command(ctx, by, async unit => {
    const { tx } = unit
    const known = await tx
      .select({ id: servers.id, place: serverPlaces })
      .from(servers)
      .leftJoin(serverPlaces, eq(serverPlaces.serverId, servers.id))
      .where(and(inArray(servers.id, [...byServer.keys()]), isNull(servers.deletedAt)))
      .orderBy(asc(servers.id))
      .for('update', { of: servers })
    if (known.length < byServer.size) return refuse('not_found')
    for (const { id, place } of known) {
      const { server_id: _id, country, ...more } = byServer.get(id) as Said
      const now = country === '' ? null : { ...more, country: country.toUpperCase(), region: more.region.toUpperCase() }
      const before = place && placeOf(place)
      if (before ? now !== null && lineOf('', before) === lineOf('', now) : now === null) continue
      if (now)
        await tx
          .insert(serverPlaces)
          .values({ serverId: id, ...now })
          .onConflictDoUpdate({ target: serverPlaces.serverId, set: now })
      else await tx.delete(serverPlaces).where(eq(serverPlaces.serverId, id))
      unit.audit('server.place', id, { before, after: now })
    }
    return done
  })
}

type Range = { prefix: string; server: string; place: ServerPlace | null }

/** Compares the geofeed that the servers' ranges and places make with the saved one. Four queries; nothing changes. */
export async function proposeGeofeed(ctx: Pick<AppContext, 'db' | 'secrets'>): Promise<GeofeedProposal> {
  const { db, secrets } = ctx
  const rows = await db
    .select({ id: servers.id, name: servers.name, cidr: cidrs.cidr, place: serverPlaces })
    .from(servers)
    .innerJoin(cidrs, and(eq(cidrs.serverId, servers.id), isNull(cidrs.deletedAt)))
    .leftJoin(serverPlaces, eq(serverPlaces.serverId, servers.id))
    .where(and(isNull(servers.deletedAt), ne(servers.status, 'given_up')))
    .orderBy(asc(servers.id), asc(cidrs.cidr))
  const groups = await db
    .select({ serverId: serverGroupServers.serverId, name: serverGroups.name })
    .from(serverGroupServers)
    .innerJoin(serverGroups, and(eq(serverGroups.id, serverGroupServers.groupId), isNull(serverGroups.deletedAt)))
    .orderBy(asc(serverGroups.name))
  const saved = readGeofeed((await readSettings(db, secrets)).geofeed)
  const ranges = rows.map(({ name, cidr, place }) => ({ prefix: cidr, server: name, place: place && placeOf(place) }))
  const byServer = Map.groupBy(rows, ({ id }) => id)
  return {
    ...compare(ranges, saved),
    servers: [...byServer].map(([id, own]) => {
      const names = groups.filter(({ serverId }) => serverId === id).map(({ name }) => name)
      const place = own[0]?.place
      return {
        id,
        name: own[0]?.name ?? '',
        ranges: own.length,
        groups: names,
        place: place ? placeOf(place) : null,
        guess: guessPlace(names)
      }
    })
  }
}

const placeOf = ({ country, region, city, postal }: ServerPlace): ServerPlace => ({
  country,
  region,
  city,
  postal
})

/** The place that the names of a server's groups suggest, if they name only one city. */
function guessPlace(names: readonly string[]): ServerPlace | null {
  const cities = new Map(names.flatMap(name => cityIn(name) ?? []).map(one => [one.city, one]))
  const [only] = cities.size === 1 ? cities.values() : []
  return only ? { ...only, postal: '' } : null
}

/** How the saved lines differ from the ranges' places. */
function compare(
  ranges: readonly Range[],
  saved: readonly GeofeedLine[]
): Pick<GeofeedProposal, 'changes' | 'same' | 'kept'> {
  const lines = new Map(saved.map(line => [line.prefix, line]))
  const changes: GeofeedChange[] = []
  let same = 0
  for (const { prefix, server, place } of ranges) {
    if (!place) continue
    const line = lines.get(prefix)
    const proposed = lineOf(prefix, place)
    if (line && isSame(line, place)) same++
    else changes.push({ kind: line ? 'changed' : 'added', prefix, saved: line?.raw ?? null, proposed, server })
  }
  const proposed = new Set(ranges.filter(({ place }) => place).map(({ prefix }) => prefix))
  const networks = ranges.map(({ prefix }) => ipaddr.parseCIDR(prefix))
  const others = saved.filter(({ prefix }) => !proposed.has(prefix))
  // An operator may have written a more exact place for a part of a range.
  const foreign = others.filter(({ prefix }) => !networks.some(network => isWithin(ipaddr.parseCIDR(prefix), network)))
  for (const { prefix, raw } of foreign)
    changes.push({ kind: 'removed', prefix, saved: raw, proposed: null, server: null })
  return { changes, same, kept: others.length - foreign.length }
}

type Network = ReturnType<typeof ipaddr.parseCIDR>

function isWithin([address, bits]: Network, outer: Network): boolean {
  const [of, ofBits] = outer
  return address.kind() === of.kind() && bits >= ofBits && address.match(outer)
}

/** A line of RFC 8805. It always has all five fields, which readers handle best. */
const lineOf = (prefix: string, { country, region, city, postal }: ServerPlace): string =>
  [prefix, country.toUpperCase(), region.toUpperCase(), city, postal].join(',')

const isSame = ({ fields }: GeofeedLine, { country, region, city, postal }: ServerPlace): boolean =>
  JSON.stringify(fields) === JSON.stringify([country.toUpperCase(), region.toUpperCase(), city, postal])
