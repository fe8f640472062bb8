import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from './infra/db/drizzle.ts'
import { comparePrices, countPriceDrifts, findUnsellable } from './domains/catalog/index.ts'
import { checkPlatform, platformHealth, registerWebhooks } from './domains/commerce/index.ts'
import { checkServers } from './domains/convergence/index.ts'
import { serversHealth } from './domains/servers/index.ts'
import { mailTroubles, sendMailQueue, waitingMails } from './domains/mail/index.ts'
import { countUnresolvedEvents } from './domains/inbox/index.ts'
import { type HealthPorts, readRehearsal, readRestored, secretChange } from './domains/settings/index.ts'
import { iso, isoOrNull } from './infra/clock.ts'
import type { AppContext } from './infra/context.ts'
import { untrustedProxies } from './infra/http/client-address.ts'
import { sealedTables } from './sealed-tables.ts'
import { queueFigures } from './infra/job-schedules.ts'

/** How long a check of the servers may take, in milliseconds. */
const SERVERS_MS = 8000

/** The sections of the health page, and its immediate check of platform and servers. */
export const healthPorts = (ctx: AppContext): HealthPorts => ({
  sections: {
    platform: () =>
      platformHealth(ctx, {
        priceDrifts: countPriceDrifts,
        unsellable: findUnsellable,
        unresolvedEvents: countUnresolvedEvents
      }),
    jobs: async () => ({
      queues: (await queueFigures(ctx.db)).map(queue => ({ ...queue, oldest: isoOrNull(queue.oldest) }))
    }),
    servers: () => serversHealth(ctx.db, ctx.now()),
    async mail() {
      const mails = (await queueFigures(ctx.db)).find(queue => queue.name === sendMailQueue.name)
      const { failed, error } = await mailTroubles(ctx.db)
      const { waiting, oldest } = await waitingMails(ctx.db)
      return {
        waiting,
        oldest: isoOrNull(oldest),
        failed: failed + (mails?.dead ?? 0),
        error
      }
    },
    database: () => databaseHealth(ctx),
    http: async () => ({
      public_url: ctx.config.publicUrl,
      untrusted_proxies: untrustedProxies().map(({ address, at }) => ({ address, at: iso(at) }))
    })
  },
  async refresh() {
    // Concurrently, so that a silent platform delays it once, not three times.
    await Promise.all([
      checkPlatform(ctx),
      registerWebhooks(ctx).catch((error: unknown) => ctx.log.warn({ err: error }, 'webhooks were not compared')),
      comparePrices(ctx),
      // Checks of many silent servers continue in the background, and the page follows.
      Promise.race([
        checkServers(ctx).catch((error: unknown) => ctx.log.warn({ err: error }, 'servers were not asked')),
        sleep(SERVERS_MS, undefined, { ref: false })
      ])
    ])
  }
})

async function databaseHealth(ctx: AppContext) {
  const { db } = ctx
  const { rows } = await db.execute<{ bytes: number; connections: number; most: number }>(sql`
    select pg_database_size(current_database())::float8 as bytes,
      (select count(*)::int from pg_stat_activity where datname = current_database()) as connections,
      current_setting('max_connections')::int as most`)
  const { totalCount, idleCount, waitingCount } = db.$client
  const restored = await readRestored(db)
  return {
    bytes: rows[0]?.bytes ?? 0,
    connections: rows[0]?.connections ?? 0,
    max_connections: rows[0]?.most ?? 0,
    pool: { size: totalCount, idle: idleCount, waiting: waitingCount },
    recovering_since: restored?.recoveredAt === null ? iso(restored.backupAt) : null,
    rehearsal: await readRehearsal(db),
    secret_change: await secretChange(ctx, sealedTables)
  }
}
