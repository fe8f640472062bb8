/**
 * The public status page (docs/STATUS.md): how each location does, 90 days of it, what operators tell of incidents, and who
 * is mailed of them. It owns status_days, status_cursor, incidents, incident_updates, incident_locations, incident_outages
 * and status_subscribers. Others read which incident an outage was (`incidentsOfOutages`) and say it (`nameIncidentIn`); what
 * came of the checks of proxies is a port, since these are above.
 */
export { statusJobs } from './jobs.ts'
export { locationsOfServers } from './locations.ts'
export { incidentsOfOutages, nameIncidentIn } from './outage-incident.ts'
export { statusRetention } from './retention.ts'
export { figureRoutes, statusRoutes, statusUnsubscribeRoutes } from './routes.ts'
export { sampleStatus } from './sample.ts'
export { type ReadProxyChecks } from './signs.ts'
export { forgetSubscriber } from './subscribers.ts'
