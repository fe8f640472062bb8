import { sql, type SQL } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { eventHandlers } from '../../event-handlers.ts'
import { handleEvent } from '../commerce/handle-event.ts'
import { storeEvent } from '../commerce/index.ts'
import type { OrderShop } from './order-shop.fixture.ts'

export type Told = { id: number; outcome: string; detail: Record<string, string> | null; unresolved: boolean }

let events = 0

/** Stores an event and handles it. @returns the event as the inbox shows it */
export async function tell({ shop: { ctx } }: Pick<OrderShop, 'shop'>, topic: string, payload: object): Promise<Told> {
  events += 1
  const eventId = `told-${events}`
  await command(ctx, SYSTEM, unit => storeEvent(unit, { eventId, topic, payload }))
  await handleEvent(ctx, eventHandlers, eventId)
  return one<Told>(
    ctx,
    sql`select id::int, outcome, detail, needs_hand and resolution is null as unresolved from platform_events where event_id = ${eventId}`
  )
}

/** The one row of a query. */
export async function one<Row extends Record<string, unknown>>(
  { db }: OrderShop['shop']['ctx'],
  query: SQL
): Promise<Row> {
  const { rows } = await db.execute(query)
  if (!rows[0]) throw new Error('no row')
  return rows[0] as Row
}
