// The public status page: the state of each location, its last 90 days, incidents, and subscriptions to mails.
import { z } from 'zod'
import { email } from './account-fields.ts'
import { message } from './form-messages.ts'
import { LANGUAGES } from './languages.ts'
import { listQuery, page } from './list.ts'
import { route } from './route.ts'
import { Done, formVersion, Id, IdName, IdParams, Instant, optionalText, text, Time } from './shapes.ts'
import { INCIDENT_SEVERITIES, INCIDENT_STATES, INCIDENT_VIEWS, LOCATION_STATES } from './status-states.ts'
import { Translations } from './translations.ts'

const MAX_TEXT = 5000
const MAX_LOCATIONS = 500

/** One day (UTC) of a location. Figures cover the monitored time. */
export const LocationDay = z.object({
  /** `unknown`: not monitored. `maintenance`: in maintenance for all of the monitored time. */
  state: z.enum(LOCATION_STATES),
  /** Percentage of the time without maintenance in which its servers worked, 2 decimals; null if there was none. */
  up: z.number().nullable(),
  /** Minutes, averaged over its servers. */
  degraded: z.number(),
  down: z.number(),
  maintenance: z.number()
})
export type LocationDay = z.infer<typeof LocationDay>

export const StatusLocation = z.object({
  id: z.number(),
  /** The name in plans. */
  name: z.string(),
  translations: Translations,
  state: z.enum(LOCATION_STATES),
  /** Over all days; see `LocationDay`. */
  up: z.number().nullable(),
  /** Oldest first; the last is today. */
  days: z.array(LocationDay)
})
export type StatusLocation = z.infer<typeof StatusLocation>

export const IncidentUpdate = z.object({
  id: z.number(),
  state: z.enum(INCIDENT_STATES),
  /** Plain text of several lines; empty if the shop itself wrote it. */
  text: z.string(),
  at: Time
})
export type IncidentUpdate = z.infer<typeof IncidentUpdate>

const incident = {
  id: z.number(),
  title: z.string(),
  severity: z.enum(INCIDENT_SEVERITIES),
  /** The last update's state. Planned work starts and ends by the clock. */
  state: z.enum(INCIDENT_STATES),
  started_at: Time,
  /** The end of planned work; null for an incident. */
  ends_at: Time.nullable(),
  /** When it ended; null: not yet. */
  resolved_at: Time.nullable(),
  /** Newest first. */
  updates: z.array(IncidentUpdate)
}

/** A public incident with the names of its locations. */
export const PublicIncident = z.object({
  ...incident,
  locations: z.array(z.string()),
  /** `words`: of its locations. */
  translations: Translations
})
export type PublicIncident = z.infer<typeof PublicIncident>

export const StatusPage = z.object({
  at: Time,
  /** The first of the 90 days. */
  from: z.string(),
  /** The worst state of a location; `unknown` if none is known. */
  state: z.enum(LOCATION_STATES),
  locations: z.array(StatusLocation),
  /** Current or planned incidents, then those that ended within 90 days, each newest first. */
  current: z.array(PublicIncident),
  past: z.array(PublicIncident)
})
export type StatusPage = z.infer<typeof StatusPage>

/** Figures that the shop publishes. They identify no customer and no sale. */
export const ShopFigures = z.object({
  /** Countries by number of locations, most first. A location with servers in two countries counts in both. */
  countries: z.array(
    z.object({
      /** ISO 3166-1, two letters; null: unknown. */
      code: z.string().nullable(),
      locations: z.number(),
      /** The first 20 names, as in plans. */
      names: z.array(z.string())
    })
  ),
  /**
   * IPv4 addresses and IPv6 /64s that can be leased now under some rule: rounded down to two digits, below 100 to tens,
   * so that single sales rarely show.
   */
  addresses: z.number(),
  networks: z.number(),
  /** Median seconds from payment to working addresses over the last 7 days; null: too few orders. */
  delivery_seconds: z.number().nullable(),
  /** Over the last 90 days, as on the status page. `days`: how many of them are known. Null: none. */
  uptime: z.object({ percent: z.number(), days: z.number() }).nullable(),
  /** `words`: of the locations. */
  translations: Translations
})
export type ShopFigures = z.infer<typeof ShopFigures>

/** An incident for operators. */
export const Incident = z.object({
  ...incident,
  locations: z.array(IdName),
  /** Who wrote it. */
  created_by: z.string(),
  created_at: Time,
  /** Linked outages. Crediting one mails its customers about this incident. */
  outages: z.array(z.object({ id: z.number(), server: z.string(), started_at: Time, ended_at: Time.nullable() })),
  version: z.string()
})
export type Incident = z.infer<typeof Incident>

const emptyOr = <S extends z.ZodType>(schema: S) =>
  z.union([z.literal('').transform(() => undefined), schema]).optional()

const incidentFields = {
  title: text(message('enter_title'), 200),
  severity: z.enum(INCIDENT_SEVERITIES, message('must_select')),
  locations: z.array(Id).min(1, message('must_select')).max(MAX_LOCATIONS, message('too_many_ids')),
  /** Default: now. */
  started_at: emptyOr(Instant()),
  /** Required for planned work. */
  ends_at: emptyOr(Instant())
}

/** `state` and `text` of the first update; by default it is being investigated, or scheduled. */
export const IncidentForm = z.object({
  ...incidentFields,
  state: emptyOr(z.enum(INCIDENT_STATES, message('must_select'))),
  text: optionalText(MAX_TEXT)
})
export type IncidentForm = z.output<typeof IncidentForm>

export const IncidentEdit = z.object(incidentFields)
export type IncidentEdit = z.output<typeof IncidentEdit>

export const IncidentUpdateForm = z.object({
  state: z.enum(INCIDENT_STATES, message('must_select')),
  text: text(message('enter_what_is_new'), MAX_TEXT)
})
export type IncidentUpdateForm = z.output<typeof IncidentUpdateForm>

/** Corrects an update's text, without new mails. `was`: the text when the form was opened. */
export const IncidentCorrection = z.object({
  text: text(message('enter_what_is_new'), MAX_TEXT),
  was: z.string().max(MAX_TEXT).optional()
})

/** Null or empty: none. */
export const OutageIncidentForm = z.object({
  incident_id: z.union([z.literal('').transform(() => null), Id, z.null()], { error: message('must_select') })
})

export const SubscribeForm = z.object({ email: email(), language: z.enum(LANGUAGES).default('en') })

const token = { token: z.string().max(1000).default('') }
const I = '/api/status/incidents'

export const status = {
  page: route('GET', '/api/status/', {
    summary: 'Status of each location over the last 90 days, with incidents',
    access: 'public',
    reply: StatusPage
  }),
  figures: route('GET', '/api/status/figures/', {
    summary: 'Countries, addresses in stock, delivery time and uptime, measured by the shop; up to 30 seconds old',
    access: 'public',
    reply: ShopFigures
  }),
  publicIncident: route('GET', '/api/status/incident/:id/', {
    summary: 'One incident of any age',
    access: 'public',
    params: IdParams,
    reply: PublicIncident
  }),
  subscribe: route('POST', '/api/status/subscribe/', {
    summary:
      'Subscribe to incident emails; the address gets a confirmation link. The response is the same for every address',
    access: 'public',
    body: SubscribeForm,
    reply: Done
  }),
  confirm: route('POST', '/api/status/confirm/', {
    summary: 'Confirm a subscription with the emailed link',
    access: 'public',
    body: z.object({ token: z.string().max(1000) }),
    reply: Done
  }),
  openUnsubscribe: route('GET', '/api/status/unsubscribe/', {
    summary: 'Redirects a browser from List-Unsubscribe to the page that asks first',
    access: 'public',
    query: z.object(token),
    reply: Done,
    raw: 'redirect'
  }),
  unsubscribe: route('POST', '/api/status/unsubscribe/', {
    summary: 'Unsubscribe from incident emails by their one-click link (RFC 8058), and delete the address',
    access: 'public',
    bodyLimit: 16 * 1024,
    query: z.object(token),
    body: z.object({}).optional(),
    reply: Done
  }),
  incidents: route('GET', `${I}/`, {
    summary: 'Incidents and planned maintenance; search by title',
    access: 'admin',
    permission: 'incidents.view',
    query: listQuery({ sort: ['id'], filters: { view: z.enum(INCIDENT_VIEWS).optional() } }),
    reply: page(Incident)
  }),
  incident: route('GET', `${I}/:id/`, {
    summary: 'One incident',
    access: 'admin',
    permission: 'incidents.view',
    params: IdParams,
    reply: Incident
  }),
  subscribers: route('GET', '/api/status/subscribers/', {
    summary: 'Number of confirmed subscribers to incident emails',
    access: 'admin',
    permission: 'incidents.view',
    reply: z.object({ confirmed: z.number() })
  }),
  createIncident: route('POST', `${I}/`, {
    summary: 'Create an incident or maintenance; it is public, and subscribers get an email',
    access: 'admin',
    permission: 'incidents.change',
    body: IncidentForm,
    reply: Incident
  }),
  updateIncident: route('PUT', `${I}/:id/`, {
    summary: 'Edit an incident without emailing subscribers',
    access: 'admin',
    permission: 'incidents.change',
    params: IdParams,
    body: IncidentEdit.extend(formVersion),
    reply: Incident
  }),
  deleteIncident: route('DELETE', `${I}/:id/`, {
    summary: 'Delete an incident with its updates',
    access: 'admin',
    permission: 'incidents.change',
    params: IdParams,
    reply: Done
  }),
  addUpdate: route('POST', `${I}/:id/updates/`, {
    summary: 'Post an update to an incident, or end it; subscribers get an email. A repeated request counts once',
    access: 'admin',
    permission: 'incidents.change',
    params: IdParams,
    body: IncidentUpdateForm,
    reply: Incident
  }),
  correctUpdate: route('PUT', '/api/status/updates/:id/', {
    summary: "Correct an update's text without emailing subscribers again",
    access: 'admin',
    permission: 'incidents.change',
    params: IdParams,
    body: IncidentCorrection,
    reply: Incident
  }),
  incidentOfOutage: route('POST', '/api/servers/outages/:id/incident/', {
    summary: 'Create an incident for an outage; credit emails mention it',
    access: 'admin',
    permission: 'incidents.change',
    params: IdParams,
    body: IncidentForm,
    reply: Incident
  }),
  nameIncident: route('POST', '/api/servers/outages/:id/name_incident/', {
    summary: 'Link an outage to an incident; credit emails mention it',
    access: 'admin',
    permission: 'incidents.change',
    params: IdParams,
    body: OutageIncidentForm,
    reply: Done
  })
}
