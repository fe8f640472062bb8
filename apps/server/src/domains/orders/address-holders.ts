import { type AddressLease, type ReplyOf, refuse, routes } from '@netlet/contract'
import { and, eq, inArray, max } from '../../infra/db/drizzle.ts'
import type { Actor } from '../../infra/actor.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { answerList, badCursor, columnsOf, defineList, type ListInput } from '../../infra/list/index.ts'
import { SENT, type Mount } from '../../infra/http/mount.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { users } from '../accounts/tables.ts'
import { proofsOfLeases } from '../proofs/index.ts'
import { servers } from '../servers/tables.ts'
import { historyEntries, historyIn, parseAddress, rangeOf, ruleNames, addressHolders } from '../inventory/index.ts'
import { leaseBlocks } from '../inventory/tables.ts'
import { unservedSpans, type Unserved } from './renew.ts'
import { auditLookUp } from './guard-address-search.ts'
import { orderEvents, orders } from './tables.ts'

type Question = { address: string; at: Date; held: AddressLease[] }
type Term = Pick<AddressLease, 'order' | 'acls' | 'active_from' | 'stopped_at'>

/**
 * Answers to an abuse complaint, by language. They name the order but no customer: only those with a right to know may
 * ask for the name. They leave out orders that were never paid and orders after their end, because their addresses were
 * only held.
 */
function abuseReplies({ address, at, held }: Question): { en: string; 'zh-CN': string } {
  const used = held.filter(term => isUsed(term, at))
  const time = utc(at.toISOString())
  return {
    en: [
      'Hello,',
      `Thank you for your report about the address ${address}.`,
      ...(used.length === 0
        ? [`At ${time} this address was not leased to any customer of ours.`]
        : [
            used.length === 1
              ? `At ${time} this address was leased to one customer of ours:`
              : `At ${time} this address was leased under ${used.length} orders, each for other sites:`,
            used.map(term => englishLine(term, used.length > 1)).join('\n'),
            'Please give this reference in further messages. We name a customer only to authorities that are entitled to it.'
          ]),
      'Kind regards'
    ].join('\n\n'),
    'zh-CN': [
      '您好：',
      `感谢您就 IP 地址 ${address} 提交的举报。`,
      ...(used.length === 0
        ? [`在 ${time}，该地址未租给我们的任何客户。`]
        : [
            used.length === 1
              ? `在 ${time}，该地址租给了我们的一位客户：`
              : `在 ${time}，该地址同时由 ${used.length} 个订单租用，分别用于不同的网站：`,
            used.map(term => chineseLine(term, used.length > 1)).join('\n'),
            '后续联系时请注明该编号。我们仅向有权查询的主管机关提供客户身份信息。'
          ]),
      '此致'
    ].join('\n\n')
  }
}

/** Did the proxies of this lease work at `at`? */
const isUsed = ({ active_from, stopped_at }: Term, at: Date): boolean =>
  active_from !== null && new Date(active_from) <= at && (stopped_at === null || new Date(stopped_at) > at)

function englishLine({ order, acls, active_from, stopped_at }: Term, several: boolean): string {
  const sites = several ? `, sites: ${namesOf(acls)}` : ''
  return `- Reference ${order}${sites}: from ${utc(active_from)} ${stopped_at ? `until ${utc(stopped_at)}` : 'until now'}`
}

function chineseLine({ order, acls, active_from, stopped_at }: Term, several: boolean): string {
  const sites = several ? `，网站：${namesOf(acls)}` : ''
  return `- 编号 ${order}${sites}：${utc(active_from)} 至 ${stopped_at ? utc(stopped_at) : '今'}`
}

const namesOf = (acls: AddressLease['acls']) => acls.map(({ name }) => name).join(', ')

/** Format: '2026-03-01 12:00:00 UTC'. */
const utc = (time: string | null) => (time ? `${time.slice(0, 19).replace('T', ' ')} UTC` : '')

type LeaseQuery = ListInput<'id'> & { address: string; from?: string | undefined; to?: string | undefined }

const instantOf = (time: string | undefined) => (time === undefined ? undefined : new Date(time))

/** Who held addresses of a range in a span of time, newest first. */
export const leaseList = defineList<LeaseQuery, AddressLease>({
  name: 'addresses',
  table: leaseBlocks,
  id: leaseBlocks.id,
  sort: { id: leaseBlocks.id },
  match: (db, { address, from, to }) => historyIn(db, address, { from: instantOf(from), to: instantOf(to) }),
  load: (db, ids) => presentLeases(db, ids)
})

/** Mounts the calls that tell who held which address. Each look is written to the audit log. */
export function addressRoutes(mount: Mount, ctx: AppContext): void {
  const { inventory } = routes
  mount(inventory.addressHolders, call => holdersOf(ctx, call.caller, call.query))
  const columns = columnsOf(inventory.addressLeases)
  mount(inventory.addressLeases, async ({ caller, query, reply }) => {
    const range = parseAddress(query.address)
    if (!range.ok) return fieldRefusal('address', 'invalid_lines', { problem: range.message })
    const { from, to, format } = query
    const look: Look = { by: caller.id, question: JSON.stringify([range.cidr, from, to]) }
    const given = query.after === undefined ? undefined : openCursor(ctx, query.after)
    if (query.after !== undefined && given?.question !== look.question) return badCursor()
    // The next page of a recorded look needs no new entry. Each file, and each look that another person began, does.
    if (given?.by !== look.by || format === 'csv') await auditLookUp(ctx, caller, range.cidr, { from, to, format })
    const asked = { ...query, address: range.cidr, after: given?.place }
    const answer = await answerList(ctx, leaseList, asked, { columns, reply })
    if (answer === SENT || !answer.ok) return answer
    const { next } = answer.data
    return ok({ ...answer.data, next: next && sealCursor(ctx, { ...look, place: next }) })
  })
}

/** Who asked, and for which range and span. */
type Look = { by: number; question: string }
type Cursor = Look & { place: string }

/** A sealed cursor cannot be forged, so it proves that the audit log has its look. */
const sealCursor = ({ secrets }: Pick<AppContext, 'secrets'>, cursor: Cursor): string =>
  secrets.seal(JSON.stringify(cursor)).toString('base64url')

/** The content of a sealed cursor; undefined if it is not valid. */
function openCursor({ secrets }: Pick<AppContext, 'secrets'>, sealed: string): Cursor | undefined {
  try {
    return JSON.parse(secrets.open(Buffer.from(sealed, 'base64url'))) as Cursor
  } catch {
    return undefined
  }
}

async function holdersOf(
  ctx: AppContext,
  by: Actor,
  query: { address: string; at?: string | undefined }
): Promise<Result<ReplyOf<typeof routes.inventory.addressHolders>>> {
  const range = parseAddress(query.address)
  if (!range.ok) return fieldRefusal('address', 'invalid_lines', { problem: range.message })
  if (range.units !== 1) return refuse('invalid', { data: { errors: { address: 'Must be an IP address' } } })
  const [ip = ''] = range.cidr.split('/')
  const instant = instantOf(query.at) ?? ctx.now()
  await auditLookUp(ctx, by, ip, { at: iso(instant) })
  const ever = await addressHolders(ctx.db, { ip })
  const held = ever.filter(one => one.from <= instant && (one.to === null || one.to > instant))
  const before = ever
    .filter(one => one.to !== null && one.to <= instant)
    .toSorted((a, b) => Number(b.to) - Number(a.to) || b.id - a.id)[0]
  const after = ever.findLast(one => one.from > instant)
  const present = async (some: { id: number }[], then?: Date) => {
    const leases = await presentLeases(
      ctx.db,
      some.map(({ id }) => id),
      then
    )
    const byId = new Map(leases.map(lease => [lease.id, lease]))
    return some.flatMap(({ id }) => byId.get(id) ?? [])
  }
  const shown = await present(held, instant)
  const now = await rangeOf(ctx.db, ip)
  const [server] = now?.serverId
    ? await ctx.db.select({ id: servers.id, name: servers.name }).from(servers).where(eq(servers.id, now.serverId))
    : []
  return ok({
    address: ip,
    at: iso(instant),
    range: now ? { id: now.id, cidr: now.cidr } : null,
    server: server ?? null,
    held: shown,
    before: (await present(before ? [before] : []))[0] ?? null,
    after: (await present(after ? [after] : []))[0] ?? null,
    texts: abuseReplies({ address: ip, at: instant, held: shown })
  })
}

const later = (one: Date, other: Date | undefined): Date => (other && other > one ? other : one)

/** When each order last came back after its end. Delivery attempts before that say nothing about the current leases. */
async function termsOf(db: Executor, orderIds: number[]): Promise<Map<number, Date>> {
  const rows = await db
    .select({ orderId: orderEvents.orderId, at: max(orderEvents.at) })
    .from(orderEvents)
    .where(and(inArray(orderEvents.orderId, orderIds), inArray(orderEvents.kind, ['revive', 'reopen'])))
    .groupBy(orderEvents.orderId)
  return new Map(rows.flatMap(({ orderId, at: came }) => (came ? [[orderId, came] as const] : [])))
}

/**
 * When a lease's proxies stopped: at its release, or at the end of its order, which may be served again later. If they
 * stopped several times: the stop that lasts at `at`, or else the next one.
 * @param unserved the spans in which its order was not served, oldest first
 * @param at by default the release, or now
 */
function stopOf(releasedAt: Date | null, unserved: Unserved[], at = releasedAt): Date | null {
  const stop = unserved.find(({ to }) => to === null || (at !== null && to > at))?.from
  return stop && (!releasedAt || stop < releasedAt) ? stop : releasedAt
}

/**
 * Entries of the lease history with their orders, customers and limits, without credentials.
 * @param at the instant in question; by default their whole time
 */
async function presentLeases(db: Executor, ids: number[], at?: Date): Promise<AddressLease[]> {
  const entries = await historyEntries(db, ids)
  if (entries.length === 0) return []
  const orderIds = [...new Set(entries.map(entry => entry.orderId))]
  const [rows, names, proofs] = await Promise.all([
    db
      .select({
        id: orders.id,
        order: orders.publicId,
        userId: orders.userId,
        username: users.username,
        deliveredAt: orders.deliveredAt,
        expiredAt: orders.expiredAt,
        endedAt: orders.endedAt
      })
      .from(orders)
      .innerJoin(users, eq(users.id, orders.userId))
      .where(inArray(orders.id, orderIds)),
    ruleNames(db),
    termsOf(db, orderIds).then(terms =>
      proofsOfLeases(
        db,
        entries.map(entry => ({ ...entry, since: later(entry.leasedAt, terms.get(entry.orderId)) }))
      )
    )
  ])
  const byId = new Map(rows.map(row => [row.id, row]))
  const unserved = await unservedSpans(db, rows)
  return entries.flatMap(entry => {
    const order = byId.get(entry.orderId)
    if (!order) return []
    return {
      id: entry.id,
      address: entry.address,
      order_id: order.id,
      order: order.order,
      user_id: order.userId,
      username: order.username,
      acls: entry.rules.map(id => ({ id, name: names.get(id) ?? `#${id}` })),
      leased_at: iso(entry.leasedAt),
      active_from: isoOrNull(entry.activeFrom),
      released_at: isoOrNull(entry.releasedAt),
      stopped_at: isoOrNull(stopOf(entry.releasedAt, unserved.get(order.id) ?? [], at)),
      delivered_at: isoOrNull(order.deliveredAt),
      expired_at: isoOrNull(order.expiredAt),
      proof: proofs.get(entry.id) ?? null
    }
  })
}
