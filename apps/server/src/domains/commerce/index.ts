/**
 * The link to the e-commerce platform: its connection, its webhooks, and the tags on its orders. It owns
 * `platform_events`, the inbox of webhooks, where an event is stored once and handled once. What an event causes is done
 * by handlers of higher domains (`EventHandlers`), within the transaction in which this domain writes the outcome.
 */
export { lockEventById, resolveEvent, storeEvent, type EventRow } from './events.ts'
export { handleEvent } from './handle-event.ts'
export { commerceJobs } from './jobs.ts'
export { attentionSentence, type EventResult } from './outcomes.ts'
export { openPlatform, platformRefusal } from './platform.ts'
export { requestWebhooks } from './register-webhooks.ts'
export { commerceRoutes } from './routes.ts'
export { enqueueTags } from './tag-order.ts'
export { type EventHandlers } from './topics.ts'
