/**
 * Outgoing webhooks: endpoints of customers and operators, their events, and the job that posts them. It owns
 * webhook_endpoints, webhook_events, webhook_deliveries and webhook_attempts. Other domains call `emitEvent` within
 * their command and do not know who listens.
 */
export { type Happened, emitEvent, testEndpoint } from './emit.ts'
export { createEndpoint, exportEndpoints, forgetEndpoints } from './endpoints.ts'
export { webhookJobs } from './jobs.ts'
export { webhookRetention } from './jobs.ts'
export { webhookRoutes } from './routes.ts'
