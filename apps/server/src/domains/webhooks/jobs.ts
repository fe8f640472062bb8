import { and, asc, eq, lt, sql } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { job, type Job } from '../../infra/job.ts'
import { deliverWebhook, type Sending } from './deliver.ts'
import { jobOptions, sendWebhookQueue, sweepWebhooksQueue } from './queues.ts'
import { webhookDeliveries, webhookEndpoints, webhookEvents } from './tables.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'

/** A delivery overdue by this time has lost its job. */
const FORGOTTEN_MS = 10 * MINUTE
const BATCH = 500

export const webhookJobs = (sending: Sending): Job[] => [
  job(sendWebhookQueue, {
    purpose: 'Sends an event to an endpoint of a customer or the operators. If it fails, it retries for about 3 days.',
    // Slow endpoints share these places, one for each customer.
    concurrency: 4,
    perGroup: 1,
    importance: 'background',
    // Endpoints that answer quickly also have these.
    reserved: 4,
    run: (ctx, { deliveryId }, jobId) => deliverWebhook(ctx, sending, deliveryId, jobId)
  }),
  job(sweepWebhooksQueue, {
    purpose: 'Sends webhook deliveries whose job was lost.',
    cron: '*/5 * * * *',
    importance: 'background',
    run: ctx => sweepDeliveries(ctx)
  })
]

/** Enqueues overdue deliveries; those with a job keep it. @returns how many were overdue */
export const sweepDeliveries = (ctx: AppContext): Promise<number> =>
  command(ctx, SYSTEM, async unit => {
    const due = await unit.tx
      .select({ id: webhookDeliveries.id, endpoint: webhookEndpoints })
      .from(webhookDeliveries)
      .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, webhookDeliveries.endpointId))
      .where(
        and(
          // A literal, or a prepared plan could not use the partial index.
          sql`${webhookDeliveries.state} = 'waiting'`,
          lt(webhookDeliveries.nextAt, new Date(unit.now.getTime() - FORGOTTEN_MS))
        )
      )
      .orderBy(asc(webhookDeliveries.nextAt))
      .limit(BATCH)
    for (const { id, endpoint } of due) unit.jobs.send(sendWebhookQueue, { deliveryId: id }, jobOptions(id, endpoint))
    return due.length
  })

const KEPT_MS = 30 * DAY

export const webhookRetention: RetentionEntry[] = [
  {
    what: 'webhook_events',
    keep: { ms: KEPT_MS },
    why: 'Events sent to webhook endpoints, with each attempt and the start of its response. Deleted events cannot be resent.',
    remove: (unit, before, limit) =>
      removeRows(
        unit,
        webhookEvents,
        and(
          lt(webhookEvents.at, before),
          sql`not exists (select from ${webhookDeliveries} where ${webhookDeliveries.eventId} = ${webhookEvents.id} and ${webhookDeliveries.state} = 'waiting')`
        ),
        limit
      ),
    count: db => countRows(db, webhookEvents, webhookEvents.at)
  },
  {
    what: 'webhook_endpoints',
    keep: { ms: KEPT_MS },
    why: 'Deleted webhook endpoints. The log shows their addresses.',
    remove: (unit, before, limit) => removeRows(unit, webhookEndpoints, lt(webhookEndpoints.deletedAt, before), limit),
    count: db =>
      countRows(db, webhookEndpoints, webhookEndpoints.deletedAt, sql`${webhookEndpoints.deletedAt} is not null`)
  }
]
