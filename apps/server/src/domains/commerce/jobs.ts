import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { AT_START, job, type Job } from '../../infra/job.ts'
import { handleEvent } from './handle-event.ts'
import { handleProductEvents } from './product-events.ts'
import {
  applyProductEventQueue,
  registerWebhooksQueue,
  renewTokenQueue,
  settlePaymentQueue,
  sweepEventsQueue,
  tagOrderQueue
} from './queues.ts'
import { checkPlatform } from './check-platform.ts'
import { registerWebhooks, requestWebhooks } from './register-webhooks.ts'
import { renewToken } from './renew-token.ts'
import { tagOrder } from './platform.ts'
import type { EventHandlers } from './topics.ts'
import { sweepEvents } from './events.ts'

export const commerceJobs = (handlers: EventHandlers): Job[] => [
  job(settlePaymentQueue, {
    purpose: 'Processes a payment from the platform: payment, order, points and delivery in one transaction.',
    concurrency: 4,
    importance: 'urgent',
    run: (ctx, { eventId }) => handleEvent(ctx, handlers, eventId)
  }),
  job(applyProductEventQueue, {
    purpose: 'Applies a product change from the platform to the catalogue. Of several changes, it applies the newest.',
    // An import of thousands of products must not delay payments.
    importance: 'background',
    run: (ctx, job) => handleProductEvents(ctx, handlers, job)
  }),
  job(sweepEventsQueue, {
    purpose: 'Schedules stored platform events that are still unprocessed.',
    cron: '* * * * *',
    atStart: true,
    run: sweepEvents
  }),
  job(tagOrderQueue, {
    purpose: "Tags the platform's order as delivered, renewed, or failed with a note.",
    importance: 'background',
    run: tagOrder
  }),
  job(renewTokenQueue, {
    purpose:
      "Renews the platform's access token hours before it expires, retries a refused one, and deletes expired webhook secrets.",
    cron: '*/5 * * * *',
    run: renewToken
  }),
  job(registerWebhooksQueue, {
    purpose:
      "Checks the platform's webhook registrations and restores missing ones: hourly, at the start, and after a settings change.",
    cron: '17 * * * *',
    atStart: true,
    // At the start it only enqueues the work: a silent platform must not keep the worker from starting.
    run: async (ctx, _data, jobId) => {
      if (jobId === AT_START) return command(ctx, SYSTEM, async unit => requestWebhooks(unit))
      await checkPlatform(ctx)
      await registerWebhooks(ctx)
    }
  })
]
