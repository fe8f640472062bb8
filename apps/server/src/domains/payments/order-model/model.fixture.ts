import { toCents, type OrderState } from '@netlet/contract'
import type fc from 'fast-check'
import { DAY, HOUR, MINUTE } from '../../../infra/clock.ts'
import type { Buyer, OrderShop } from '../order-shop.fixture.ts'

/** Addresses that an order holds on one server. */
export type Share = {
  server: number
  addresses: number
  /** To be given back. */
  replaced: boolean
  /** To be given back, but still with its customer, so it can be kept. */
  again: boolean
}

/**
 * An order in the terms that matter to its customer, the stock and the money. Times are in milliseconds. New behaviour
 * is a step in a file of steps; invariants are in `expectAll`.
 */
export type ModelOrder = {
  id: number
  publicId: string
  amount: string
  rule: number
  quantity: number
  state: OrderState
  paid: boolean
  /** The payment that marked it as paid. */
  purchase: ModelPayment | null
  reservedUntil: number
  expiredAt: number | null
  graceUntil: number | null
  /** Until when it could be renewed, as its end said. A refund ends the grace, and a won dispute leaves this. */
  promisedUntil: number | null
  /** Since when it is not served: since it ended, or came back and does not work yet. */
  endedAt: number | null
  extraTerms: number
  /** Addresses that are reserved for it. */
  shares: Share[]
  /** Servers whose agents have yet to serve it (`pending`) or drop it (`stopping`). */
  pending: Set<number>
  stopping: Set<number>
  /** Servers where it works. */
  live: Set<number>
  /** Servers where some of its addresses do not work yet, and since when they should. */
  waiting: Map<number, number>
}

export type ModelPayment = {
  /** The platform's id of its order. */
  id: number
  order: ModelOrder
  kind: 'purchase' | 'renewal'
  /** Cents. */
  charged: number
  accepted: boolean
  /** Refunded cents. */
  back: number
  refunded: boolean
  /** The refunds that the platform reported, kept so that it can repeat them. */
  refunds: { id: number; amount: string }[]
  dispute: number | null
  /** The bank returned the money to the shop. */
  disputeWon: boolean
  cancelled: boolean
  /** Its refund took its term off the order. */
  termTaken: boolean
  /** When its coins may be spent. */
  maturesAt: number | null
}

/** Coins of one payment that cannot be spent yet. */
type Pending = { payment: ModelPayment; coins: number; maturesAt: number }

/** What the buyer and the inviter have earned. */
export type Books = {
  buyer: { level: number }
  inviter: { level: number; spendable: number; owed: number }
  pending: Pending[]
  /** What payments earned and still have; coins in ten-thousandths. */
  earned: Map<ModelPayment, { level: number; parts: number }>
  /** The payment that earned the points for the invitation. */
  invitation: ModelPayment | null
}

export type ModelServer = {
  id: number
  status: 'active' | 'paused' | 'draining' | 'given_up'
  silentSince: number | null
  /** It was silent long enough that it sells nothing. */
  offline: boolean
}

export type Model = {
  now: number
  orders: ModelOrder[]
  payments: ModelPayment[]
  servers: ModelServer[]
  /** Addresses that rest after a lease, by rule. */
  resting: { server: number; rule: number; addresses: number }[]
  books: Books
}

export type Real = {
  world: OrderShop
  buyer: Buyer
  inviter: Buyer
  admin: Buyer
  setNow: (now: number) => void
}
export type Step = fc.AsyncCommand<Model, Real>

export const TERM = 30 * DAY
export const GRACE = 24 * HOUR
export const RESERVED = 30 * MINUTE
/** Settings `unreachable_after` and `rescue_after`. */
export const UNREACHABLE_AFTER = 10 * MINUTE
export const RESCUE_AFTER = 30 * MINUTE
/** Addresses on each server. */
export const OF_SERVER = 64
/** Few orders, so that each goes through many steps. */
export const ORDERS = 4

const SERVED: OrderState[] = ['delivering', 'partly_delivered', 'delivered']
/** The part of an ended order's term that was not served, in milliseconds. */
export const unserved = ({ state, endedAt, expiredAt }: ModelOrder): number =>
  (state === 'expired' || state === 'refunded') && endedAt !== null && expiredAt !== null
    ? Math.max(0, expiredAt - endedAt)
    : 0

export const isServed = ({ state }: ModelOrder): boolean => SERVED.includes(state)

const sum = (shares: Share[]): number => shares.reduce((total, { addresses }) => total + addresses, 0)
/** Addresses that an order holds and keeps. */
export const kept = (order: ModelOrder): number => sum(order.shares.filter(({ replaced }) => !replaced))
/** Addresses that an order is to give back but could keep. */
export const keepable = (order: ModelOrder): number => sum(order.shares.filter(({ again }) => again))
export const lost = (order: ModelOrder): number => order.quantity - kept(order)
export const keptOn = (order: ModelOrder, server: number): number =>
  sum(order.shares.filter(share => share.server === server && !share.replaced))

const sells = (server: ModelServer): boolean => server.status === 'active' && !server.offline

/** Addresses that can be leased under a rule: those of selling servers that are not held and do not rest. */
export function freeFor(model: Model, rule: number): number {
  const taken = (server: ModelServer) =>
    model.orders.reduce(
      (total, order) =>
        order.rule === rule ? total + sum(order.shares.filter(share => share.server === server.id)) : total,
      model.resting.reduce(
        (total, rest) => total + (rest.server === server.id && rest.rule === rule ? rest.addresses : 0),
        0
      )
    )
  return model.servers.filter(sells).reduce((free, server) => free + OF_SERVER - taken(server), 0)
}

/** An ended order's addresses go back once no agent serves it and no grace holds them. */
export function letGo(order: ModelOrder): void {
  const ended = order.state === 'expired' || order.state === 'refunded'
  if (ended && order.graceUntil === null && order.stopping.size === 0) order.shares = []
}

/** The state of a served order, from what its agents confirmed. */
export function advance(order: ModelOrder): void {
  if (!isServed(order)) return
  if (order.pending.size === 0 && lost(order) === 0) {
    Object.assign(order, { state: 'delivered', endedAt: null })
    return
  }
  if (order.live.size > 0 && order.state === 'delivering')
    Object.assign(order, { state: 'partly_delivered', endedAt: null })
}

export const centsOf = (amount: string): number => Number(toCents(amount))
