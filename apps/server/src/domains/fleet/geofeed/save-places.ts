import { refuse, type ServerPlace } from '@netlet/contract'
import { and, asc, eq, inArray, isNull } from 'drizzle-orm'
import type { Actor } from '../../../infra/actor.ts'
import { command } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import { done, type Result } from '../../../infra/result.ts'
import { checkGeofeed } from '../../settings/index.ts'
import { servers } from '../tables.ts'
import { lineOf, placeOf } from './propose.ts'
import { serverPlaces } from './tables.ts'

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
