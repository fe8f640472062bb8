// States that the status page lists, without the validation library: a page imports them from here.

/** `maintenance`: an operator took its servers out of use. `unknown`: nobody looked, or it has no server. */
export const LOCATION_STATES = ['up', 'degraded', 'down', 'maintenance', 'unknown'] as const
export type LocationState = (typeof LOCATION_STATES)[number]

/** `maintenance` is planned work: it has an end from the beginning, and nobody is to blame. */
export const INCIDENT_SEVERITIES = ['minor', 'major', 'critical', 'maintenance'] as const
export type IncidentSeverity = (typeof INCIDENT_SEVERITIES)[number]

/** How far an incident is; the last of each three or four ends it. */
export const INCIDENT_STATES = [
  'investigating',
  'identified',
  'monitoring',
  'resolved',
  'scheduled',
  'in_progress',
  'completed'
] as const
export type IncidentState = (typeof INCIDENT_STATES)[number]

/** The states of planned work; the others are those of an incident. */
export const MAINTENANCE_STATES = ['scheduled', 'in_progress', 'completed'] as const satisfies readonly IncidentState[]

/** Has it ended? */
export const isEnded = (state: IncidentState): boolean => state === 'resolved' || state === 'completed'

/** What a list of incidents can be narrowed to. */
export const INCIDENT_VIEWS = ['open', 'ended'] as const
export type IncidentView = (typeof INCIDENT_VIEWS)[number]

/** Days that the status page goes back, today among them. */
export const STATUS_DAYS = 90
