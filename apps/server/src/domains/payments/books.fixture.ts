import type { InboxEntry } from '@netlet/contract'
import { and, desc, eq, sql } from '../../infra/db/drizzle.ts'
import { eventHandlers } from '../../event-handlers.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { loadInOrder } from '../../infra/list/paginate.ts'
import { paidEvent } from '../../testing/buying.ts'
import { users } from '../accounts/tables.ts'
import { storeEvent } from '../commerce/index.ts'
import { handleEvent } from '../commerce/handle-event.ts'
import { isAboutMoney, platformEvents } from '../commerce/tables.ts'
import { inboxList } from '../inbox/inbox.ts'
import type { OrderRow } from '../orders/index.ts'
import { startOrderShop } from './order-shop.fixture.ts'
import { payments } from './tables.ts'

export type Paid = ReturnType<typeof paidEvent>
export const LINES = { '11': 8, '901': 8 }

export type Books = Awaited<ReturnType<typeof startBooks>>

/** An order shop with an invited buyer, the inviter and an administrator, and helpers that report money events. */
export async function startBooks(options: Parameters<typeof startOrderShop>[0] = {}) {
  const world = await startOrderShop(options)
  const buyer = await world.customer('buyer')
  const inviter = await world.customer('inviter')
  const admin = await world.admin('boss')
  const db = () => world.shop.ctx.db
  const now = () => world.shop.ctx.now()
  await db().update(users).set({ invitedBy: inviter.user.id }).where(eq(users.id, buyer.user.id))
  let serial = 0
  async function tell(topic: keyof typeof eventHandlers, payload: unknown): Promise<string | null> {
    const eventId = `${topic} books-${++serial}`
    const { ctx } = world.shop
    await command(ctx, SYSTEM, unit => storeEvent(unit, { eventId, topic, payload }))
    await handleEvent(ctx, eventHandlers, eventId)
    const [event] = await ctx.db.select().from(platformEvents).where(eq(platformEvents.eventId, eventId))
    return event?.outcome ?? null
  }

  const paymentFor = (order: OrderRow, more: Partial<Parameters<typeof paidEvent>[0]> = {}) =>
    paidEvent({ publicId: order.publicId, amount: '20.00', lines: LINES, ...more })

  const dispute = ({ id }: Pick<Paid, 'id'>, status: string, more: object = {}) =>
    tell(status === 'needs_response' ? 'disputes/create' : 'disputes/update', {
      id: 7000 + (id % 1000),
      order_id: id,
      type: 'chargeback',
      status,
      amount: '20.00',
      currency: 'USD',
      ...more
    })

  const refund = ({ id }: Pick<Paid, 'id'>, amount: string) =>
    tell('refunds/create', {
      id: ++serial,
      order_id: id,
      transactions: [{ kind: 'refund', status: 'success', amount, currency: 'USD' }]
    })

  async function delivered(): Promise<{ order: OrderRow; paid: Paid }> {
    const placed = await world.place(buyer)
    const paid = paymentFor(placed)
    if ((await tell('orders/paid', paid)) !== 'settled') throw new Error('the payment was not settled')
    await world.confirm()
    return { order: await world.row(placed.id), paid }
  }

  const paymentRow = async ({ id }: Pick<Paid, 'id'>) => {
    const [payment] = await db()
      .select()
      .from(payments)
      .where(eq(payments.platformOrderId, String(id)))
    if (!payment) throw new Error('no such payment')
    return payment
  }

  /** What the buyer and the inviter have, and the shop's revenue. */
  async function books() {
    const { rows } = await db().execute<{
      points: number
      coins: number
      owed: number
      rewards: number
      revenue: string
    }>(sql`
      select (select level_points from users where id = ${buyer.user.id}) as points,
        (select coins from users where id = ${inviter.user.id}) as coins,
        (select coins_owed from users where id = ${inviter.user.id}) as owed,
        (select level_points from users where id = ${inviter.user.id}) as rewards,
        (select coalesce(sum(amount - refunded_amount), 0.00)::text from payments where accepted) as revenue`)
    return rows[0]
  }

  /** A payment's events as the inbox lists them, newest first. Read by their ids: to plan a search takes longer than most tests. */
  async function entriesOf({ id }: Pick<Paid, 'id'>): Promise<InboxEntry[]> {
    const events = await db()
      .select({ id: platformEvents.id })
      .from(platformEvents)
      .where(and(eq(platformEvents.platformOrderId, String(id)), isAboutMoney(platformEvents.topic)))
      .orderBy(desc(platformEvents.id))
    const ids = events.map(event => event.id)
    return loadInOrder(db(), inboxList({ now: now() }), ids)
  }
  const openOf = async (paid: Pick<Paid, 'id'>) => (await entriesOf(paid)).filter(({ unresolved }) => unresolved)
  const act = (entry: InboxEntry | undefined, action: 'apply' | 'refunded' | 'ignore', body: object) =>
    admin.post(`/api/payments/inbox/${entry?.id}/${action}/`, { version: entry?.version, ...body })
  const reopen = ({ id }: OrderRow) => admin.post(`/api/orders/order_list/${id}/reopen/`, {})

  const daysLeft = ({ expiredAt }: OrderRow) => Math.round(((expiredAt?.getTime() ?? 0) - now().getTime()) / DAY)

  const chargeback = {
    opened: (paid: Paid) => dispute(paid, 'needs_response'),
    won: (paid: Paid) => dispute(paid, 'won')
  }
  return {
    world,
    buyer,
    inviter,
    admin,
    db,
    now,
    tell,
    paymentFor,
    dispute,
    refund,
    delivered,
    paymentRow,
    books,
    entriesOf,
    openOf,
    act,
    reopen,
    daysLeft,
    chargeback
  }
}
