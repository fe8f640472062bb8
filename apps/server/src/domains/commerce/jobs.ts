import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { AT_START, job, type Job } from '../../infra/job.ts'
import { handleEvent } from './handle-event.ts'
import {
  applyProductEventQueue,
  registerWebhooksQueue,
  settlePaymentQueue,
  sweepEventsQueue,
  tagOrderQueue
} from './queues.ts'
import { registerWebhooks, requestWebhooks } from './register-webhooks.ts'
import { sweepEvents } from './sweep-events.ts'
import { tagOrder } from './tag-order.ts'
import type { EventHandlers } from './topics.ts'

export const commerceJobs = (handlers: EventHandlers): Job[] => [
  job(settlePaymentQueue, {
    purpose: 'Settles a payment that the platform reported: payment, order, points and delivery in one transaction.',
    concurrency: 4,
    run: (ctx, { eventId }) => handleEvent(ctx, handlers, eventId)
  }),
  job(applyProductEventQueue, {
    purpose: 'Lets the catalogue follow a change of a product on the platform.',
    run: (ctx, { eventId }) => handleEvent(ctx, handlers, eventId)
  }),
  job(sweepEventsQueue, {
    purpose: 'Asks again for stored events of the platform that nobody has handled.',
    cron: '* * * * *',
    atStart: true,
    run: sweepEvents
  }),
  job(tagOrderQueue, {
    purpose: "Tags the platform's order: delivered, renewed, or failed with a note.",
    run: tagOrder
  }),
  job(registerWebhooksQueue, {
    purpose: 'Tells the platform where to send its webhooks, at the start and after its settings changed.',
    atStart: true,
    // At the start it only asks for it: a platform that does not answer must not keep the worker from starting.
    run: (ctx, _data, jobId) =>
      jobId === AT_START ? command(ctx, SYSTEM, async unit => requestWebhooks(unit)) : registerWebhooks(ctx)
  })
]
