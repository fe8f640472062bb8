import { HOUR } from '../../../infra/clock.ts'
import { endGraces, expireOrders } from '../../delivery/index.ts'
import { timeOutOrders } from '../../orders/index.ts'
import { endQuarantines } from '../../inventory/jobs.ts'
import {
  GRACE,
  isServed,
  letGo,
  RESCUE_AFTER,
  TERM,
  unserved,
  type Model,
  type ModelOrder,
  type Real,
  type Step
} from './model.fixture.ts'
import { takePlacement } from './placement.fixture.ts'
import { step } from './step.fixture.ts'
import { moveTo } from './steps-of-servers.fixture.ts'

export const wait = (milliseconds: number): Step =>
  step(`wait(${milliseconds / HOUR} h)`, (model, real) => moveTo(model.now + milliseconds, model, real))

/** Waits until just after the next end of something, because random waits would seldom hit a grace. */
export const waitForNext = (): Step =>
  step('waitForNext', async (model, real) => {
    const ends = model.orders.flatMap(order => [
      ...(order.shares.length > 0 && !isServed(order) ? [order.reservedUntil] : []),
      ...(isServed(order) && order.expiredAt !== null ? [order.expiredAt] : []),
      ...(order.graceUntil === null ? [] : [order.graceUntil]),
      ...[...order.waiting.values()].map(since => since + RESCUE_AFTER)
    ])
    ends.push(...model.books.pending.map(({ maturesAt }) => maturesAt))
    const next = Math.min(...ends.filter(end => end > model.now))
    if (Number.isFinite(next)) await moveTo(next + 1, model, real)
  })

export const timeOut = (): Step => step('timeOut', timeOutNow)

export async function timeOutNow(model: Model, { world }: Real): Promise<void> {
  await timeOutOrders(world.shop.ctx)
  for (const order of model.orders) {
    if (order.reservedUntil > model.now) continue
    if (order.state === 'placed') Object.assign(order, { state: 'timed_out', shares: [] })
    if (order.state === 'failed') order.shares = []
  }
}

export const expire = (): Step => step('expire', expireNow)

export async function expireNow(model: Model, real: Real): Promise<void> {
  await expireOrders(real.world.shop.ctx)
  const ended: ModelOrder[] = []
  for (const order of model.orders) {
    if (!isServed(order) || order.expiredAt === null || order.expiredAt > model.now) continue
    Object.assign(order, { state: 'expired', endedAt: order.endedAt ?? model.now })
    order.graceUntil = heldUntil(order, order.expiredAt, model.now)
    order.promisedUntil = order.graceUntil
    ended.push(order)
  }
  await takePlacement(model, real, ended)
  for (const order of ended) if (order.graceUntil === null) letGo(order)
}

/** The grace, limited to the time in which a renewal would last: the worker may be down for a whole term. */
function heldUntil(order: ModelOrder, expiredAt: number, now: number): number | null {
  const left = unserved(order)
  const renewedUntil = (left > 0 ? now + left : expiredAt) + TERM
  return renewedUntil > now ? Math.min(now + GRACE, renewedUntil) : null
}

export const endGrace = (): Step => step('endGrace', endGracesNow)

export async function endGracesNow(model: Model, real: Real): Promise<void> {
  await endGraces(real.world.shop.ctx)
  for (const order of model.orders) {
    if (order.graceUntil === null || order.graceUntil > model.now) continue
    order.graceUntil = null
    order.waiting.clear()
    for (const share of order.shares) share.again = false
    letGo(order)
  }
}

/** Addresses that have rested long enough go back to stock. */
export const endRest = (): Step =>
  step('endRest', async (_model, { world }) => void (await endQuarantines(world.shop.ctx)))
