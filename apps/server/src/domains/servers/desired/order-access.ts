import type { ClientAccessKind } from '@netlet/contract'
import { and, eq, getTableColumns, inArray, sql } from '../../../infra/db/drizzle.ts'
import { HOUR } from '../../../infra/clock.ts'
import type { Unit } from '../../../infra/command.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { lock } from '../../../infra/db/locks.ts'
import { enqueueConverge, listedElsewhere } from './desired-users.ts'
import { agentUsers, orderAccess } from '../tables.ts'

/** How an order's user lets clients in. `clientIps`: canonical prefixes, empty if only the password counts. */
export type OrderAccess = { access: ClientAccessKind; clientIps: string[] }

const access = sql<ClientAccessKind>`coalesce(${orderAccess.access}, 'password')`
const clientIps = sql<string[]>`coalesce(${orderAccess.clientIps}, '{}')`

/** Columns of an agent's user, to be joined with its `order_access`. */
export const withAccess = { ...getTableColumns(agentUsers), access, clientIps }

/** The access of an order, and whether one of its agents still lacks a change. */
export async function accessOf(
  db: Executor,
  orderId: number
): Promise<OrderAccess & { changedAt: Date | null; isPending: boolean }> {
  const [row] = await db.select().from(orderAccess).where(eq(orderAccess.orderId, orderId))
  const behind = await db.$count(
    agentUsers,
    and(
      eq(agentUsers.orderId, orderId),
      eq(agentUsers.wanted, true),
      sql`${agentUsers.generation} <> ${agentUsers.appliedGeneration}`
    )
  )
  return {
    access: row?.access ?? 'password',
    clientIps: row?.clientIps ?? [],
    changedAt: row?.changedAt ?? null,
    isPending: behind > 0
  }
}

/** Sets the access of a locked order and informs its agents. @returns a listed client that another order has, if any */
export async function setAccess(
  unit: Unit,
  orderId: number,
  wanted: OrderAccess
): Promise<{ ok: true } | { ok: false; taken: string }> {
  if (wanted.access === 'address') {
    await lock(unit.tx, 'clientLists')
    const [taken] = await listedElsewhere(unit.tx, orderId, wanted.clientIps)
    if (taken !== undefined) return { ok: false, taken }
  }
  const values = { ...wanted, changedAt: unit.now }
  await unit.tx
    .insert(orderAccess)
    .values({ orderId, attemptsSince: unit.now, ...values })
    .onConflictDoUpdate({ target: orderAccess.orderId, set: values })
  const rows = await unit.tx
    .update(agentUsers)
    .set({ generation: sql`nextval('agent_generation')`, refusal: null })
    .where(and(eq(agentUsers.orderId, orderId), eq(agentUsers.wanted, true)))
    .returning({ serverId: agentUsers.serverId })
  enqueueConverge(
    unit,
    rows.map(row => row.serverId)
  )
  return { ok: true }
}

/**
 * Counts a requested change even if it is refused: refusals reveal other orders' lists, and changes cut connections.
 * @returns when changes are allowed again, if there were more than `most` within an hour
 */
export async function countAccessAttempt(unit: Unit, orderId: number, most: number): Promise<Date | null> {
  const { tx, now } = unit
  const old = sql`${orderAccess.attemptsSince} <= ${new Date(now.getTime() - HOUR).toISOString()}`
  const [row] = await tx
    .insert(orderAccess)
    .values({ orderId, attempts: 1, attemptsSince: now })
    .onConflictDoUpdate({
      target: orderAccess.orderId,
      set: {
        attempts: sql`case when ${old} then 1 else least(${orderAccess.attempts} + 1, ${most + 1}) end`,
        attemptsSince: sql`case when ${old} then excluded.attempts_since else ${orderAccess.attemptsSince} end`
      }
    })
    .returning()
  return row && row.attempts > most ? new Date(row.attemptsSince.getTime() + HOUR) : null
}

/** Removes the access of these orders, because client addresses are personal data. Agents keep it until they change. */
export async function forgetAccess({ tx }: Unit, orderIds: number[]): Promise<void> {
  if (orderIds.length > 0) await tx.delete(orderAccess).where(inArray(orderAccess.orderId, orderIds))
}

/** With how the order's clients are let in. */
export type AgentUser = typeof agentUsers.$inferSelect & { access: ClientAccessKind; clientIps: string[] }
