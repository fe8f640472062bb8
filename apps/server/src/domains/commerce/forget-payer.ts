import { and, eq, isNotNull, not, sql, type SQL } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import { isAboutMoney, platformEvents } from './tables.ts'

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
