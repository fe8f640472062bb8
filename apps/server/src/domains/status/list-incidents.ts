import { refuse, type Incident, type IncidentView, type PublicIncident } from '@netlet/contract'
import { desc, eq, gte, ilike, inArray, isNotNull, isNull, or } from '../../infra/db/drizzle.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { containing } from '../../infra/db/like.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { ok, type Result } from '../../infra/result.ts'
import { serverOutages, servers } from '../servers/tables.ts'
import { readLocations } from './locations.ts'
import { presentIncident, presentPublic, type IncidentRow, type WholeIncident } from './present.ts'
import { incidentLocations, incidentOutages, incidents, incidentUpdates } from './tables.ts'

type Query = ListInput<'id'> & { view?: IncidentView | undefined }

/** Incidents and planned work, by title. */
export const incidentList = (now: () => Date) =>
  defineList<Query, Incident>({
    name: 'incidents',
    table: incidents,
    id: incidents.id,
    sort: { id: incidents.id },
    match: (_db, { search, view }) => ({
      where: [
        view && (view === 'open' ? isNull(incidents.resolvedAt) : isNotNull(incidents.resolvedAt)),
        search === undefined ? undefined : ilike(incidents.title, containing(search))
      ]
    }),
    load: async (db, ids) => readIncidents(db, ids, now())
  })

export async function readIncident(db: Executor, id: number, now: Date): Promise<Result<Incident>> {
  const [incident] = await readIncidents(db, [id], now)
  return incident ? ok(incident) : refuse('not_found')
}

async function readIncidents(db: Executor, ids: number[], now: Date): Promise<Incident[]> {
  const rows = await db.select().from(incidents).where(among(incidents.id, ids))
  const whole = await withParts(db, rows)
  const locations = await readLocations(db)
  const named = await db
    .select({ incidentId: incidentOutages.incidentId, outage: serverOutages, server: servers.name })
    .from(incidentOutages)
    .innerJoin(serverOutages, eq(serverOutages.id, incidentOutages.outageId))
    .innerJoin(servers, eq(servers.id, serverOutages.serverId))
    .where(inArray(incidentOutages.incidentId, ids))
    .orderBy(serverOutages.id)
  return whole.map(one =>
    presentIncident(one, {
      locations,
      now,
      outages: named
        .filter(({ incidentId }) => incidentId === one.incident.id)
        .map(({ outage, server }) => ({
          id: outage.id,
          server,
          started_at: iso(outage.startedAt),
          ended_at: isoOrNull(outage.endedAt)
        }))
    })
  )
}

/** How many ended incidents are shown, newest first. */
const MOST_PAST = 100

/** The public incidents: current, planned, and ended since a time. */
export async function readPublicIncidents(
  db: Executor,
  { since, now }: { since: Date; now: Date }
): Promise<{ current: PublicIncident[]; past: PublicIncident[] }> {
  const rows = await db
    .select()
    .from(incidents)
    .where(or(isNull(incidents.resolvedAt), gte(incidents.resolvedAt, since)))
    .orderBy(desc(incidents.startedAt), desc(incidents.id))
  const open = rows.filter(({ resolvedAt }) => resolvedAt === null)
  const ended = rows.filter(({ resolvedAt }) => resolvedAt !== null).slice(0, MOST_PAST)
  const locations = await readLocations(db)
  const shown = async (some: IncidentRow[]) =>
    (await withParts(db, some)).map(one => presentPublic(one, locations, now))
  return { current: await shown(open), past: await shown(ended) }
}

export async function readPublicIncident(db: Executor, id: number, now: Date): Promise<Result<PublicIncident>> {
  const [whole] = await withParts(db, await db.select().from(incidents).where(eq(incidents.id, id)))
  return whole ? ok(presentPublic(whole, await readLocations(db), now)) : refuse('not_found')
}

/** The incidents in the given order, with their updates and locations. */
async function withParts(db: Executor, rows: readonly IncidentRow[]): Promise<WholeIncident[]> {
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return []
  const updates = await db
    .select()
    .from(incidentUpdates)
    .where(inArray(incidentUpdates.incidentId, ids))
    .orderBy(desc(incidentUpdates.id))
  const places = await db.select().from(incidentLocations).where(inArray(incidentLocations.incidentId, ids))
  return rows.map(incident => ({
    incident,
    updates: updates.filter(({ incidentId }) => incidentId === incident.id),
    places: places.filter(({ incidentId }) => incidentId === incident.id)
  }))
}
