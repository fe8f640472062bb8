import { sql } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { paidEvent } from '../../testing/buying.ts'
import { eventHandlers } from '../../event-handlers.ts'
import { handleEvent, storeEvent } from '../commerce/index.ts'

let ids = 7_000_000
/** The next id on the platform. */
export const nextId = (): number => (ids += 1)

/** What an order of 8 in an order shop needs. */
const EVERYTHING = { '11': 8, '901': 8 }
/** Less than any order needs. */
export const TOO_LITTLE = { '11': 1 }

export const paidOrder = (publicId: string, amount: string, more: Partial<Parameters<typeof paidEvent>[0]> = {}) =>
  paidEvent({ publicId, amount, lines: EVERYTHING, id: nextId(), ...more })

/** Stores an event and handles it like its job. @returns its outcome; null: none */
export async function tell(ctx: AppContext, topic: string, payload: object): Promise<string | null> {
  const eventId = `told-${nextId()}`
  await command(ctx, SYSTEM, unit => storeEvent(unit, { eventId, topic, payload }))
  await handleEvent(ctx, eventHandlers, eventId)
  const { rows } = await ctx.db.execute<{ outcome: string | null }>(
    sql`select outcome from platform_events where event_id = ${eventId}`
  )
  return rows[0]?.outcome ?? null
}

export const tellRefund = (ctx: AppContext, platformOrderId: number, amount: string): Promise<string | null> =>
  tell(ctx, 'refunds/create', {
    id: nextId(),
    order_id: platformOrderId,
    transactions: [{ kind: 'refund', status: 'success', amount, currency: 'USD' }]
  })
