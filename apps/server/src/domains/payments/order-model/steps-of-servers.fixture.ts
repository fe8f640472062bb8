import { expect } from 'vitest'
import { bulkActions } from '../../../bulk-actions.ts'
import { SYSTEM } from '../../../infra/actor.ts'
import { MINUTE } from '../../../infra/clock.ts'
import { command } from '../../../infra/command.ts'
import { userActor } from '../../../testing/session.ts'
import { workOnRun } from '../../bulk/work-on-run.ts'
import { drainServer, giveUpServer } from '../../delivery/servers/commands.ts'
import { rescueOrders } from '../../delivery/servers/index.ts'
import { markOffline, markReachable, markUnreachable } from '../../fleet/agents.ts'
import { endReturn, pauseServer, resumeServer, takeBackServer } from '../../fleet/server-status.ts'
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
import { takePlacement } from './placement.fixture.ts'
import { onServer, step } from './step.fixture.ts'

/** The health of the servers is looked at each minute, so also at the end of a wait. */
export async function moveTo(now: number, model: Model, real: Real): Promise<void> {
  model.now = now
  real.setNow(now)
  await real.world.advance(0)
  mature(model.books, now)
  await checkHealth(model, real)
}

/** What each minute's health check does, without an agent to ask. */
export async function checkHealth(model: Model, { world }: Real): Promise<void> {
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

/** An agent does not answer any more. */
export const silence = (nth: number): Step =>
  onServer('silence', nth, async (server, model, real) => {
    server.silentSince ??= model.now
    await checkHealth(model, real)
  })

/** It answers again. */
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

/** Sells nothing any more, and its orders leave as far as there is room. One at a time: which is first is open. */
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

/** Gives a server up for good; one is always left. */
export const giveUp = (nth: number): Step =>
  onServer('giveUp', nth, async (server, model, real) => {
    if (!model.servers.some(other => other !== server && other.status !== 'given_up')) return
    const { ctx } = real.world.shop
    const asked = await giveUpServer(ctx, boss(real), server.id)
    if (!asked.ok) throw new Error(asked.reason)
    server.status = 'given_up'
    if (asked.data) while (await workOnRun(ctx, bulkActions, asked.data.id));
    const rooms = roomsOf(model)
    const moved: ModelOrder[] = []
    for (const order of model.orders) {
      const was = keptOn(order, server.id)
      const held = order.shares.some(share => share.server === server.id)
      const stopped = order.stopping.delete(server.id)
      if (!held && !order.pending.has(server.id) && !stopped) continue
      // What was only reserved is reserved again when it is paid for or delivered.
      if (!order.paid || order.state === 'failed') {
        order.shares = []
        continue
      }
      for (const set of [order.pending, order.live, order.waiting]) set.delete(server.id)
      order.shares = order.shares.filter(share => share.server !== server.id)
      if (isServed(order) && was > 0 && rooms.take(order.rule, was)) moved.push(order)
      // There are no others: what was to go back is kept, as far as it fits.
      else if (isServed(order) && was > 0 && order.shares.some(({ replaced }) => replaced)) moved.push(order)
      else advance(order)
      letGo(order)
    }
    await takePlacement(model, real, moved)
    for (const order of moved) {
      expect(lost(order)).toBeGreaterThanOrEqual(0)
      advance(order)
    }
  })

/** Uses a server again that was given up: its repair has found nothing that is not wanted. */
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

/** The minute's job. */
export const rescue = (): Step => step('rescue', rescueNow)

export async function rescueNow(model: Model, real: Real): Promise<void> {
  // One that was tried at this very moment would not be tried again.
  await moveTo(model.now + MINUTE, model, real)
  await rescueOrders(real.world.shop.ctx)
  const rooms = roomsOf(model)
  const moved = new Set<ModelOrder>()
  const before = model.now - RESCUE_AFTER
  const silent = model.servers.filter(
    ({ silentSince, status }) => silentSince !== null && silentSince <= before && status !== 'given_up'
  )
  for (const order of model.orders.filter(isServed)) {
    const stuck = silent.filter(({ id }) => (order.waiting.get(id) ?? Infinity) <= before)
    for (const { id } of stuck) if (rooms.take(order.rule, keptOn(order, id))) moved.add(order)
  }
  const found = new Set<ModelOrder>()
  for (const order of model.orders) {
    // Nothing is awaited and something is missing: it is leased again, all of it at once.
    if (!isServed(order) || lost(order) <= 0 || order.pending.size > 0 || moved.has(order)) continue
    if (rooms.take(order.rule, lost(order))) found.add(order)
  }
  for (const order of found) moved.add(order)
  for (const server of model.servers.filter(({ status }) => status === 'draining'))
    for (const order of leaving(model, server, rooms, moved)) moved.add(order)
  await takePlacement(model, real, [...moved])
  for (const order of found) expect(lost(order)).toBe(0)
}

/** Free addresses by rule, of which orders take some one after the other. */
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

/** Orders that leave a draining server now: what is on its way elsewhere comes first. */
function leaving(
  model: Model,
  server: ModelServer,
  rooms: ReturnType<typeof roomsOf>,
  busy: ReadonlySet<ModelOrder> = new Set()
): ModelOrder[] {
  return model.orders.filter(order => {
    if (busy.has(order)) return false
    const addresses = keptOn(order, server.id)
    if (addresses === 0) return false
    if (order.state !== 'placed' && !isServed(order)) return false
    if (isServed(order) && [...order.waiting.keys()].some(id => id !== server.id)) return false
    return rooms.take(order.rule, addresses)
  })
}
