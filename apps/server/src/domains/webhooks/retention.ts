import { and, lt, sql } from '../../infra/db/drizzle.ts'
import { DAY } from '../../infra/clock.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { webhookDeliveries, webhookEndpoints, webhookEvents } from './tables.ts'

const KEPT_MS = 30 * DAY

export const webhookRetention: RetentionEntry[] = [
  {
    what: 'webhook_events',
    keep: { ms: KEPT_MS },
    why: 'Events sent to webhook endpoints, with each attempt and the start of its answer. Deleted events cannot be resent.',
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
