import { refuse, type AccessProof, type LeaseProof } from '@netlet/contract'
import { and, desc, eq, isNull, sql, asc } from '../../infra/db/drizzle.ts'
import type { Actor } from '../../infra/actor.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { setWithheldRanges, lockServer } from '../servers/index.ts'
import { accessProofs } from './tables.ts'
import { servers } from '../servers/tables.ts'
import type { Found, NoticeFinder } from '../notices/index.ts'

const SHOWN = 100

/** The blocks in which the inventory sells. An address is withheld with the others of its block. */
const block = sql`network(set_masklen(prefix::inet, least(masklen(prefix::inet), case family(prefix::inet) when 4 then 24 else 56 end)))::text`
/** It needs an operator. */
const isOpenProof = and(eq(accessProofs.state, 'failed'), isNull(accessProofs.acknowledgedAt))

/** Takes addresses out of stock that old credentials still open, and puts them back when that is over. */
export async function renewWithheld(unit: Unit, serverId: number): Promise<void> {
  // Another proof of this server may end at the same time. The later one has to see the earlier.
  await lockServer(unit, serverId)
  const { rows } = await unit.tx.execute<{ ranges: string[] }>(sql`
    select coalesce(array_agg(distinct ${block}), '{}') as ranges
    from ${accessProofs}, unnest(prefixes) as prefix
    where server_id = ${serverId} and kind = 'revocation' and ${isOpenProof}`)
  await setWithheldRanges(unit, serverId, rows[0]?.ranges ?? [])
}

/** The number of proofs that need an operator. */
export const countOpenProofs = (db: Executor): Promise<number> => db.$count(accessProofs, isOpenProof)

type Of = { server_id?: number | undefined; order_id?: number | undefined }

/** The newest proofs: the open ones, or all of a server or an order. */
export async function listProofs(db: Executor, { server_id: serverId, order_id: orderId }: Of) {
  const rows = await selectProofs(db)
    .where(
      and(
        serverId === undefined && orderId === undefined ? isOpenProof : undefined,
        serverId === undefined ? undefined : eq(accessProofs.serverId, serverId),
        orderId === undefined ? undefined : eq(accessProofs.orderId, orderId)
      )
    )
    .orderBy(desc(accessProofs.id))
    .limit(SHOWN)
  return { proofs: rows.map(present) }
}

const selectProofs = (db: Executor) =>
  db
    .select({ proof: accessProofs, server: servers.name })
    .from(accessProofs)
    .innerJoin(servers, eq(servers.id, accessProofs.serverId))

/** Without credentials. */
const present = ({ proof, server }: { proof: typeof accessProofs.$inferSelect; server: string }): AccessProof => ({
  id: proof.id,
  kind: proof.kind,
  cause: proof.cause,
  state: proof.state,
  order_id: proof.orderId,
  server_id: proof.serverId,
  server,
  prefixes: proof.prefixes,
  tries: proof.tries,
  asked_at: iso(proof.askedAt),
  settled_at: isoOrNull(proof.settledAt),
  acknowledged_at: isoOrNull(proof.acknowledgedAt),
  acknowledged_by: proof.acknowledgedBy
})

/** Marks a failed proof as seen: its tries end, and what was withheld is sold. Doing it again changes nothing. */
export const acknowledgeProof = (ctx: AppContext, by: Actor, id: number): Promise<Result<AccessProof>> =>
  command(ctx, by, async unit => {
    const { tx, now } = unit
    const [taken] = await tx
      .update(accessProofs)
      .set({
        acknowledgedAt: now,
        acknowledgedBy: by.kind === 'user' ? by.username : by.kind,
        nextAt: null,
        settledAt: now,
        password: null
      })
      .where(and(eq(accessProofs.id, id), isOpenProof))
      .returning()
    if (taken) {
      const { kind, username, prefixes } = taken
      unit.audit('server.acknowledge_proof', taken.serverId, { after: { kind, username, prefixes } })
      await renewWithheld(unit, taken.serverId)
    }
    const [row] = await selectProofs(tx).where(eq(accessProofs.id, id))
    return row ? ok(present(row)) : refuse('not_found')
  })

/**
 * The last proof that covers each of these leases, by lease id.
 * @param leases.since when the lease's term began; earlier proofs do not count
 */
export async function proofsOfLeases(
  db: Executor,
  leases: { id: number; orderId: number; address: string; since: Date }[]
): Promise<Map<number, LeaseProof>> {
  if (leases.length === 0) return new Map()
  const { rows } = await db.execute<{ id: string } & LeaseProof>(sql`
    select lease.id, found.state, found.tries -> 0 ->> 'answer' as answer, coalesce(found.settled_at, found.asked_at) as at
    from jsonb_to_recordset(${JSON.stringify(leases)}::jsonb)
      as lease(id bigint, "orderId" bigint, address text, since timestamptz)
    cross join lateral (
      select p.* from ${accessProofs} p
      where p.order_id = lease."orderId" and p.kind = 'revocation' and p.cause <> 'password' and p.asked_at >= lease.since
        and exists (select 1 from unnest(p.prefixes) prefix where prefix::inet && lease.address::inet)
      order by p.id desc limit 1) found`)
  return new Map(rows.map(({ id, state, answer, at }) => [Number(id), { state, answer, at: iso(new Date(at)) }]))
}

/** A notice names at most this many servers. */
const NAMED = 30

/** One notice for all servers: if many fail at once, they share the cause. */
async function findProofs(db: Executor): Promise<Found[]> {
  const rows = await db
    .select({ server: servers.name, ip: servers.ip, count: sql<number>`count(*)::int` })
    .from(accessProofs)
    .innerJoin(servers, eq(servers.id, accessProofs.serverId))
    .where(isOpenProof)
    .groupBy(servers.id)
    .orderBy(asc(servers.name))
  if (rows.length === 0) return []
  const named = rows.slice(0, NAMED).map(({ server, ip, count }) => `${server} (${ip}): ${count}`)
  if (rows.length > NAMED) named.push('…')
  return [
    { subject: '', words: 'proofs', params: { count: rows.length, servers: named.join(', ') }, count: rows.length }
  ]
}

export const proofFinder: NoticeFinder = { cause: 'proofs', every: 1, find: ({ db }) => findProofs(db) }
