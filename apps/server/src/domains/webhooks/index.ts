/**
 * Outgoing webhooks: endpoints of customers and operators, events for them, and the job that posts these. It owns
 * webhook_endpoints, webhook_events, webhook_deliveries and webhook_attempts. Others tell of what they changed by `emitEvent`
 * within their command, and know nothing of who listens.
 */
export { testEndpoint } from './asked.ts'
export { createEndpoint, exportEndpoints, forgetEndpoints } from './endpoints.ts'
export { emitEvent, type Happened } from './emit.ts'
export { webhookJobs } from './jobs.ts'
export { webhookRetention } from './retention.ts'
export { webhookRoutes } from './routes.ts'
