import { sql } from 'drizzle-orm'
import type { AppContext } from '../../../infra/context.ts'
import { orderTraffic } from '../../fleet/traffic/tables.ts'
import { serverOutages } from '../../fleet/tables.ts'
import { aclRules } from '../../inventory/tables.ts'
import { orders } from '../../orders/tables.ts'
import type { ReadProxyChecks } from '../../status/index.ts'
import { proxies } from '../tables.ts'

/**
 * The results of checks of live proxies since a time, by server: how many customers were checked, how many of them had
 * proxies that reached no site, and the share of those proxies, each customer counting alike. Results that say nothing
 * about the server are left out: orders that have used up their traffic, orders whose rules close all check sites, and
 * checks from before the end of the server's last outage.
 */
export const proxyChecksOf =
  ({ checkSites }: AppContext['config']): ReadProxyChecks =>
  async (db, since) => {
    const { rows } = await db.execute<{ server_id: number; customers: number; failing: number; share: number }>(sql`
      with closed as materialized (${closedSites(Object.values(checkSites))}), lately as (
        select p.server_id, o.user_id, avg((p.available = 0)::int) as failed
        from ${proxies} p join ${orders} o on o.id = p.order_id
        where p.state = 'live' and p.checked_at >= ${since.toISOString()}::timestamptz and p.available is not null
          and not exists (select 1 from ${orderTraffic} t where t.order_id = o.id and t.used >= t.allowed)
          and not exists (select 1 from ${serverOutages} s where s.server_id = p.server_id
            and coalesce(s.ended_at, 'infinity') >= p.checked_at and s.started_at <= p.checked_at)
          and exists (select 1 from closed c where cardinality(c.rules) = 0 or o.rules && c.rules)
        group by p.server_id, o.user_id
      )
      select server_id, count(*)::int as customers, (count(*) filter (where failed > 0))::int as failing,
        avg(failed)::float8 as share
      from lately group by server_id`)
    return new Map(rows.map(({ server_id: id, ...checks }) => [id, checks]))
  }

/** For each check site, the rules that close it to orders without one of them. */
const closedSites = (sites: readonly string[]) =>
  sql.join(
    sites.map(site => {
      const names = new URL(site).hostname.split('.').map((_, at, parts) => parts.slice(at).join('.'))
      return sql`select array(select r.id from ${aclRules} r
        where r.deleted_at is null and r.domains && ${sql.param(names)}::text[]) as rules`
    }),
    sql` union all `
  )
