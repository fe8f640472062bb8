import { eq, ilike, sql, type SQL } from 'drizzle-orm'
import { isInet } from '../../infra/db/inet.ts'
import { containing } from '../../infra/db/like.ts'
import { proxies } from './tables.ts'

/**
 * Proxies of an address, or of all addresses that contain a text. A port behind it, as in lists of proxies, is ignored.
 * A whole IPv4 address may be the beginning of a longer one.
 */
export function isAt(search: string): SQL {
  const text = /^([\d.]+|\[[\da-f:.]+\]):\d*$/i.exec(search)?.[1]?.replace(/^\[|\]$/g, '') ?? search
  const found = ilike(sql`host(${proxies.ip})`, containing(text))
  return isInet(text) ? sql`(${eq(proxies.ip, text)} or ${found})` : found
}

type Checked = Pick<typeof proxies.$inferSelect, 'available' | 'bingDelay' | 'googleDelay' | 'amazonDelay'>

/** What the latest check of a proxy found, delays in milliseconds; null before the first. */
export const checkOf = ({ available, bingDelay, googleDelay, amazonDelay }: Checked) => ({
  status: available === null ? null : available === 1,
  bing_delay: bingDelay,
  google_delay: googleDelay,
  amazon_delay: amazonDelay
})
