// The public status page: the state of each location, 90 days of it, incidents, and who is mailed of them.
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

/** One day (UTC) of a location; all figures are of the time that was watched. */
export const LocationDay = z.object({
  /** `unknown`: nobody watched. `maintenance`: it was in maintenance whenever it was watched. */
  state: z.enum(LOCATION_STATES),
  /** Percent of the time of its servers without maintenance that they worked, 2 decimals; null: there is none. */
  up: z.number().nullable(),
  /** Minutes, of all its servers on average. */
  degraded: z.number(),
  down: z.number(),
  maintenance: z.number()
})
export type LocationDay = z.infer<typeof LocationDay>

export const StatusLocation = z.object({
  id: z.number(),
  /** As plans call it. */
  name: z.string(),
  translations: Translations,
  state: z.enum(LOCATION_STATES),
  /** Of all days; see the day. */
  up: z.number().nullable(),
  /** The oldest first, today last. */
  days: z.array(LocationDay)
})
export type StatusLocation = z.infer<typeof StatusLocation>

export const IncidentUpdate = z.object({
  id: z.number(),
  state: z.enum(INCIDENT_STATES),
  /** Plain text of several lines; empty where the shop itself wrote it. */
  text: z.string(),
  at: Time
})
export type IncidentUpdate = z.infer<typeof IncidentUpdate>

const incident = {
  id: z.number(),
  title: z.string(),
  severity: z.enum(INCIDENT_SEVERITIES),
  /** Of its last update; planned work begins and ends by the clock. */
  state: z.enum(INCIDENT_STATES),
  started_at: Time,
  /** When planned work is to end; null for an incident. */
  ends_at: Time.nullable(),
  /** When it ended; null: it has not. */
  resolved_at: Time.nullable(),
  /** The newest first. */
  updates: z.array(IncidentUpdate)
}

/** An incident as everybody sees it, with the names of its locations. */
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
  /** The worst state of a location; `unknown` where there is none that is known. */
  state: z.enum(LOCATION_STATES),
  locations: z.array(StatusLocation),
  /** What goes on, or is planned; then what has ended within the 90 days. Of each the newest first. */
  current: z.array(PublicIncident),
  past: z.array(PublicIncident)
})
export type StatusPage = z.infer<typeof StatusPage>

/** What the shop can say of itself in figures; none of them names a customer, or tells what was sold. */
export const ShopFigures = z.object({
  /** Where plans on sale are: by number of locations, most first. A location with servers in two countries is in both. */
  countries: z.array(
    z.object({
      /** ISO 3166-1, two letters; null: it is not known where these are. */
      code: z.string().nullable(),
      locations: z.number(),
      /** As plans call them, the first 20. */
      names: z.array(z.string())
    })
  ),
  /**
   * IPv4 addresses, and IPv6 /64s, that can be leased now under some rule: rounded down to two digits, below 100 to tens,
   * so that single sales seldom show.
   */
  addresses: z.number(),
  networks: z.number(),
  /** Seconds from paid until all addresses worked, of half the orders of the last 7 days; null: too few to say. */
  delivery_seconds: z.number().nullable(),
  /** Of the last 90 days, as on the status page. `days`: of how many of them it is known. Null: of none. */
  uptime: z.object({ percent: z.number(), days: z.number() }).nullable(),
  /** `words`: of the locations. */
  translations: Translations
})
export type ShopFigures = z.infer<typeof ShopFigures>

/** An incident as operators see it. */
export const Incident = z.object({
  ...incident,
  locations: z.array(IdName),
  /** Who wrote it. */
  created_by: z.string(),
  created_at: Time,
  /** Outages that name it: a credit of them tells their customers. */
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
  /** By default now. */
  started_at: emptyOr(Instant()),
  /** Of planned work, which needs it. */
  ends_at: emptyOr(Instant())
}

/** `state` and `text` of the first update; by default it is being investigated, or planned. */
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

/** Corrects what an update says; nobody is mailed again. `was`: what it said as the form was opened. */
export const IncidentCorrection = z.object({
  text: text(message('enter_what_is_new'), MAX_TEXT),
  was: z.string().max(MAX_TEXT).optional()
})

/** Null, or an empty choice: none. */
export const OutageIncidentForm = z.object({
  incident_id: z.union([z.literal('').transform(() => null), Id, z.null()], { error: message('must_select') })
})

export const SubscribeForm = z.object({ email: email(), language: z.enum(LANGUAGES).default('en') })

const token = { token: z.string().max(1000).default('') }
const I = '/api/status/incidents'

export const status = {
  page: route('GET', '/api/status/', {
    summary: 'The state of each location, 90 days of it, and incidents',
    access: 'public',
    reply: StatusPage
  }),
  figures: route('GET', '/api/status/figures/', {
    summary:
      'Countries, addresses in stock, time of delivery and uptime, measured by the shop itself; up to 30 seconds old',
    access: 'public',
    reply: ShopFigures
  }),
  publicIncident: route('GET', '/api/status/incident/:id/', {
    summary: 'One incident, however long ago',
    access: 'public',
    params: IdParams,
    reply: PublicIncident
  }),
  subscribe: route('POST', '/api/status/subscribe/', {
    summary:
      'Ask for mails about incidents; the address gets a link that confirms it. The reply is the same for every address',
    access: 'public',
    body: SubscribeForm,
    reply: Done
  }),
  confirm: route('POST', '/api/status/confirm/', {
    summary: 'Confirm an address by the link that it was mailed',
    access: 'public',
    body: z.object({ token: z.string().max(1000) }),
    reply: Done
  }),
  openUnsubscribe: route('GET', '/api/status/unsubscribe/', {
    summary: "Where a mail's List-Unsubscribe leads a browser: the page that asks first",
    access: 'public',
    query: z.object(token),
    reply: Done,
    raw: 'redirect'
  }),
  unsubscribe: route('POST', '/api/status/unsubscribe/', {
    summary: 'End the mails about incidents by the link in one of them (RFC 8058), and forget the address',
    access: 'public',
    query: z.object(token),
    body: z.object({}).optional(),
    reply: Done
  }),
  incidents: route('GET', `${I}/`, {
    summary: 'Incidents and planned work, found by title',
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
    summary: 'How many confirmed addresses are mailed about incidents',
    access: 'admin',
    permission: 'incidents.view',
    reply: z.object({ confirmed: z.number() })
  }),
  createIncident: route('POST', `${I}/`, {
    summary: 'Write an incident or planned work; everybody sees it, and subscribers are mailed',
    access: 'admin',
    permission: 'incidents.change',
    body: IncidentForm,
    reply: Incident
  }),
  updateIncident: route('PUT', `${I}/:id/`, {
    summary: 'Edit an incident; nobody is mailed',
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
    summary: 'Say what is new of an incident, or that it has ended; subscribers are mailed. Sent twice it is one',
    access: 'admin',
    permission: 'incidents.change',
    params: IdParams,
    body: IncidentUpdateForm,
    reply: Incident
  }),
  correctUpdate: route('PUT', '/api/status/updates/:id/', {
    summary: 'Correct what an update says; nobody is mailed again',
    access: 'admin',
    permission: 'incidents.change',
    params: IdParams,
    body: IncidentCorrection,
    reply: Incident
  }),
  incidentOfOutage: route('POST', '/api/servers/outages/:id/incident/', {
    summary: 'Write an incident of an outage that was seen: its credit names it',
    access: 'admin',
    permission: 'incidents.change',
    params: IdParams,
    body: IncidentForm,
    reply: Incident
  }),
  nameIncident: route('POST', '/api/servers/outages/:id/name_incident/', {
    summary: 'Say which incident an outage was; customers who are credited for it are told',
    access: 'admin',
    permission: 'incidents.change',
    params: IdParams,
    body: OutageIncidentForm,
    reply: Done
  })
}
