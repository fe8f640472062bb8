import { eq, inArray, sql } from '../../../infra/db/drizzle.ts'
import { expect } from 'vitest'
import { DAY } from '../../../infra/clock.ts'
import { users } from '../../accounts/tables.ts'
import { audit } from '../../inventory/index.ts'
import { orders } from '../../orders/tables.ts'
import { pendingCoins } from '../../rewards/index.ts'
import { payments } from '../tables.ts'
import { compareFigures, wrongBooks } from '../../statements/books-check.ts'
import { coinPartsOf, pendingCoinsOf } from './books.fixture.ts'
import { freeFor, isServed, kept, lost, TERM, type Model, type ModelOrder, type Real } from './model.fixture.ts'
import { readPlacements, takeResting, type Placement } from './placement.fixture.ts'

/** Invariants after every step. */
export async function expectAll(model: Model, real: Real): Promise<void> {
  const { world } = real
  const { db } = world.shop.ctx
  // No address is leased twice under one rule, and the leases match the orders.
  expect(await audit(db)).toEqual({ differences: 0, doubleLeased: 0 })
  await takeResting(model, real)
  for (const [rule, id] of world.rules.entries()) expect(await world.stock([id])).toBe(freeFor(model, rule))
  await expectOrders(model, real)
  await expectMoney(model, real)
  await expectPoints(model, real)
}

async function expectOrders(model: Model, real: Real): Promise<void> {
  if (model.orders.length === 0) return
  const placements = await readPlacements(real, model.orders)
  const rows = await real.world.shop.ctx.db
    .select()
    .from(orders)
    .where(
      inArray(
        orders.id,
        model.orders.map(({ id }) => id)
      )
    )
  const gone = new Set(model.servers.filter(({ status }) => status === 'given_up').map(({ id }) => id))
  for (const order of model.orders) {
    const row = rows.find(({ id }) => id === order.id)
    expect({
      state: row?.state,
      expiredAt: row?.expiredAt?.getTime() ?? null,
      endedAt: row?.endedAt?.getTime() ?? null,
      graceUntil: row?.graceUntil?.getTime() ?? null,
      extraDays: row?.extraDays,
      paid: row?.paidAt !== null,
      purchase: row?.platformOrderId ?? null
    }).toEqual({
      state: order.state,
      expiredAt: order.expiredAt,
      endedAt: order.endedAt,
      graceUntil: order.graceUntil,
      extraDays: (order.extraTerms * TERM) / DAY,
      paid: order.paid,
      purchase: order.purchase ? String(order.purchase.id) : null
    })
    const placement = placements.get(order.id)
    if (!placement) throw new Error('no placement')
    expectPlacement(order, placement, gone)
    if (isServed(order) && lost(order) === 0 && order.waiting.size === 0 && order.pending.size === 0)
      expect([row?.state, row?.deliveryNum, placement.works]).toEqual(['delivered', order.quantity, order.quantity])
    // A paid order without a delivery has failed with a reason.
    if (order.paid && !isServed(order) && order.state !== 'expired' && order.state !== 'refunded') {
      expect(row?.state).toBe('failed')
      expect(['out_of_stock', 'lines_missing']).toContain(row?.failCode)
    }
  }
}

function expectPlacement(order: ModelOrder, placement: Placement, gone: ReadonlySet<number>): void {
  const { shares, pending, stopping, live, waiting, works } = placement
  expect({ shares, pending, stopping, live, waiting }).toEqual({
    shares: order.shares,
    pending: order.pending,
    stopping: order.stopping,
    live: order.live,
    waiting: new Set(order.waiting.keys())
  })
  // Nothing is left on a server that was given up.
  expect(shares.filter(({ server }) => gone.has(server))).toEqual([])
  expect([...pending, ...stopping, ...live, ...waiting].filter(server => gone.has(server))).toEqual([])
  // An order never has more than it bought, and works only while it is served.
  expect(kept(order)).toBeLessThanOrEqual(order.quantity)
  if (!isServed(order)) expect([works, pending.size]).toEqual([0, 0])
  // A finished change has left nothing behind.
  const isMoving = pending.size + stopping.size > 0 || order.graceUntil !== null
  if (!isMoving) expect(shares.filter(({ replaced }) => replaced)).toEqual([])
}

/** Payments count or are refunded as in the model, and the revenue matches. */
async function expectMoney(model: Model, { world }: Real): Promise<void> {
  const { db } = world.shop.ctx
  expect(await compareFigures(db)).toEqual([])
  const ids = model.payments.map(({ id }) => String(id))
  if (ids.length === 0) return
  const rows = await db
    .select({
      id: payments.platformOrderId,
      accepted: payments.accepted,
      kind: payments.kind,
      back: sql<number>`(${payments.refundedAmount} * 100)::int`,
      refunded: sql<boolean>`${payments.refundedAt} is not null`
    })
    .from(payments)
    .where(inArray(payments.platformOrderId, ids))
    .orderBy(payments.id)
  expect(rows).toEqual(
    model.payments.map(({ id, accepted, kind, back, refunded }) => ({ id: String(id), accepted, kind, back, refunded }))
  )
}

/** Every coin and point has its record and matches the model. */
async function expectPoints(model: Model, { world, buyer, inviter }: Real): Promise<void> {
  const { db, now } = world.shop.ctx
  const balanceOf = async (id: number) => {
    const [row] = await db
      .select({
        level: users.levelPoints,
        coins: users.coins,
        millionths: users.coinMillionths,
        owed: users.coinsOwed
      })
      .from(users)
      .where(eq(users.id, id))
    return { ...row, pending: await pendingCoins(db, id, now()) }
  }
  const { books } = model
  const pending = pendingCoinsOf(books)
  expect(await balanceOf(buyer.user.id)).toEqual({
    level: books.buyer.level,
    coins: 0,
    millionths: 0,
    owed: 0,
    pending: 0
  })
  const { level, spendable, owed } = books.inviter
  expect(await balanceOf(inviter.user.id)).toEqual({
    level,
    coins: spendable + pending,
    millionths: (coinPartsOf(books) % 10_000) * 100,
    owed,
    pending
  })
  expect(await wrongBooks(db)).toEqual([])
}
