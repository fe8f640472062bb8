import type { CheckSite, Order, Proxy, ProxyStatus } from '@netlet/contract'
import { isNotNull, isNull, sql, type SQL } from 'drizzle-orm'
import { iso } from '../../infra/clock.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { httpsHost, readOffers } from '../fleet/index.ts'
import { checkOf, isAt } from './proxy-columns.ts'
import { proxies } from './tables.ts'
import { selectWithCredentials } from './with-credentials.ts'

export type ProxyQuery = ListInput<'id' | 'ip' | `${CheckSite}_delay`> & {
  status?: ProxyStatus | undefined
  /** A site that answered its latest check. */
  answers?: CheckSite | undefined
  /** A site that did not answer it. */
  silent?: CheckSite | undefined
}

const DELAYS = { google: proxies.googleDelay, bing: proxies.bingDelay, amazon: proxies.amazonDelay }
/** A site that did not answer sorts behind all that did. */
const delay = (site: CheckSite) => sql`coalesce(${DELAYS[site]}, 2147483647)`

const STATUSES: Record<ProxyStatus, SQL> = {
  available: sql`${proxies.available} = 1`,
  unavailable: sql`${proxies.available} = 0`,
  unchecked: isNull(proxies.available)
}

/**
 * An order's live proxies, oldest first; found by address and by their latest check. The rows of one order are read by
 * its index and sorted here: 10,000 take some milliseconds, but each check would write an index for each sorting. An
 * order whose time is over has none: the clock decides, not the job that will soon stop them.
 */
export const proxyList = ({ id, is_expired }: Pick<Order, 'id' | 'is_expired'>, now: Date) =>
  defineList<ProxyQuery, Proxy>({
    name: `order_${id}_proxies`,
    table: proxies,
    id: proxies.id,
    sort: {
      id: proxies.id,
      ip: proxies.ip,
      google_delay: delay('google'),
      bing_delay: delay('bing'),
      amazon_delay: delay('amazon')
    },
    match: (_db, { search, status, answers, silent }) => ({
      where: [
        is_expired ? sql`false` : undefined,
        // A literal, because a prepared plan with a parameter could not use the partial index.
        sql`${proxies.state} = 'live'`,
        search === undefined ? undefined : isAt(search),
        status && STATUSES[status],
        answers && isNotNull(DELAYS[answers]),
        silent && sql`${proxies.available} is not null and ${isNull(DELAYS[silent])}`
      ],
      anyOf: [{ column: proxies.orderId, among: [id] }]
    }),
    async load(db, ids) {
      const rows = await selectWithCredentials(db).where(among(proxies.id, ids))
      const offers = await readOffers(db, [...new Set(rows.map(({ proxy }) => proxy.serverId))], now)
      const httpsOf = (serverId: number, ip: string) => {
        const offer = offers.get(serverId)
        return offer ? httpsHost(offer, ip) : null
      }
      return rows.map(({ proxy, ip, port, username, password }) => ({
        id: proxy.id,
        ip,
        port,
        username,
        password,
        ...checkOf(proxy),
        created_at: iso(proxy.createdAt),
        updated_at: iso(proxy.updatedAt),
        https: httpsOf(proxy.serverId, ip)
      }))
    }
  })
