/**
 * The public status page (docs/STATUS.md): the state of each location, its last 90 days, incidents, and subscribers. It
 * owns status_days, status_cursor, incidents, incident_updates, incident_locations, incident_outages and
 * status_subscribers. Other domains use `incidentsOfOutages` and `linkIncidentIn`. The results of proxy checks come
 * through a port, because their domain is higher.
 */
export { statusJobs } from './jobs.ts'
export { locationsOfServers } from './locations.ts'
export { incidentsOfOutages, linkIncidentIn } from './incidents.ts'
export { statusRetention } from './jobs.ts'
export { figureRoutes, statusRoutes, statusUnsubscribeRoutes } from './routes.ts'
export { sampleStatus } from './sample.ts'
export { type ReadProxyChecks } from './states.ts'
export { forgetSubscriber } from './subscribers.ts'
