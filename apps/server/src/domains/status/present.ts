import type { Incident, IncidentState, IncidentUpdate, PublicIncident } from '@netlet/contract'
import { iso, isoOrNull } from '../../infra/clock.ts'
import { versionOf } from '../../infra/version.ts'
import { locationsOf, locationWords, type Location } from './locations.ts'
import type { incidentLocations, incidents, incidentUpdates } from './tables.ts'

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

export function presentPublic(whole: WholeIncident, locations: readonly Location[], now: Date): PublicIncident {
  const places = placesOf(whole.places, locations)
  return { ...presentBoth(whole, now), locations: places.map(({ name }) => name), ...locationWords(places) }
}

export function presentIncident(
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
