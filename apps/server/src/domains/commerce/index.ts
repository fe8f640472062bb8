/**
 * The link to the e-commerce platform: its connection, its webhooks, and the tags on its orders. It owns
 * `platform_events`, which stores and handles each webhook once, `webhook_addresses`, `platform_checks`,
 * `platform_tokens` and `former_webhook_secrets`. Handlers of higher domains (`EventHandlers`) apply an event in the
 * transaction that records its outcome.
 */
export { READ_DISPUTES, checkPlatform, saveCheck, readCheck, recordCheck } from './check-platform.ts'
export {
  EDITED,
  RECONCILED,
  isCancelledThere,
  isIgnoredThere,
  lockEventById,
  resolveEvent,
  resolveEventsOf,
  storeEvent,
  storeFurther,
  type EventRow
} from './events.ts'
export { forgetPayer } from './forget-payer.ts'
export { EventWaits, handleEvent } from './handle-event.ts'
export { countClosedCheckouts, isPaused, platformHealth, testPlatform, testWebhookSecret } from './health.ts'
export { commerceJobs } from './jobs.ts'
export {
  type ChangedRefund,
  type DoubtfulRefund,
  type EventHandlers,
  type EventResult,
  type FurtherOutcome,
  attentionSentence
} from './topics.ts'
export { enqueueTags, openPlatform, platformRefusal } from './platform.ts'
export { registerWebhooks, requestWebhooks } from './register-webhooks.ts'
export { commerceRetention } from './jobs.ts'
export { commerceRoutes } from './routes.ts'
export { countRefused } from './refused-webhooks.ts'
export { countLateEvents, isLate } from './waiting-events.ts'
export { commerceFinders, findRefusedTokens } from './jobs.ts'
export { keepFormerSecret } from './webhook-secrets.ts'
export { waitingEvents } from './waiting-events.ts'
