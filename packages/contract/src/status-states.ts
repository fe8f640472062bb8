// States of the status page, without schemas, so that pages can import them without the validation library.

/** `maintenance`: an operator took its servers out of use. `unknown`: not monitored, or without servers. */
export const LOCATION_STATES = ['up', 'degraded', 'down', 'maintenance', 'unknown'] as const
export type LocationState = (typeof LOCATION_STATES)[number]

/** `maintenance` is planned work, with an end from the start. */
export const INCIDENT_SEVERITIES = ['minor', 'major', 'critical', 'maintenance'] as const
export type IncidentSeverity = (typeof INCIDENT_SEVERITIES)[number]

/** The progress of an incident, then of planned work. The last state of each group ends it. */
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

/** The states of planned work; the others belong to incidents. */
export const MAINTENANCE_STATES = ['scheduled', 'in_progress', 'completed'] as const satisfies readonly IncidentState[]

/** Has it ended? */
export const isEnded = (state: IncidentState): boolean => state === 'resolved' || state === 'completed'

/** Filters of the list of incidents. */
export const INCIDENT_VIEWS = ['open', 'ended'] as const
export type IncidentView = (typeof INCIDENT_VIEWS)[number]

/** Days shown on the status page, including today. */
export const STATUS_DAYS = 90
