import {
  type Incident,
  type IncidentState,
  type IncidentUpdate,
  type IncidentView,
  type PublicIncident,
  refuse
} from '@netlet/contract'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { desc, eq, gte, ilike, inArray, isNotNull, isNull, or } from '../../infra/db/drizzle.ts'
import { containing } from '../../infra/db/like.ts'
import { type ListInput, among, defineList } from '../../infra/list/index.ts'
import { type Result, ok } from '../../infra/result.ts'
import { versionOf } from '../../infra/version.ts'
import { serverOutages, servers } from '../servers/tables.ts'
import { type Location, locationWords, locationsOf, readLocations } from './locations.ts'
import { incidentLocations, incidentOutages, incidentUpdates, incidents } from './tables.ts'

export type IncidentRow = typeof incidents.$inferSelect
export type UpdateRow = typeof incidentUpdates.$inferSelect
export type PlaceRow = typeof incidentLocations.$inferSelect

/** An incident with its parts. `updates`: newest first. */
export type WholeIncident = {
  incident: IncidentRow
  updates: readonly UpdateRow[]
  places: readonly PlaceRow[]
}

/** Planned work begins by the clock, even if its last update says otherwise. */
function stateAt({ state, severity, startedAt }: IncidentRow, now: Date): IncidentState {
  if (severity !== 'maintenance' || state === 'completed') return state
  return startedAt <= now ? 'in_progress' : 'scheduled'
}

const presentUpdate = ({ id, state, text, at }: UpdateRow): IncidentUpdate => ({ id, state, text, at: iso(at) })

const presentBoth = ({ incident, updates }: WholeIncident, now: Date) => ({
  id: incident.id,
  title: incident.title,
  severity: incident.severity,
  state: stateAt(incident, now),
  started_at: iso(incident.startedAt),
  ends_at: isoOrNull(incident.endsAt),
  resolved_at: isoOrNull(incident.resolvedAt),
  updates: updates.map(presentUpdate)
})

type Place = Pick<Location, 'id' | 'name' | 'translations'>

/** The current names of an incident's locations, or their names at that time if they no longer exist. */
export function placesOf(places: readonly PlaceRow[], locations: readonly Location[]): Place[] {
  const found = new Map<string, Place>()
  for (const { groupId, name } of places) {
    const [now] = locationsOf(locations, [groupId])
    const place = { id: now?.id ?? groupId, name: now?.name ?? name, translations: now?.translations ?? {} }
    found.set(place.name.toLowerCase(), place)
  }
  return [...found.values()].toSorted((a, b) => a.name.localeCompare(b.name))
}

function presentPublic(whole: WholeIncident, locations: readonly Location[], now: Date): PublicIncident {
  const places = placesOf(whole.places, locations)
  return { ...presentBoth(whole, now), locations: places.map(({ name }) => name), ...locationWords(places) }
}

function presentIncident(
  whole: WholeIncident,
  { locations, outages, now }: { locations: readonly Location[]; outages: Incident['outages']; now: Date }
): Incident {
  const { incident } = whole
  const places = placesOf(whole.places, locations).map(({ id, name }) => ({ id, name }))
  const shown = { ...presentBoth(whole, now), locations: places }
  return {
    ...shown,
    created_by: incident.createdBy,
    created_at: iso(incident.createdAt),
    outages,
    version: versionOf(fieldsOf(shown))
  }
}

type Shown = Pick<Incident, 'title' | 'severity' | 'started_at' | 'ends_at'> & { locations: { id: number }[] }

export const fieldsOf = ({ title, severity, started_at, ends_at, locations }: Shown) => ({
  title,
  severity,
  started_at,
  ends_at,
  locations: locations.map(({ id }) => id).toSorted((a, b) => a - b)
})

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
