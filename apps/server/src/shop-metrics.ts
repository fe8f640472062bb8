import { Gauge, Registry } from 'prom-client'
import { checkInvariants } from './backup/checks.ts'
import { countLowStock } from './domains/catalog/index.ts'
import { waitingEvents } from './domains/commerce/index.ts'
import { readStockMap, sharedRead } from './domains/home/index.ts'
import { mailTroubles, waitingMails } from './domains/mail/index.ts'
import { orders, undelivered } from './domains/orders/tables.ts'
import { serversHealth } from './domains/servers/index.ts'
import { readRehearsal } from './domains/settings/index.ts'
import { agentUsers } from './domains/servers/tables.ts'
import { webhookDeliveries } from './domains/webhooks/tables.ts'
import { MINUTE } from './infra/clock.ts'
import type { AppContext } from './infra/context.ts'
import { readOrTimeOut } from './infra/db/client.ts'
import { and, count, eq, min, ne, sql } from './infra/db/drizzle.ts'
import { queueFigures } from './infra/job-schedules.ts'

/** Milliseconds for which all scrapes of this process share one read. */
const BRIEF = 5_000
/** How often the invariants are checked, which reads whole tables, and how long one statement of it may take. */
const INVARIANTS_EVERY = 30 * MINUTE
const INVARIANTS_MS = 5 * MINUTE

/** A figure with its labels. */
type Sample = { labels?: Record<string, string>; value: number }
type Figures = { name: string; help: string; samples: Sample[] }[]

/**
 * The figures of the whole shop, read from the database: the same whichever process is asked, so Prometheus asks one.
 * @returns a function that gives them in Prometheus' format. What cannot be read is left out, and counted.
 */
export function shopMetrics(ctx: AppContext): () => Promise<{ type: string; text: string }> {
  const readers = [readJobs, readServers, readMails, readWebhooks, readEvents, readOrders, readStock, readBackups]
  const invariants = readInvariants(ctx)
  const read = sharedRead(ctx.now, BRIEF, async () => {
    const results = await Promise.allSettled(readers.map(reader => reader(ctx)))
    const failed = results.flatMap(result => (result.status === 'rejected' ? [result.reason as unknown] : []))
    for (const err of failed) ctx.log.warn({ err }, 'figures for the metrics could not be read')
    const unread = { name: 'netlet_metrics_unread', help: 'Groups of figures that could not be read' }
    return [
      ...results.flatMap(result => (result.status === 'fulfilled' ? result.value : [])),
      ...invariants(),
      { ...unread, samples: [{ value: failed.length }] }
    ]
  })
  return async () => {
    const registry = new Registry()
    for (const { name, help, samples } of await read()) {
      // A gauge without labels would begin with 0.
      const labelNames = samples[0] ? Object.keys(samples[0].labels ?? {}) : ['none']
      const gauge = new Gauge({ name, help, labelNames, registers: [registry] })
      for (const { labels = {}, value } of samples) gauge.set(labels, value)
    }
    return { type: registry.contentType, text: await registry.metrics() }
  }
}

const secondsSince = ({ now }: Pick<AppContext, 'now'>, date: Date | null): number =>
  date === null ? 0 : Math.max(0, (now().getTime() - date.getTime()) / 1000)

async function readJobs(ctx: AppContext): Promise<Figures> {
  const queues = await queueFigures(ctx.db)
  const of = (value: (queue: (typeof queues)[number]) => number): Sample[] =>
    queues.map(queue => ({ labels: { queue: queue.name }, value: value(queue) }))
  return [
    { name: 'netlet_jobs_waiting', help: 'Due jobs', samples: of(({ waiting }) => waiting) },
    { name: 'netlet_jobs_running', help: 'Running jobs', samples: of(({ active }) => active) },
    { name: 'netlet_jobs_dead', help: 'Jobs that used all their attempts', samples: of(({ dead }) => dead) },
    {
      name: 'netlet_jobs_oldest_seconds',
      help: 'Age of the oldest due job',
      samples: of(({ oldest }) => secondsSince(ctx, oldest))
    }
  ]
}

async function readServers(ctx: AppContext): Promise<Figures> {
  const { total, reachable, troubled } = await serversHealth(ctx.db, ctx.now())
  const behind = await ctx.db
    .selectDistinct({ server: agentUsers.serverId })
    .from(agentUsers)
    .where(ne(agentUsers.generation, agentUsers.appliedGeneration))
  const of = (state: string, value: number): Sample => ({ labels: { state }, value })
  return [
    {
      name: 'netlet_servers',
      help: 'Servers, by whether their agent responds',
      samples: [of('reachable', reachable), of('unreachable', total - reachable)]
    },
    {
      name: 'netlet_servers_troubled',
      help: 'Servers that respond but have a problem',
      samples: [{ value: troubled.length }]
    },
    {
      name: 'netlet_servers_behind',
      help: 'Servers whose agent lacks some changes',
      samples: [{ value: behind.length }]
    }
  ]
}

async function readMails(ctx: AppContext): Promise<Figures> {
  const { waiting, oldest } = await waitingMails(ctx.db)
  const { failed } = await mailTroubles(ctx.db)
  return [
    { name: 'netlet_mails_waiting', help: 'Emails waiting to be sent', samples: [{ value: waiting }] },
    {
      name: 'netlet_mails_oldest_seconds',
      help: 'Age of the oldest waiting email',
      samples: [{ value: secondsSince(ctx, oldest) }]
    },
    { name: 'netlet_mails_failed', help: 'Emails that failed permanently', samples: [{ value: failed }] }
  ]
}

async function readWebhooks({ db }: AppContext): Promise<Figures> {
  const waiting = await db.$count(webhookDeliveries, eq(webhookDeliveries.state, 'waiting'))
  const help = 'Waiting webhook deliveries'
  return [{ name: 'netlet_webhooks_waiting', help, samples: [{ value: waiting }] }]
}

async function readEvents(ctx: AppContext): Promise<Figures> {
  const { count: waiting, oldest } = await waitingEvents(ctx.db)
  return [
    { name: 'netlet_platform_events_waiting', help: 'Unprocessed platform events', samples: [{ value: waiting }] },
    {
      name: 'netlet_platform_events_oldest_seconds',
      help: 'Age of the oldest unprocessed platform event',
      samples: [{ value: secondsSince(ctx, oldest) }]
    }
  ]
}

async function readBackups({ db }: AppContext): Promise<Figures> {
  const rehearsal = await readRehearsal(db)
  const help = 'Time of the last restore test, if it succeeded'
  const samples = rehearsal?.error === null ? [{ value: Date.parse(rehearsal.at) / 1000 }] : []
  return [{ name: 'netlet_backup_rehearsed_timestamp_seconds', help, samples }]
}

async function readOrders(ctx: AppContext): Promise<Figures> {
  const [found] = await ctx.db
    .select({ orders: count(), oldest: min(orders.paidAt) })
    .from(orders)
    .where(and(undelivered(orders), sql`${orders.deletedAt} is null`))
  return [
    {
      name: 'netlet_orders_undelivered',
      help: 'Paid orders without a proxy',
      samples: [{ value: found?.orders ?? 0 }]
    },
    {
      name: 'netlet_orders_undelivered_oldest_seconds',
      help: 'Time since the payment of the oldest of them',
      samples: [{ value: secondsSince(ctx, found?.oldest ?? null) }]
    }
  ]
}

/** Of each group only the rule that has least: there are many rules. */
async function readStock({ db }: AppContext): Promise<Figures> {
  const { groups, free } = await readStockMap(db)
  const samples = groups.map(({ name, family }, at) => ({
    labels: { group: name, family },
    value: Math.min(...(free[at] ?? [0]))
  }))
  return [
    { name: 'netlet_stock_addresses', help: 'Free addresses of a group under its scarcest rule', samples },
    { name: 'netlet_products_low', help: 'Products low on stock', samples: [{ value: await countLowStock(db) }] }
  ]
}

/** Checked in the background, because no scrape waits that long. */
function readInvariants(ctx: AppContext): () => Figures {
  let figures: Figures = []
  let checkedAt = -Infinity
  const check = async () => {
    const found = await readOrTimeOut(ctx.db, INVARIANTS_MS, checkInvariants)
    if (!found) throw new Error('they take too long')
    const samples = Object.entries(found).map(([invariant, value]) => ({ labels: { invariant }, value }))
    figures = [
      {
        name: 'netlet_invariant_violations',
        help: 'Contradictions between money or leases and their records',
        samples
      },
      {
        name: 'netlet_invariants_checked_timestamp_seconds',
        help: 'Time of that check',
        samples: [{ value: ctx.now().getTime() / 1000 }]
      }
    ]
  }
  return () => {
    if (performance.now() - checkedAt >= INVARIANTS_EVERY) {
      checkedAt = performance.now()
      check().catch((error: unknown) => ctx.log.warn({ err: error }, 'the invariants could not be checked'))
    }
    return figures
  }
}
