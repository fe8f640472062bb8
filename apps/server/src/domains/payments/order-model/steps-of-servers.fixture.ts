import { expect } from 'vitest'
import { bulkActions } from '../../../bulk-actions.ts'
import { SYSTEM } from '../../../infra/actor.ts'
import { MINUTE } from '../../../infra/clock.ts'
import { command } from '../../../infra/command.ts'
import { userActor } from '../../../testing/session.ts'
import { workOnRun } from '../../bulk/work-on-run.ts'
import { drainServer, giveUpServer } from '../../delivery/servers/commands.ts'
import { rescueOrders } from '../../delivery/servers/index.ts'
import { markOffline, markReachable, markUnreachable } from '../../servers/agent-health.ts'
import { endReturn, pauseServer, resumeServer, takeBackServer } from '../../servers/server-status.ts'
import { mature } from './books.fixture.ts'
import {
  advance,
  freeFor,
  isServed,
  keptOn,
  letGo,
  lost,
  RESCUE_AFTER,
  UNREACHABLE_AFTER,
  type Model,
  type ModelOrder,
  type ModelServer,
  type Real,
  type Step
} from './model.fixture.ts'
import { takePlacement, takeResting } from './placement.fixture.ts'
import { onServer, step } from './step.fixture.ts'

/** The health check runs each minute, and so also at the end of a wait. */
export async function moveTo(now: number, model: Model, real: Real): Promise<void> {
  model.now = now
  real.setNow(now)
  await real.world.advance(0)
  mature(model.books, now)
  await checkHealth(model, real)
}

/** The health check of each minute, without a real agent. */
async function checkHealth(model: Model, { world }: Real): Promise<void> {
  const { ctx } = world.shop
  for (const server of model.servers) {
    await command(ctx, SYSTEM, async unit => {
      if (server.silentSince === null) return void (await markReachable(unit, server.id))
      await markUnreachable(unit, server.id, { code: 'unreachable' })
      await markOffline(unit, server.id, new Date(model.now - UNREACHABLE_AFTER))
    })
    server.offline =
      server.silentSince !== null && (server.offline || server.silentSince <= model.now - UNREACHABLE_AFTER)
  }
}

/** An agent stops answering. */
export const silence = (nth: number): Step =>
  onServer('silence', nth, async (server, model, real) => {
    server.silentSince ??= model.now
    await checkHealth(model, real)
  })

/** The agent answers again. */
export const answer = (nth: number): Step =>
  onServer('answer', nth, async (server, model, real) => {
    server.silentSince = null
    await checkHealth(model, real)
  })

const boss = ({ admin }: Real) => userActor(admin.user.id, { username: admin.user.username, isSuperuser: true })

export const pause = (nth: number): Step =>
  onServer('pause', nth, async (server, _model, real) => {
    const asked = await pauseServer(real.world.shop.ctx, boss(real), server.id)
    if (server.status === 'given_up') return expect(asked).toMatchObject({ ok: false, reason: 'server_given_up' })
    expect(asked.ok).toBe(true)
    server.status = 'paused'
  })

export const resume = (nth: number): Step =>
  onServer('resume', nth, async (server, _model, real) => {
    const asked = await resumeServer(real.world.shop.ctx, boss(real), server.id)
    if (server.status === 'given_up') return expect(asked).toMatchObject({ ok: false, reason: 'server_given_up' })
    expect(asked.ok).toBe(true)
    server.status = 'active'
  })

/** The server sells nothing more, and its orders leave if there is room. Only one server drains at a time. */
export const drain = (nth: number): Step =>
  onServer('drain', nth, async (server, model, real) => {
    if (model.servers.some(other => other !== server && other.status === 'draining')) return
    const { ctx } = real.world.shop
    const asked = await drainServer(ctx, boss(real), server.id)
    if (server.status === 'given_up') return expect(asked).toMatchObject({ ok: false, reason: 'server_given_up' })
    if (!asked.ok) throw new Error(asked.reason)
    server.status = 'draining'
    if (asked.data) while (await workOnRun(ctx, bulkActions, asked.data.id));
    const rooms = roomsOf(model)
    await takePlacement(model, real, leaving(model, server, rooms))
  })

/** Gives a server up permanently. One always remains. */
export const giveUp = (nth: number): Step =>
  onServer('giveUp', nth, async (server, model, real) => {
    if (!model.servers.some(other => other !== server && other.status !== 'given_up')) return
    const { ctx } = real.world.shop
    const asked = await giveUpServer(ctx, boss(real), server.id)
    if (!asked.ok) throw new Error(asked.reason)
    server.status = 'given_up'
    if (asked.data) while (await workOnRun(ctx, bulkActions, asked.data.id));
    const moved = new Map<ModelOrder, number>()
    const elsewhere = heldElsewhere(model, server)
    for (const order of model.orders) {
      const was = keptOn(order, server.id)
      const missed = lost(order)
      const held = order.shares.some(share => share.server === server.id)
      const stopped = order.stopping.delete(server.id)
      if (!held && !order.pending.has(server.id) && !stopped) continue
      // What was only reserved is reserved again at the payment or delivery.
      if (!order.paid || order.state === 'failed') {
        order.shares = []
        continue
      }
      for (const set of [order.pending, order.live, order.waiting]) set.delete(server.id)
      order.shares = order.shares.filter(share => share.server !== server.id)
      // The order gets as many other addresses as are free, or keeps some that it was to give back.
      if (isServed(order) && was > 0) moved.set(order, missed)
      else advance(order)
      letGo(order)
    }
    await takePlacement(model, real, [...moved.keys()])
    await takeResting(model, real)
    for (const [order, missed] of moved) {
      expect(lost(order)).toBeGreaterThanOrEqual(0)
      // The run works on one order after another. The minute's rescue job finds what later orders release.
      const freed = [...elsewhere].filter(([other]) => other.id > order.id && other.rule === order.rule)
      const foundLater = freed.reduce((sum, [other, held]) => sum + Math.max(0, held - heldBy(other)), 0)
      if (lost(order) > missed) expect(freeFor(model, order.rule)).toBeLessThanOrEqual(foundLater)
      advance(order)
    }
  })

const heldBy = ({ shares }: ModelOrder, except?: ModelServer): number =>
  shares.reduce((sum, { server, addresses }) => (server === except?.id ? sum : sum + addresses), 0)

const heldElsewhere = (model: Model, server: ModelServer): Map<ModelOrder, number> =>
  new Map(model.orders.map(order => [order, heldBy(order, server)]))

/** Uses a given-up server again. Its repair has found nothing unwanted on it. */
export const takeBack = (nth: number): Step =>
  onServer('takeBack', nth, (server, model, real) => takeServerBack(server, model, real))

export async function takeServerBack(server: ModelServer, _model: Model, real: Real): Promise<void> {
  const { ctx } = real.world.shop
  const asked = await takeBackServer(ctx, boss(real), server.id)
  if (server.status !== 'given_up') return expect(asked).toMatchObject({ ok: false, reason: 'server_not_given_up' })
  expect(asked.ok).toBe(true)
  await command(ctx, SYSTEM, unit => endReturn(unit, server.id))
  server.status = 'active'
}

/** The rescue job of each minute. */
export const rescue = (): Step => step('rescue', rescueNow)

export async function rescueNow(model: Model, real: Real): Promise<void> {
  // The job does not try an order twice at one instant.
  await moveTo(model.now + MINUTE, model, real)
  await rescueOrders(real.world.shop.ctx)
  const before = model.now - RESCUE_AFTER
  const silent = model.servers.filter(
    ({ silentSince, status }) => silentSince !== null && silentSince <= before && status !== 'given_up'
  )
  const draining = model.servers.filter(({ status }) => status === 'draining')
  const stuckOn = (order: ModelOrder) => silent.filter(({ id }) => (order.waiting.get(id) ?? Infinity) <= before)
  const stuck = model.orders.filter(order => isServed(order) && stuckOn(order).length > 0)
  const incomplete = model.orders.filter(order => isServed(order) && lost(order) > 0)
  const leaves = model.orders.filter(order => draining.some(server => mayLeave(order, server)))
  // Their sequence is not defined. Each takes what is free, but one that leaves a draining server takes all or nothing.
  await takePlacement(model, real, [...new Set([...stuck, ...incomplete, ...leaves])])
  await takeResting(model, real)
  for (const order of [...stuck, ...incomplete])
    if (stuckOn(order).length > 0 || lost(order) > 0) expect(freeFor(model, order.rule)).toBe(0)
  for (const order of leaves)
    for (const server of draining.filter(one => mayLeave(order, one)))
      expect(keptOn(order, server.id)).toBeGreaterThan(freeFor(model, order.rule))
}

/** Free addresses by rule, while orders take them one after another. */
function roomsOf(model: Model) {
  const left = new Map<number, number>()
  return {
    take(rule: number, addresses: number): boolean {
      const free = left.get(rule) ?? freeFor(model, rule)
      const fits = addresses <= free
      left.set(rule, fits ? free - addresses : free)
      return fits
    }
  }
}

/** Orders that leave a draining server now. */
const leaving = (model: Model, server: ModelServer, rooms: ReturnType<typeof roomsOf>): ModelOrder[] =>
  model.orders.filter(order => mayLeave(order, server) && rooms.take(order.rule, keptOn(order, server.id)))

/** May an order leave a draining server if there is room? It must not be moving already. */
function mayLeave(order: ModelOrder, server: ModelServer): boolean {
  if (keptOn(order, server.id) === 0) return false
  if (order.state !== 'placed' && !isServed(order)) return false
  return !isServed(order) || [...order.waiting.keys()].every(id => id === server.id)
}
