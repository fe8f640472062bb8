import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { readProductQueue } from './apply-product-event.ts'
import { readPrices, readProducts, rereadProduct } from './read-platform.ts'
import { syncQueue, workOnSync } from './sync-runs/work.ts'
import { lt, sql } from '../../infra/db/drizzle.ts'
import { serverGroups } from '../servers/tables.ts'
import { aclRules } from '../inventory/tables.ts'
import { MOST_FOUND, type NoticeFinder } from '../notices/index.ts'
import { countPriceDrifts } from './price-drift.ts'
import { variants } from './tables.ts'
import { DAY } from '../../infra/clock.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { syncRuns } from './sync-runs/tables.ts'

const readPricesQueue = queue<object>('read-platform-prices', { retryLimit: 3, expireInSeconds: 600 })

export const readProductsQueue = queue<{ asked?: boolean }>('read-platform-products', {
  retryLimit: 5,
  expireInSeconds: 1800
})

export const catalogJobs: Job[] = [
  job(readPricesQueue, {
    purpose: 'Reads all prices from the platform, updates those that differ, and lists the rest.',
    cron: '7 * * * *',
    run: readPrices
  }),
  job(readProductsQueue, {
    purpose: 'Rereads all products from the platform, to catch changes that no webhook reported.',
    cron: '37 4 * * *',
    run: readProducts
  }),
  job(readProductQueue, {
    purpose: 'Rereads a product with more than 100 variants after its webhook, which describes only 100.',
    run: (ctx, { platformId }) => rereadProduct(ctx, platformId)
  }),
  job(syncQueue, {
    purpose: 'Reads the platform for a sync that an operator started, or applies its plan.',
    // A cancelled sync may still wait for the platform. The next one must not wait for it.
    concurrency: 2,
    run: (ctx, { runId }) => workOnSync(ctx, runId)
  })
]

type Low = { groupId: number; group: string; ruleId: number; rule: string; left: number; below: number }

/** Notices about prices, and about free addresses of each group and rule that products are sold from. */
export const catalogFinders: NoticeFinder[] = [
  {
    cause: 'prices',
    every: 5,
    async find({ db }) {
      const count = await countPriceDrifts(db)
      return count === 0 ? [] : [{ subject: '', words: 'prices', params: { count }, count }]
    }
  },
  {
    cause: 'stock',
    // It counts by group and rule, as the console's map of stock does.
    every: 5,
    async find({ db }, { threshold, rules }) {
      const { rows } = await db.execute<Low>(sql`
        with level as (
          select * from jsonb_to_recordset(${JSON.stringify(rules.stock)}::jsonb) as l (group_id bigint, rule_id int, below int)
        )
        select g.id as "groupId", g.name as "group", r.id as "ruleId", r.name as rule, s.stock as left,
          coalesce(l.below, ${threshold}::int) as below
        from ${serverGroups} g
        cross join lateral inventory.stock_by_rule(g.id, 1, '{}') s
        join ${aclRules} r on r.id = s.rule_id
        left join level l on l.group_id = g.id and l.rule_id = r.id
        where g.deleted_at is null and s.stock < coalesce(l.below, ${threshold}::int)
          and exists (select from ${variants} v where v.server_group_id = g.id and v.is_active and v.deleted_at is null)
        order by s.stock, g.id, r.id limit ${MOST_FOUND}`)
      return rows.map(({ groupId, group, ruleId, rule, left, below }) => ({
        subject: `${groupId}/${ruleId}`,
        words: 'stock',
        params: { group, rule, left, below },
        // Nothing is left, so purchases cannot be delivered.
        ...(left === 0 ? { severity: 'critical' } : {})
      }))
    }
  }
]

export const syncRetention: RetentionEntry[] = [
  {
    what: 'catalog_sync_runs',
    keep: { ms: 7 * DAY },
    why: 'Results of platform syncs, and the data of syncs that were never applied. The audit log keeps the changes.',
    remove: (unit, before, limit) => removeRows(unit, syncRuns, lt(syncRuns.createdAt, before), limit),
    count: db => countRows(db, syncRuns, syncRuns.createdAt)
  }
]
