import type { EgressMode } from '@netlet/contract'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { SYSTEM } from '../../../infra/actor.ts'
import { type Unit, command } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import type { Executor } from '../../../infra/db/client.ts'
import {
  type SQL,
  and,
  asc,
  eq,
  inArray,
  isNotNull,
  isNull,
  ne,
  notInArray,
  or,
  sql
} from '../../../infra/db/drizzle.ts'
import { lock } from '../../../infra/db/locks.ts'
import { troubledSince } from '../agent-health.ts'
import { convergeQueue, denyListsQueue, repairQueue } from '../queues.ts'
import { agentUsers, orderAccess, servers } from '../tables.ts'

const nextGeneration = sql<number>`nextval('agent_generation')`

/** The desired state of one proxy user on an agent. */
export type WantedUser = {
  serverId: number
  username: string
  /** Null for a user made by hand. */
  orderId: number | null
  password: string
  /** Canonical address ranges on that server. */
  prefixes: string[]
  /** Ids of the access rules that were bought. */
  rules: number[]
  /** `fixed` by default. */
  egress?: EgressMode
}

type AgentUserRow = typeof agentUsers.$inferSelect

/**
 * Makes these users wanted on their agents; jobs bring the agents there. `setDesiredUsers` of convergence calls it, and
 * asks for proofs of what the users had before.
 * @returns the users' rows, and orders that lost listed clients, because other orders with the same addresses list them
 * already
 */
export async function upsertDesiredUsers(
  unit: Unit,
  users: WantedUser[]
): Promise<{ rows: AgentUserRow[]; shortened: number[] }> {
  const rows = await unit.tx
    .insert(agentUsers)
    .values(users)
    .onConflictDoUpdate({
      target: [agentUsers.serverId, agentUsers.username],
      set: {
        orderId: sql`excluded.order_id`,
        password: sql`excluded.password`,
        prefixes: sql`excluded.prefixes`,
        rules: sql`excluded.rules`,
        egress: sql`excluded.egress`,
        wanted: true,
        refusal: null,
        generation: nextGeneration,
        handOver: sql`${agentUsers.handOver} or ${agentUsers.password} <> excluded.password
          or not excluded.prefixes <@ ${agentUsers.prefixes}`
      }
    })
    .returning()
  const shortened = await yieldToEarlierOrders(unit, [...new Set(users.flatMap(({ orderId }) => orderId ?? []))])
  await askOtherAgents(unit, shortened, users)
  enqueueConverge(
    unit,
    users.map(user => user.serverId)
  )
  return { rows, shortened }
}

/** An order has one client list for all of its agents. The others would still let the removed clients in. */
async function askOtherAgents(unit: Unit, orderIds: number[], users: WantedUser[]): Promise<void> {
  if (orderIds.length === 0) return
  const { orderId, serverId, wanted } = agentUsers
  const asked = users.map(user => user.serverId)
  const rows = await unit.tx
    .update(agentUsers)
    .set({ generation: nextGeneration, refusal: null })
    .where(and(inArray(orderId, orderIds), eq(wanted, true), notInArray(serverId, asked)))
    .returning({ serverId })
  enqueueConverge(
    unit,
    rows.map(row => row.serverId)
  )
}

/** Makes an order's user unwanted on the named servers, or on all of its servers. */
export async function removeDesiredUsers(unit: Unit, orderId: number, serverIds?: number[]): Promise<void> {
  const rows = await unit.tx
    .update(agentUsers)
    .set({ wanted: false, refusal: null, generation: nextGeneration })
    .where(
      and(
        eq(agentUsers.orderId, orderId),
        eq(agentUsers.wanted, true),
        serverIds ? inArray(agentUsers.serverId, serverIds) : undefined
      )
    )
    .returning({ serverId: agentUsers.serverId })
  enqueueConverge(
    unit,
    rows.map(row => row.serverId)
  )
}

/** The part of `dropDesiredUser` of convergence that deletes the user. @returns its row */
export async function dropUser(unit: Unit, serverId: number, orderId: number): Promise<AgentUserRow[]> {
  unit.publish('server', serverId)
  return unit.tx
    .delete(agentUsers)
    .where(and(eq(agentUsers.serverId, serverId), eq(agentUsers.orderId, orderId)))
    .returning()
}

/** Sends every agent its deny lists again after an edit of the access rules, once the transaction has committed. */
export function enqueueDenyLists(unit: Unit): void {
  unit.jobs.send(denyListsQueue, {}, { key: 'all' })
}

/** The work of that job, in a transaction of its own: it locks every user, and could deadlock with deliveries. */
export async function renewDenyLists(ctx: AppContext): Promise<void> {
  // A rule edit that ran while this job waited sent no other job, and may not have committed yet. Wait for it, or the
  // agents would get the old lists.
  await command(ctx, SYSTEM, ({ tx }) => tx.execute(sql`lock table acl_rules in share mode`))
  await command(ctx, SYSTEM, async unit => {
    const { rows } = await unit.tx.execute<{ serverId: number }>(sql`
      with ordered as (
        select server_id, username from agent_users where wanted order by server_id, username for update
      )
      update agent_users set generation = nextval('agent_generation'), refusal = null
      from ordered
      where agent_users.server_id = ordered.server_id and agent_users.username = ordered.username
      returning agent_users.server_id as "serverId"`)
    enqueueConverge(
      unit,
      rows.map(row => row.serverId)
    )
  })
}

/**
 * Has the agent load and unload ranges after an edit of a server's ranges. It touches no users: the caller holds the
 * inventory's exclusive lock, and a transaction that holds a user may wait for that lock.
 */
export async function renewPrefixes(unit: Unit, serverId: number): Promise<void> {
  await unit.tx
    .update(servers)
    .set({ prefixesGeneration: sql`${servers.prefixesGeneration} + 1` })
    .where(eq(servers.id, serverId))
  enqueueConverge(unit, [serverId])
}

/** How far the agents are with an order's user, by server. */
export async function agentProgress(db: Executor, orderId: number) {
  return (
    db
      .select({
        serverId: agentUsers.serverId,
        server: servers.name,
        wanted: agentUsers.wanted,
        prefixes: agentUsers.prefixes,
        inStep: sql<boolean>`${agentUsers.generation} = ${agentUsers.appliedGeneration}`,
        refusal: agentUsers.refusal
      })
      .from(agentUsers)
      .innerJoin(servers, eq(servers.id, agentUsers.serverId))
      .where(eq(agentUsers.orderId, orderId))
      // A fixed order, so that of two refusals the same one is shown each time.
      .orderBy(asc(agentUsers.serverId))
  )
}

/**
 * Whether an order's user waits for a server that is away or takes no changes. Uses an index as `holdsAddresses` does.
 * @param orderId a column
 */
export const waitsForServer = (orderId: PgColumn): SQL<boolean> => sql<boolean>`exists (
  select 1 from ${agentUsers} join ${servers} on ${servers.id} = ${agentUsers.serverId}
  where ${agentUsers.orderId} = ${orderId} and ${agentUsers.wanted} and ${troubledSince} is not null
    and ${agentUsers.generation} <> ${agentUsers.appliedGeneration} offset 0)`

/** Servers whose agents lack a change, or failed to take the last one. */
export async function serversBehind(db: Executor): Promise<number[]> {
  const users = db
    .select({ id: agentUsers.serverId })
    .from(agentUsers)
    .where(and(sql`${agentUsers.generation} <> ${agentUsers.appliedGeneration}`, isNull(agentUsers.refusal)))
  const ranges = db
    .select({ id: servers.id })
    .from(servers)
    .where(
      and(
        or(ne(servers.prefixesGeneration, servers.prefixesApplied), isNotNull(servers.failingSince)),
        isNull(servers.deletedAt)
      )
    )
  const rows = await users.union(ranges)
  return rows.map(row => row.id)
}

/** Has the agents of these servers converge once the command has committed. They show as behind until then. */
export function enqueueConverge(unit: Unit, serverIds: number[]): void {
  for (const serverId of new Set(serverIds)) {
    unit.jobs.send(convergeQueue, { serverId }, { key: String(serverId), group: String(serverId) })
    unit.publish('server', serverId)
  }
}

/** Also compares the whole server: another agent may answer there, or one with another state than recorded. */
export function enqueueFullSync(unit: Unit, serverId: number): void {
  enqueueConverge(unit, [serverId])
  enqueueRepair(unit, serverId)
}

/** Has one agent compared with its desired state. @param startIn milliseconds */
export function enqueueRepair(unit: Unit, serverId: number, startIn?: number): void {
  const key = String(serverId)
  unit.jobs.send(repairQueue, { serverId }, { key, ...(startIn === undefined ? {} : { startIn }) })
}

/**
 * Removes clients from the lists of orders that get new addresses, if another order with these addresses already lists
 * them, so that the earlier order keeps its access. A list that becomes empty turns into a password.
 * @returns the orders whose lists changed; their agents need the new ones
 */
async function yieldToEarlierOrders(unit: Unit, orderIds: number[]): Promise<number[]> {
  const { tx } = unit
  const listing = and(inArray(orderAccess.orderId, orderIds), eq(orderAccess.access, 'address'))
  if ((await tx.$count(orderAccess, listing)) === 0) return []
  await lock(tx, 'clientLists')
  const lists = await tx.select().from(orderAccess).where(listing).orderBy(asc(orderAccess.orderId))
  const changed: number[] = []
  for (const { orderId, clientIps } of lists) {
    const taken = await listedElsewhere(tx, orderId, clientIps)
    if (taken.length === 0) continue
    const left = clientIps.filter(line => !taken.includes(line))
    const access = left.length > 0 ? 'address' : 'password'
    await tx
      .update(orderAccess)
      .set({ access, clientIps: left, changedAt: unit.now })
      .where(eq(orderAccess.orderId, orderId))
    unit.audit('order.client_access', orderId, {
      before: { access: 'address', client_ips: clientIps },
      after: { access, client_ips: left }
    })
    changed.push(orderId)
  }
  return changed
}

/**
 * The clients that another order with the same leased addresses already lets in. An agent could not tell them apart,
 * and would ask both for the password.
 */
export async function listedElsewhere(db: Executor, orderId: number, clients: string[]): Promise<string[]> {
  const { rows } = await db.execute<{ line: string }>(sql`
    with sharing as materialized (
      select distinct other.order_id
      from agent_users mine
      join agent_users other on other.server_id = mine.server_id and other.order_id <> mine.order_id and other.wanted
      join order_access o on o.order_id = other.order_id and o.access = 'address'
      where mine.order_id = ${orderId} and mine.wanted and exists (
        select 1 from unnest(mine.prefixes) a, unnest(other.prefixes) b where a::inet && b::inet)
    )
    select line from unnest(${sql.param(clients)}::text[]) with ordinality as own (line, n)
    where exists (
      select 1 from sharing join order_access o using (order_id), unnest(o.client_ips) theirs
      where theirs::inet && line::inet)
    order by n`)
  return rows.map(({ line }) => line)
}

/** Users made by hand with addresses outside the server's ranges. */
export async function usersOutsideRanges(db: Executor, serverId: number): Promise<string[]> {
  const rows = await db
    .select({ username: agentUsers.username })
    .from(agentUsers)
    .where(
      and(
        eq(agentUsers.serverId, serverId),
        isNull(agentUsers.orderId),
        eq(agentUsers.wanted, true),
        sql`exists (select 1 from unnest(${agentUsers.prefixes}) as prefix where not exists (
          select 1 from cidrs c where c.server_id = ${serverId} and c.deleted_at is null and c.cidr >>= prefix::inet))`
      )
    )
    .orderBy(asc(agentUsers.username))
  return rows.map(row => row.username)
}

/** Removes users made by hand: the named ones, or all on the server. Users of orders are never touched. */
export async function removeUsersByHand(unit: Unit, serverId: number, usernames?: string[]): Promise<string[]> {
  const rows = await unit.tx
    .update(agentUsers)
    .set({ wanted: false, refusal: null, generation: sql`nextval('agent_generation')` })
    .where(
      and(
        eq(agentUsers.serverId, serverId),
        isNull(agentUsers.orderId),
        usernames && sql`${agentUsers.username} = any(${sql.param(usernames)}::text[])`
      )
    )
    .returning({ username: agentUsers.username })
  if (rows.length > 0) enqueueConverge(unit, [serverId])
  return rows.map(row => row.username)
}
