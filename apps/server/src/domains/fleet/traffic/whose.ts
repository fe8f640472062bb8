import { isIP } from 'node:net'
import { AGENT_ERRORS, AGENT_REFUSALS } from '@netlet/contract/agent-codes'
import { sql } from 'drizzle-orm'
import { DAY } from '../../../infra/clock.ts'
import type { Unit } from '../../../infra/command.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { cidrs } from '../../inventory/tables.ts'
import { agentUsers } from '../tables.ts'
import type { TrafficRow } from './increments.ts'

/** The orders whose proxies have these usernames, if they hold an address of the server or held one since then. */
export type OrdersOf = (
  db: Executor,
  usernames: string[],
  held: { serverId: number; since: Date }
) => Promise<Map<string, number>>

/** How long an agent may still report an order that has left its server, because it was away before. */
const TOLD_LATE_MS = DAY

/** The name under which an agent counts clients that never logged in. */
const NO_LOGIN = '-'

/** Identifies a counter. */
export const keyOf = (username: string, ip: string) => `${username} ${ip}`

/** `orderId`: null for a user made by hand, undefined for clients that never logged in. */
type Whose = { row: TrafficRow; orderId: number | null | undefined }

/**
 * The counters that belong to users and addresses of the agent's own server, with their orders. The rest is dropped:
 * one captured server must not use up the traffic of other orders, or fill tables with invented names.
 */
export async function whoseRows(
  { tx, now }: Pick<Unit, 'tx' | 'now'>,
  serverId: number,
  rows: TrafficRow[],
  ordersOf: OrdersOf
): Promise<Whose[]> {
  const since = new Date(now.getTime() - TOLD_LATE_MS)
  const asked = rows.flatMap(({ user, ip }) => (isIP(ip) === 0 ? [] : [{ user, ip }]))
  const held = await tx.execute<{ user: string; ip: string; orderId: string | null; known: boolean }>(sql`
    select r."user", r.ip, a.order_id as "orderId", a.username is not null as known
    from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as r("user" text, ip text)
    left join ${agentUsers} a on a.server_id = ${serverId} and a.username = r."user"
    where exists (select 1 from unnest(a.prefixes) prefix where prefix::inet >>= r.ip::inet)
      or exists (select 1 from ${cidrs} c where c.server_id = ${serverId} and c.deleted_at is null and c.cidr >>= r.ip::inet)`)
  const gone = [...new Set(held.rows.filter(({ known }) => !known).map(({ user }) => user))]
  const orders = gone.length > 0 ? await ordersOf(tx, gone, { serverId, since }) : new Map<string, number>()
  const found = new Map<string, number | null>()
  for (const { user, ip, orderId, known } of held.rows) {
    const order = known ? (orderId === null ? null : Number(orderId)) : orders.get(user)
    if (order !== undefined) found.set(keyOf(user, ip), order)
  }
  return rows.flatMap((row): Whose[] => {
    if (row.user === NO_LOGIN) return row.ip === NO_LOGIN ? [{ row: withKnownCodes(row), orderId: undefined }] : []
    const orderId = found.get(keyOf(row.user, row.ip))
    return orderId === undefined ? [] : [{ row: withKnownCodes(row), orderId }]
  })
}

const KNOWN: ReadonlySet<string> = new Set([...AGENT_REFUSALS, ...AGENT_ERRORS])
/** Codes that this version does not know: of newer agents, or invented. */
const OTHER = 'other'

function withKnownCodes(row: TrafficRow): TrafficRow {
  const codes: Record<string, number> = {}
  for (const [code, count] of Object.entries(row.codes)) {
    const name = KNOWN.has(code) ? code : OTHER
    codes[name] = Math.min(Number.MAX_SAFE_INTEGER, (codes[name] ?? 0) + count)
  }
  return { ...row, codes }
}
