import { and, asc, eq, isNotNull, isNull, not, sql, type SQL } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { handleEvent } from './handle-event.ts'
import type { ProductEventJob } from './queues.ts'
import { isAboutMoney, platformEvents, productOf } from './tables.ts'
import type { EventHandlers } from './topics.ts'

/** Handles the waiting events of one topic about one product; of those with a time only the newest. */
export async function handleProductEvents(
  ctx: AppContext,
  handlers: EventHandlers,
  job: ProductEventJob
): Promise<void> {
  const left = 'product' in job ? await command(ctx, SYSTEM, unit => endOlder(unit, job)) : [job.eventId]
  for (const eventId of left) await handleEvent(ctx, handlers, eventId)
}

/** Ends events that a newer event of their product replaces. @returns the events left to handle, in order */
async function endOlder(
  { tx, now }: Unit,
  { topic, product }: Extract<ProductEventJob, { product: string }>
): Promise<string[]> {
  const waiting = await tx
    .select({ eventId: platformEvents.eventId, at: sql<string | null>`${platformEvents.payload} ->> 'updated_at'` })
    .from(platformEvents)
    .where(
      and(
        eq(productOf(platformEvents.payload), product),
        eq(platformEvents.topic, topic),
        isNull(platformEvents.processedAt),
        sql`${platformEvents.topic} like 'products/%'`
      )
    )
    // In a fixed order, so that two jobs that end the same events do not deadlock.
    .orderBy(asc(platformEvents.id))
    .for('update')
  const at = (event: (typeof waiting)[number]) => Date.parse(event.at ?? '')
  const dated = waiting.filter(event => !Number.isNaN(at(event)))
  const newest = dated.reduce<(typeof dated)[number] | undefined>(
    (best, event) => (best && at(best) > at(event) ? best : event),
    undefined
  )
  const older = dated.filter(event => event !== newest).map(event => event.eventId)
  if (older.length > 0)
    await tx
      .update(platformEvents)
      .set({ processedAt: now, outcome: 'ignored', payload: {} })
      .where(sql`${platformEvents.eventId} = any(${sql.param(older)}::text[])`)
  const undated = waiting.filter(event => Number.isNaN(at(event)))
  return [...undated, ...(newest ? [newest] : [])].map(event => event.eventId)
}

type Payer = { email: string; publicIds: string[]; platformOrderIds: string[] }

/** Keys of personal data, at any depth of an event. Ids, lines and money stay. */
const PERSONAL =
  /mail|phone|address|customer|client_details|browser_ip|user_agent|first_name|last_name|company|receipt|payment_details|landing|referring|token|status_url|^note$|latitude|longitude/

/**
 * Removes a person's data from handled platform events: those of the person's orders, and those that contain the e-mail
 * address. Unhandled events stay whole, because their handling may have to notify the payer.
 * @param isUnresolved condition for events that wait for an administrator, from the domain inbox
 */
export async function forgetPayer(
  { tx }: Unit,
  { email, publicIds, platformOrderIds }: Payer,
  isUnresolved: SQL
): Promise<void> {
  const payload = platformEvents.payload
  const address = email.toLowerCase()
  const found = await tx
    .select({ eventId: platformEvents.eventId, payload })
    .from(platformEvents)
    .where(
      and(
        isNotNull(platformEvents.processedAt),
        not(isUnresolved),
        isAboutMoney(platformEvents.topic),
        sql`(lower(${payload} ->> 'email') = ${address}
          or lower(${payload} ->> 'contact_email') = ${address}
          or lower(${payload} #>> '{customer,email}') = ${address}
          or ${payload} ->> 'id' = any(${sql.param(platformOrderIds)}::text[])
          or ${payload} ->> 'order_id' = any(${sql.param(platformOrderIds)}::text[])
          or exists (
            select 1 from jsonb_path_query(${payload}, '$.note_attributes[*].value') as attribute
            where attribute #>> '{}' = any(${sql.param(publicIds)}::text[])))`
      )
    )
    .for('update')
  for (const event of found)
    await tx
      .update(platformEvents)
      .set({ payload: withoutPerson(event.payload) })
      .where(eq(platformEvents.eventId, event.eventId))
}

function withoutPerson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPerson)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !PERSONAL.test(key))
      .map(([key, inner]) => [key, withoutPerson(inner)])
  )
}
