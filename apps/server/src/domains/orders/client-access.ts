import { refuse, type ClientAccess, type ClientAccessForm, type Refusal } from '@netlet/contract'
import { and, eq, isNull } from '../../infra/db/drizzle.ts'
import ipaddr from 'ipaddr.js'
import type { UserActor } from '../../infra/actor.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { staleEdit, versionOf, type Edit } from '../../infra/version.ts'
import { accessOf, countAccessAttempt, setAccess, type OrderAccess } from '../servers/index.ts'
import { isOver } from './renew.ts'
import { orders } from './tables.ts'
import { emitOrderEvent, lockOrder } from './transition.ts'

/** The most changes of one order's list in an hour, enough for programs that add addresses one by one. */
export const CHANGES_AN_HOUR = 30
/** The shortest prefix lengths that we accept: more addresses than an office or a home has. */
const WIDEST = { ipv4: 24, ipv6: 48 }
/** Ranges that belong to no single client. */
const UNUSABLE = new Set(['unspecified', 'broadcast', 'multicast'])

/** One of the caller's orders, or any order for an operator. */
type Asked = { orderId: number; caller: UserActor }
const ownerOf = (caller: UserActor): number | null => (caller.isSuperuser ? null : caller.id)

const fieldsOf = ({ access, clientIps }: OrderAccess) => ({ access, client_ips: clientIps })

/** Reads how clients are admitted to an order's proxies, and the caller's own address. */
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

/** Changes how clients are admitted. The agents learn of it from their desired state. */
export async function editClientAccess(
  ctx: AppContext,
  { orderId, caller }: Asked,
  { version, ...form }: Edit<ClientAccessForm>
): Promise<Result<ClientAccess>> {
  const wanted = wantedOf(form)
  if (!wanted.ok) return wanted
  // A command of its own, so that the attempt counts even if the change is refused below.
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
    if (order) await emitOrderEvent(unit, 'credentials.changed', order, { changed: 'client_access' })
    unit.audit('order.client_access', orderId, { before: now, after: sent })
    return ok(await present(unit.tx, orderId, caller))
  })
  return changed
}

async function refusalOf(unit: Parameters<typeof lockOrder>[0], { orderId, caller }: Asked): Promise<Refusal | null> {
  const order = await lockOrder(unit, orderId)
  const userId = ownerOf(caller)
  if (!order || order.deletedAt || (userId !== null && order.userId !== userId)) return refuse('not_found')
  if (!order.paidAt) return refuse('order_not_paid')
  if (order.state === 'refunded') return refuse('order_refunded')
  if (isOver(order, unit.now)) return refuse(userId === null ? 'order_over' : 'order_expired')
  return null
}

/** The form's access, with its lines in canonical notation, unique and sorted. */
function wantedOf({ access, client_ips }: ClientAccessForm): Result<OrderAccess> {
  if (access === 'password') return ok({ access, clientIps: [] })
  const prefixes = new Set<string>()
  const unfit = new Map<Unfit['reason'], string[]>()
  for (const line of client_ips.filter(text => text !== '')) {
    const prefix = prefixOf(line)
    if (typeof prefix === 'string') prefixes.add(prefix)
    else unfit.set(prefix.reason, [...(unfit.get(prefix.reason) ?? []), line])
  }
  // The refusal names all lines that have the first kind of mistake.
  const [first] = unfit
  if (first) return fieldRefusal('client_ips', first[0], { line: first[1].join(', ') })
  if (prefixes.size === 0) return fieldRefusal('client_ips', 'enter_client')
  return ok({ access, clientIps: [...prefixes].toSorted() })
}

type Unfit = { reason: 'invalid_client' | 'wide_client' }

/** The prefix as agents and the database write it. Bits set after its length are probably a typing error: refused. */
function prefixOf(line: string): string | Unfit {
  const [text = '', length] = line.split('/', 2)
  // Programs disagree on IPv4 addresses with fewer than four parts or with octal or hexadecimal parts.
  const known = ipaddr.IPv4.isValidFourPartDecimal(text) || (text.includes(':') && ipaddr.IPv6.isValid(text))
  if (!known || text.includes('%') || line.split('/').length > 2) return { reason: 'invalid_client' }
  const address = ipaddr.process(text)
  // An IPv4-mapped IPv6 address counts as its IPv4 address.
  const mapped = address.kind() === 'ipv4' && text.includes(':')
  const most = address.kind() === 'ipv4' ? 32 : 128
  const bits = length === undefined ? most : Number(length)
  if (length !== undefined && (mapped || !/^\d{1,3}$/.test(length) || bits > most)) return { reason: 'invalid_client' }
  if (bits < WIDEST[address.kind()]) return { reason: 'wide_client' }
  if (UNUSABLE.has(address.range())) return { reason: 'invalid_client' }
  const written = address.kind() === 'ipv4' ? address.toString() : (address as ipaddr.IPv6).toRFC5952String()
  const kind = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6
  const network = kind.networkAddressFromCIDR(`${written}/${bits}`)
  return network.toNormalizedString() === address.toNormalizedString()
    ? `${written}/${bits}`
    : { reason: 'invalid_client' }
}
