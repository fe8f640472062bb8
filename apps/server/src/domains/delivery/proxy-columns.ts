import { eq, ilike, sql, type SQL } from 'drizzle-orm'
import { isInet } from '../../infra/db/inet.ts'
import { containing } from '../../infra/db/like.ts'
import { proxies } from './tables.ts'

/** Proxies of an address, or of all addresses that contain such a text. */
export const isAt = (search: string): SQL =>
  isInet(search) ? eq(proxies.ip, search) : ilike(sql`host(${proxies.ip})`, containing(search))

type Checked = Pick<typeof proxies.$inferSelect, 'available' | 'bingDelay' | 'googleDelay' | 'amazonDelay'>

/** What the latest check of a proxy found, delays in milliseconds; null before the first. */
export const checkOf = ({ available, bingDelay, googleDelay, amazonDelay }: Checked) => ({
  status: available === null ? null : available === 1,
  bing_delay: bingDelay,
  google_delay: googleDelay,
  amazon_delay: amazonDelay
})
