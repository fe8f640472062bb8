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
import { tagOrder } from './tag-order.ts'
import type { EventHandlers } from './topics.ts'
import { sweepEvents } from './events.ts'

export const commerceJobs = (handlers: EventHandlers): Job[] => [
  job(settlePaymentQueue, {
    purpose: 'Settles a payment that the platform reported: payment, order, points and delivery in one transaction.',
    concurrency: 4,
    importance: 'urgent',
    run: (ctx, { eventId }) => handleEvent(ctx, handlers, eventId)
  }),
  job(applyProductEventQueue, {
    purpose: 'Lets the catalogue follow a change of a product on the platform: of many at once, the newest.',
    // An import of thousands of products must not delay payments.
    importance: 'background',
    run: (ctx, job) => handleProductEvents(ctx, handlers, job)
  }),
  job(sweepEventsQueue, {
    purpose: 'Asks again for stored events of the platform that nobody has handled.',
    cron: '* * * * *',
    atStart: true,
    run: sweepEvents
  }),
  job(tagOrderQueue, {
    purpose: "Tags the platform's order: delivered, renewed, or failed with a note.",
    importance: 'background',
    run: tagOrder
  }),
  job(renewTokenQueue, {
    purpose:
      "Renews the access token that the platform gave for the app's key and secret, hours before it ends, tries one that was refused again, and erases former webhook secrets whose time is over.",
    cron: '*/5 * * * *',
    run: renewToken
  }),
  job(registerWebhooksQueue, {
    purpose:
      'Compares where the platform sends its webhooks, and restores what it dropped: hourly, at the start and after its settings changed.',
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
