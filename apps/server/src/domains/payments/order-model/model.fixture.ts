import { toCents, type OrderState } from '@netlet/contract'
import type fc from 'fast-check'
import { DAY, HOUR, MINUTE } from '../../../infra/clock.ts'
import type { Buyer, OrderShop } from '../order-shop.fixture.ts'

/** Addresses that an order holds on one server. */
export type Share = {
  server: number
  addresses: number
  /** It is to be given back. */
  replaced: boolean
  /** It is, and was not taken from its customer yet: it can be kept. */
  again: boolean
}

/**
 * What an order should be, in the few terms that matter to its customer, to the stock and to the money. Times are
 * milliseconds. A new way of an order is a new step in a file of steps; what always holds is in `expectAll`.
 */
export type ModelOrder = {
  id: number
  publicId: string
  amount: string
  rule: number
  quantity: number
  state: OrderState
  paid: boolean
  /** What it was marked as paid by. */
  purchase: ModelPayment | null
  reservedUntil: number
  expiredAt: number | null
  graceUntil: number | null
  /** Since when it is not served, where it ended or came back after that. */
  endedAt: number | null
  extraTerms: number
  /** What is kept from others for it. */
  shares: Share[]
  /** Servers whose agents still have to serve it, and those that still have to let go of it. */
  pending: Set<number>
  stopping: Set<number>
  /** Servers where it works. */
  live: Set<number>
  /** Servers where addresses of it do not work yet, and since when they are to. */
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
  /** Cents that were given back. */
  back: number
  refunded: boolean
  /** Every refund that the platform reported of it, to be reported again. */
  refunds: { id: number; amount: string }[]
  dispute: number | null
  /** The bank gave the money back to the shop. */
  disputeWon: boolean
  cancelled: boolean
  /** Its term was taken off its order again. */
  termTaken: boolean
  /** When its coins may be spent. */
  maturesAt: number | null
}

/** Coins of one payment that wait until they may be spent. */
type Pending = { payment: ModelPayment; coins: number; maturesAt: number }

/** What the buyer and its inviter have earned. */
export type Books = {
  buyer: { level: number }
  inviter: { level: number; spendable: number; owed: number }
  pending: Pending[]
  /** What payments earned that was not taken back, of coins ten-thousandths. */
  earned: Map<ModelPayment, { level: number; parts: number }>
  /** The payment that the points for the invitation were given for. */
  invitation: ModelPayment | null
}

export type ModelServer = {
  id: number
  status: 'active' | 'paused' | 'draining' | 'given_up'
  silentSince: number | null
  /** It was silent for so long that it sells nothing. */
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
/** Addresses of each server. */
export const OF_SERVER = 64
/** Few orders, so that each gets far. */
export const ORDERS = 4

const SERVED: OrderState[] = ['delivering', 'partly_delivered', 'delivered']
/** What of its time an order that has ended was not served, in milliseconds. */
export const unserved = ({ state, endedAt, expiredAt }: ModelOrder): number =>
  (state === 'expired' || state === 'refunded') && endedAt !== null && expiredAt !== null
    ? Math.max(0, expiredAt - endedAt)
    : 0

export const isServed = ({ state }: ModelOrder): boolean => SERVED.includes(state)

const sum = (shares: Share[]): number => shares.reduce((total, { addresses }) => total + addresses, 0)
/** What an order holds and is to keep. */
export const kept = (order: ModelOrder): number => sum(order.shares.filter(({ replaced }) => !replaced))
/** What it could keep of what it is to give back. */
export const keepable = (order: ModelOrder): number => sum(order.shares.filter(({ again }) => again))
export const lost = (order: ModelOrder): number => order.quantity - kept(order)
export const keptOn = (order: ModelOrder, server: number): number =>
  sum(order.shares.filter(share => share.server === server && !share.replaced))

const sells = (server: ModelServer): boolean => server.status === 'active' && !server.offline

/** Addresses that can be leased under a rule: of each server that sells, what nobody holds and what does not rest. */
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

/** Its addresses go back once no agent serves it and no grace holds them. */
export function letGo(order: ModelOrder): void {
  const ended = order.state === 'expired' || order.state === 'refunded'
  if (ended && order.graceUntil === null && order.stopping.size === 0) order.shares = []
}

/** How far a served order is, by what its agents confirmed. */
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
