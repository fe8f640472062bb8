import { sql } from '../../infra/db/drizzle.ts'
import { eventHandlers } from '../../event-handlers.ts'
import { handleEvent } from '../commerce/index.ts'
import type { Books, Paid } from '../payments/books.fixture.ts'
import { platformOrder } from './platform-orders.fixture.ts'
import { reconcilePayments } from './reconcile.ts'

type Order = ReturnType<typeof platformOrder>

/** Sets what the platform's API returns for an order. */
export function says(
  { world, now }: Books,
  paid: Paid,
  refunds: Parameters<typeof platformOrder>[1] & object,
  more: Partial<
    Pick<Order, 'createdAt' | 'updatedAt' | 'displayFinancialStatus' | 'fullyPaid' | 'disputes' | 'discountCodes'>
  > & {
    cancelledAt?: string
    /** `after`: the place in this list of the one whose result it is. */
    transactions?: { kind: string; status: string; manualPaymentGateway?: boolean; after?: number }[]
  } = {}
): void {
  const order = platformOrder(paid, refunds)
  const link = (at: number) => ({ id: `gid://shopify/OrderTransaction/${at}` })
  const transactions = more.transactions?.map(({ after, ...one }, at) => ({
    ...link(at),
    ...one,
    parentTransaction: after === undefined ? null : link(after)
  }))
  world.platformOrders.known.set(String(paid.id), {
    ...order,
    updatedAt: now().toISOString(),
    ...more,
    ...(transactions && { transactions })
  })
}

/** Reconciles and handles the events. @returns how many were found */
export async function reconcile({ world }: Books): Promise<number> {
  const { ctx } = world.shop
  const found = await reconcilePayments(ctx)
  const { rows } = await ctx.db.execute<{ event_id: string }>(
    sql`select event_id from platform_events where processed_at is null order by id`
  )
  for (const { event_id } of rows) await handleEvent(ctx, eventHandlers, event_id)
  return found
}

/** Sets the status of an unpaid order on the platform, which keeps the time when its checkout ended, and reads it. */
export async function readUnpaid(
  b: Books,
  paid: Paid,
  status: string,
  more: Parameters<typeof says>[3] = {}
): Promise<void> {
  const known = b.world.platformOrders.known.get(String(paid.id)) as Partial<Order> | undefined
  const createdAt = known?.createdAt ?? b.now().toISOString()
  says(b, paid, [], { createdAt, displayFinancialStatus: status, fullyPaid: false, ...more })
  await reconcile(b)
}
