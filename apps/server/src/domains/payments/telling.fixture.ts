import { sql } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { paidEvent } from '../../testing/buying.ts'
import { eventHandlers } from '../../workers.ts'
import { handleEvent, storeEvent } from '../commerce/index.ts'

let ids = 7_000_000
/** The platform's own id of something new. */
export const nextId = (): number => (ids += 1)

/** Of everything more than any order of an order shop needs. */
const EVERYTHING = { '11': 10_000, '901': 10_000, '902': 10_000 }
/** Of nothing that it needs. */
export const NOTHING = { '999': 1 }

/** What the platform tells of a paid order. */
export const paidOrder = (publicId: string, amount: string, more: Partial<Parameters<typeof paidEvent>[0]> = {}) =>
  paidEvent({ publicId, amount, lines: EVERYTHING, id: nextId(), ...more })

/** Tells the shop, and has the event handled as its job does. @returns what came of it; null: no outcome */
export async function tell(ctx: AppContext, topic: string, payload: object): Promise<string | null> {
  const eventId = `told-${nextId()}`
  await command(ctx, SYSTEM, unit => storeEvent(unit, { eventId, topic, payload }))
  await handleEvent(ctx, eventHandlers, eventId)
  const { rows } = await ctx.db.execute<{ outcome: string | null }>(
    sql`select outcome from platform_events where event_id = ${eventId}`
  )
  return rows[0]?.outcome ?? null
}

/** The platform gave money back. */
export const tellRefund = (ctx: AppContext, platformOrderId: number, amount: string): Promise<string | null> =>
  tell(ctx, 'refunds/create', {
    id: nextId(),
    order_id: platformOrderId,
    transactions: [{ kind: 'refund', status: 'success', amount, currency: 'USD' }]
  })
