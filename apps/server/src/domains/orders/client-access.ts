import { refuse, type ClientAccess, type ClientAccessForm, type Refusal } from '@netlet/contract'
import { and, eq, isNull } from 'drizzle-orm'
import ipaddr from 'ipaddr.js'
import type { UserActor } from '../../infra/actor.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { staleEdit, versionOf, type Edit } from '../../infra/version.ts'
import { accessOf, countAccessAttempt, setAccess, type OrderAccess } from '../fleet/index.ts'
import { isOver } from './renew.ts'
import { orders } from './tables.ts'
import { tellOfOrder } from './tell-webhooks.ts'
import { lockOrder } from './transition.ts'

/** Changes of one order's list within an hour. Programs that add addresses as they come need no more. */
export const CHANGES_AN_HOUR = 30
/** The shortest prefixes: more than an office or a home has. */
const WIDEST = { ipv4: 24, ipv6: 48 }
/** Of no single client. */
const UNUSABLE = new Set(['unspecified', 'broadcast', 'multicast'])

/** An order of the caller's, or anyone's for an operator. */
type Asked = { orderId: number; caller: UserActor }
const ownerOf = (caller: UserActor): number | null => (caller.isSuperuser ? null : caller.id)

const fieldsOf = ({ access, clientIps }: OrderAccess) => ({ access, client_ips: clientIps })

/** How clients of an order's proxies are let in, and from where the caller comes. */
export async function readClientAccess(db: Executor, { orderId, caller }: Asked): Promise<Result<ClientAccess>> {
  const userId = ownerOf(caller)
  const own = and(
    eq(orders.id, orderId),
    isNull(orders.deletedAt),
    userId === null ? undefined : eq(orders.userId, userId)
  )
  if ((await db.$count(orders, own)) === 0) return refuse('not_found')
  return ok(await present(db, orderId, caller))
}

async function present(db: Executor, orderId: number, caller: UserActor): Promise<ClientAccess> {
  const current = await accessOf(db, orderId)
  return {
    ...fieldsOf(current),
    changed_at: isoOrNull(current.changedAt),
    version: versionOf(fieldsOf(current)),
    your_address: caller.ip,
    is_pending: current.isPending
  }
}

/** Says how clients are let in; the agents hear of it by what is wanted of them. */
export async function editClientAccess(
  ctx: AppContext,
  { orderId, caller }: Asked,
  { version, ...form }: Edit<ClientAccessForm>
): Promise<Result<ClientAccess>> {
  const wanted = wantedOf(form)
  if (!wanted.ok) return wanted
  // A command of its own: what is refused below counts all the same.
  const counted = await command(ctx, caller, async unit => {
    const refusal = await refusalOf(unit, { orderId, caller })
    if (refusal) return refusal
    const until = await countAccessAttempt(unit, orderId, CHANGES_AN_HOUR)
    return ok(until)
  })
  if (!counted.ok) return counted
  if (counted.data) {
    return refuse('client_changes_limit', { params: { max: CHANGES_AN_HOUR, until: iso(counted.data) } })
  }
  const changed = await command(ctx, caller, async unit => {
    const refusal = await refusalOf(unit, { orderId, caller })
    if (refusal) return refusal
    const order = await lockOrder(unit, orderId)
    const current = await present(unit.tx, orderId, caller)
    const [now, sent] = [fieldsOf({ access: current.access, clientIps: current.client_ips }), fieldsOf(wanted.data)]
    const stale = staleEdit(version, current, { now, sent })
    if (stale) return stale
    if (versionOf(now) === versionOf(sent)) return ok(current)
    const set = await setAccess(unit, orderId, wanted.data)
    if (!set.ok) return fieldRefusal('client_ips', 'client_listed_elsewhere', { line: set.taken })
    if (order) await tellOfOrder(unit, 'credentials.changed', order, { changed: 'client_access' })
    unit.audit('order.client_access', orderId, { before: now, after: sent })
    return ok(await present(unit.tx, orderId, caller))
  })
  return changed
}

/** Locks the order. */
async function refusalOf(unit: Parameters<typeof lockOrder>[0], { orderId, caller }: Asked): Promise<Refusal | null> {
  const order = await lockOrder(unit, orderId)
  const userId = ownerOf(caller)
  if (!order || order.deletedAt || (userId !== null && order.userId !== userId)) return refuse('not_found')
  if (!order.paidAt) return refuse('order_not_paid')
  if (order.state === 'refunded') return refuse('order_refunded')
  if (isOver(order, unit.now)) return refuse(userId === null ? 'order_over' : 'order_expired')
  return null
}

/** What a form says, with its lines in canonical notation, each once and in order. */
function wantedOf({ access, client_ips }: ClientAccessForm): Result<OrderAccess> {
  if (access === 'password') return ok({ access, clientIps: [] })
  const prefixes = new Set<string>()
  const unfit = new Map<Unfit['reason'], string[]>()
  for (const line of client_ips.filter(text => text !== '')) {
    const prefix = prefixOf(line)
    if (typeof prefix === 'string') prefixes.add(prefix)
    else unfit.set(prefix.reason, [...(unfit.get(prefix.reason) ?? []), line])
  }
  // All lines that have the first mistake are named at once.
  const [first] = unfit
  if (first) return fieldRefusal('client_ips', first[0], { line: first[1].join(', ') })
  if (prefixes.size === 0) return fieldRefusal('client_ips', 'enter_client')
  return ok({ access, clientIps: [...prefixes].toSorted() })
}

type Unfit = { reason: 'invalid_client' | 'unusable_client' | 'wide_client' }

/** A line as agents and the database write it; one with bits behind its length is a slip of the pen, and is refused. */
function prefixOf(line: string): string | Unfit {
  const [text = '', length] = line.split('/', 2)
  // Addresses of fewer parts, octal and hexadecimal ones mean different things to different programs.
  const known = ipaddr.IPv4.isValidFourPartDecimal(text) || (text.includes(':') && ipaddr.IPv6.isValid(text))
  if (!known || text.includes('%') || line.split('/').length > 2) return { reason: 'invalid_client' }
  const address = ipaddr.process(text)
  // A mapped address is the IPv4 address in it.
  const mapped = address.kind() === 'ipv4' && text.includes(':')
  const most = address.kind() === 'ipv4' ? 32 : 128
  const bits = length === undefined ? most : Number(length)
  if (length !== undefined && (mapped || !/^\d{1,3}$/.test(length) || bits > most)) return { reason: 'invalid_client' }
  if (bits < WIDEST[address.kind()]) return { reason: 'wide_client' }
  if (UNUSABLE.has(address.range())) return { reason: 'unusable_client' }
  const written = address.kind() === 'ipv4' ? address.toString() : (address as ipaddr.IPv6).toRFC5952String()
  const kind = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6
  const network = kind.networkAddressFromCIDR(`${written}/${bits}`)
  return network.toNormalizedString() === address.toNormalizedString()
    ? `${written}/${bits}`
    : { reason: 'invalid_client' }
}
