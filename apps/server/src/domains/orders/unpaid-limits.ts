import { RESERVATION_MINUTES, type Settings, refuse } from '@netlet/contract'
import type { UserActor, VisitorActor } from '../../infra/actor.ts'
import { DAY } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, eq, ne, not, sql } from '../../infra/db/drizzle.ts'
import { lock } from '../../infra/db/locks.ts'
import { clientNetwork, limitedClient, networksOf, widestNetwork } from '../../infra/http/client-address.ts'
import { type Result, done } from '../../infra/result.ts'
import { SESSION_LIFE } from '../accounts/index.ts'
import { logins, sessions } from '../accounts/tables.ts'
import { readSettings } from '../settings/index.ts'
import { orders } from './tables.ts'
import { isUnsettledSql } from './renew.ts'

/** In 24 hours a customer may hold all of its allowed addresses unpaid for this many minutes. */
const FULL_MINUTES_A_DAY = 120

/** Unpaid orders in 24 hours, as a multiple of those that it may hold at once. Each one costs a row and a mail. */
const ORDERS_A_DAY = 10

/** New customers of one network hold at most so many times what one of them may; of a wider one a few times as much. */
const NETWORK_TIMES = 4

type Limits = Pick<Settings, 'max_unpaid_orders' | 'max_unpaid_addresses' | 'max_new_customer_addresses'>

const newCustomerLimit = ({ max_unpaid_addresses, max_new_customer_addresses }: Limits): number =>
  Math.min(max_unpaid_addresses, max_new_customer_addresses)

/** How many addresses the caller's next order may have if no other one is unpaid. */
export async function largestOrder(ctx: AppContext, caller: UserActor | VisitorActor): Promise<number> {
  const settings = await readSettings(ctx.db, ctx.secrets)
  const isKnown = caller.kind === 'user' && (await hasPaid(ctx.db, caller.id))
  return isKnown ? settings.max_unpaid_addresses : newCustomerLimit(settings)
}

/** Has the customer a payment that counts, and was not given back? */
export async function hasPaid(db: Executor, userId: number): Promise<boolean> {
  const [paid] = await db
    .select({ id: orders.id })
    .from(orders)
    .where(and(eq(orders.userId, userId), not(isUnsettledSql), ne(orders.state, 'refunded')))
    .limit(1)
  return paid !== undefined
}

/**
 * The clients that an order comes from: the caller's, and the one that its session was opened from, or two networks
 * would do instead of many. Behind a proxy that `TRUST_PROXY` does not name, only the forwarded one: the session's is
 * the proxy's, which all customers share.
 */
async function clientsOf(db: Executor, caller: UserActor): Promise<string[]> {
  if (caller.forwardedFor || !caller.sessionHash) return [limitedClient(caller)]
  const ofCaller = eq(sessions.tokenHash, caller.sessionHash)
  const [session] = await db.select({ ip: sessions.ip }).from(sessions).where(ofCaller)
  const opened = session?.ip ? [clientNetwork(session.ip.replace(/\/\d+$/, ''))] : []
  return [...new Set([limitedClient(caller), ...opened])]
}

/** Addresses held unpaid by customers who have never paid and who have logged in from this network. */
async function heldByNewCustomers(db: Executor, range: string, now: Date): Promise<number> {
  const { rows } = await db.execute<{ held: number }>(sql`
    select coalesce(sum(${orders.quantity}), 0)::bigint as held
    from ${orders}
    where ${orders.state} in ('placed', 'failed') and ${orders.reservedUntil} > ${now} and ${isUnsettledSql}
      and (exists (select from ${sessions} s where s.user_id = ${orders.userId} and s.ip <<= ${range}::inet)
        or exists (select from ${logins} l where l.user_id = ${orders.userId} and l.ip <<= ${range}::inet
          and l.at > ${new Date(now.getTime() - SESSION_LIFE)}))
      and not exists (select from ${orders} paid where paid.user_id = ${orders.userId} and paid.paid_at is not null
        and paid.state <> 'refunded' and (paid.state <> 'failed' or paid.fail_code = 'out_of_stock'))`)
  return rows[0]?.held ?? 0
}

/**
 * Would new customers of one of the caller's networks hold more than `most`, with this order? It locks the networks,
 * so that concurrent orders of several accounts do not all pass.
 */
async function exceedsNetworkLimit(
  db: Executor,
  caller: UserActor,
  { quantity, most, now }: { quantity: number; most: number; now: Date }
): Promise<boolean> {
  const clients = await clientsOf(db, caller)
  for (const widest of [...new Set(clients.map(widestNetwork))].toSorted()) await lock(db, 'asks', `unpaid:${widest}`)
  for (const { cidr, timesOne } of clients.flatMap(networksOf))
    if ((await heldByNewCustomers(db, cidr, now)) + quantity > most * timesOne) return true
  return false
}

type Unpaid = { open: number; addresses: number; orders: number; addressMinutes: number }

/**
 * May this customer hold `quantity` more addresses unpaid? An underpaid order counts as unpaid, or one cent would hold
 * its addresses. A cancelled order counts for the time that it was held, so that holding, cancelling and holding again
 * is stopped. The caller holds the lock customerOrders.
 */
export async function unpaidLimit(
  db: Executor,
  { caller, quantity, now }: { caller: UserActor; quantity: number; now: Date },
  settings: Limits
): Promise<Result<null>> {
  const { max_unpaid_orders, max_unpaid_addresses } = settings
  const held = await unpaidOf(db, caller.id, now)
  if (held.open >= max_unpaid_orders) return refuse('too_many_reservations', { data: { held: held.open } })
  if (quantity > max_unpaid_addresses) return refuse('too_many_addresses', { params: { max: max_unpaid_addresses } })
  if (held.addresses + quantity > max_unpaid_addresses) {
    return refuse('too_many_unpaid_addresses', { params: { max: max_unpaid_addresses, held: held.addresses } })
  }
  if (!(await hasPaid(db, caller.id))) {
    const max = newCustomerLimit(settings)
    if (held.addresses + quantity > max)
      return refuse('too_many_before_payment', { params: { max, held: held.addresses } })
    if (await exceedsNetworkLimit(db, caller, { quantity, most: NETWORK_TIMES * max, now }))
      return refuse('network_holds_unpaid')
  }
  const minutes = held.addressMinutes + quantity * RESERVATION_MINUTES
  if (minutes > max_unpaid_addresses * FULL_MINUTES_A_DAY || held.orders >= max_unpaid_orders * ORDERS_A_DAY) {
    return refuse('unpaid_too_often')
  }
  return done
}

/** What the customer holds unpaid at `now`, and held in the 24 hours before. */
async function unpaidOf(db: Executor, userId: number, now: Date): Promise<Unpaid> {
  const since = new Date(now.getTime() - DAY)
  const open = sql`${orders.state} in ('placed', 'failed') and ${orders.reservedUntil} > ${now}`
  // An order whose payment is on its way is held for days. It counts above as held now, and here as any other, unless
  // nothing proves that it will be paid: then it is held for a day, all of which counts.
  const held = sql`case when ${orders.pendingUntil} <= ${orders.createdAt} + interval '1 day' then interval '1 day'
    else make_interval(mins => ${RESERVATION_MINUTES}) end`
  const until = sql`least(${orders.reservedUntil}, ${orders.createdAt} + ${held})`
  const minutes = sql`greatest(0, extract(epoch from ${until} - greatest(${orders.createdAt}, ${since})) / 60)`
  const { rows } = await db.execute<Unpaid>(sql`
    select count(*) filter (where ${open}) as open,
      coalesce(sum(${orders.quantity}) filter (where ${open}), 0)::bigint as addresses,
      count(*) as orders,
      coalesce(ceil(sum(${orders.quantity} * ${minutes})), 0)::bigint as "addressMinutes"
    from ${orders}
    where ${orders.userId} = ${userId} and ${isUnsettledSql} and ${orders.reservedUntil} > ${since}`)
  const [row] = rows
  if (!row) throw new Error('the counts are one row')
  return row
}
