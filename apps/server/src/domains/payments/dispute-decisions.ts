/** What the platform has decided about a dispute, by the platform's own time: its webhooks come in any sequence. */
import { and, eq, inArray, isNotNull } from 'drizzle-orm'
import { DisputeEvent } from '../../integrations/shopify/index.ts'
import type { Executor } from '../../infra/db/client.ts'
import { platformEvents } from '../commerce/tables.ts'

/** States in which the buyer's bank has decided to keep the money. */
export const LOST: ReadonlySet<string> = new Set(['lost', 'accepted', 'charge_refunded'])
export const WON: ReadonlySet<string> = new Set(['won'])

/** When the platform decided so; null where it does not say. */
export function decidedAt({ finalized_on }: Pick<DisputeEvent, 'finalized_on'>): Date | null {
  const at = new Date(finalized_on ?? Number.NaN)
  return Number.isNaN(at.getTime()) ? null : at
}

/** When the platform last decided so of a dispute, as far as its handled events say; null where none says. */
export async function lastDecidedAt(
  db: Executor,
  { platformOrderId, id }: { platformOrderId: string; id: string },
  states: ReadonlySet<string>
): Promise<Date | null> {
  const told = await db
    .select({ payload: platformEvents.payload })
    .from(platformEvents)
    .where(
      and(
        eq(platformEvents.platformOrderId, platformOrderId),
        inArray(platformEvents.topic, ['disputes/create', 'disputes/update']),
        isNotNull(platformEvents.processedAt)
      )
    )
  const times = told.flatMap(({ payload }) => {
    const { data } = DisputeEvent.safeParse(payload)
    const at = data?.id === id && states.has(data.status) ? decidedAt(data) : null
    return at === null ? [] : [at.getTime()]
  })
  return times.length === 0 ? null : new Date(Math.max(...times))
}
