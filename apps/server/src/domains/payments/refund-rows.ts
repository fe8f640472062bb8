import type { RefundState } from '@netlet/contract'
import { fromCents, toCents } from '@netlet/contract/money'
import { and, asc, eq, gt, inArray, type SQL } from 'drizzle-orm'
import { MINUTE } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { downToCents } from './paid-order.ts'
import { REFUND_TRANSITIONS, UNDERWAY_STATES } from './states.ts'
import { paymentRefunds, type payments } from './tables.ts'

export type RefundRow = typeof paymentRefunds.$inferSelect

/** All that is known of refunds and disputes of a platform's order, oldest first. */
export const refundRowsOf = (db: Executor, platformOrderId: string): Promise<RefundRow[]> =>
  db
    .select()
    .from(paymentRefunds)
    .where(eq(paymentRefunds.platformOrderId, platformOrderId))
    .orderBy(asc(paymentRefunds.id))

/** What counts as given back by now. */
export const counted = <Row extends Pick<RefundRow, 'state'>>(rows: readonly Row[]): Row[] =>
  rows.filter(({ state }) => state === 'counted')

/** The parts among what counts whose amount is known: the amount in the payment's currency, and the platform's own name of it. */
export const partsOf = (rows: readonly RefundRow[]) =>
  counted(rows).flatMap(({ key, amount }) =>
    amount === null || toCents(amount) === 0n ? [] : [{ key, amount, isDispute: key.startsWith('dispute:') }]
  )

/**
 * @param charged decimals, as the rows' amounts; an amount of null is all of it
 * @returns what of `charged` such rows give back, in cents, and whether that is all of it
 */
export function sumRefunds(rows: readonly { amount: string | null }[], charged: string): { sum: bigint; all: boolean } {
  const total = toCents(charged)
  const sum = totalOf(rows, charged)
  const all = rows.some(({ amount }) => amount === null) || (total > 0n && sum >= total)
  return { sum: all ? total : sum, all }
}

/** The same in cents, also where it is more than was charged, since the platform's order was edited. */
export const totalOf = (rows: readonly { amount: string | null }[], charged: string): bigint =>
  rows.reduce((cents, { amount }) => cents + toCents(amount ?? charged), 0n)

/** The rows of one refund or dispute: what was told of it first, and each change since. */
export const rowsOf = <Row extends Pick<RefundRow, 'key'>>(rows: readonly Row[], key: string): Row[] =>
  rows.filter(row => row.key === key || row.key.startsWith(`${key}:`))

/** The key of its next row. @param rows see `rowsOf` */
export const keyAfter = (rows: readonly Pick<RefundRow, 'key'>[], key: string): string =>
  rows.length === 0 ? key : `${key}:${rows.length + 1}`

/** How long a request for a refund keeps its payment from anything else, while the platform has yet to tell of it. */
export const UNDERWAY = 10 * MINUTE

/** The request that keeps a payment from anything else; undefined where there is none. */
export const underwayOf = (rows: readonly RefundRow[], now: Date): RefundRow | undefined =>
  rows.find(row => isRequest(row) && row.createdAt.getTime() > now.getTime() - UNDERWAY)

/** Was it asked for, and is it not known yet what the platform makes of it? */
export const isRequest = ({ state }: Pick<RefundRow, 'state'>): boolean =>
  (UNDERWAY_STATES as readonly RefundState[]).includes(state)

/** `underwayOf` as a condition on rows of `payment_refunds`. */
export const isUnderway = (now: Date) =>
  and(
    inArray(paymentRefunds.state, [...UNDERWAY_STATES]),
    gt(paymentRefunds.createdAt, new Date(now.getTime() - UNDERWAY))
  )

type Transition = keyof typeof REFUND_TRANSITIONS

/** Moves a row of the locked platform order along the table of states. @throws where the table has no such transition */
export async function moveRefund(
  { tx }: Unit,
  { id, state }: Pick<RefundRow, 'id' | 'state'>,
  transition: Transition,
  changes: Partial<Omit<RefundRow, 'id' | 'state'>> = {}
): Promise<void> {
  const { from, to } = REFUND_TRANSITIONS[transition]
  if (!(from as readonly RefundState[]).includes(state))
    throw new Error(`A refund that is ${state} cannot ${transition}`)
  await tx
    .update(paymentRefunds)
    .set({ ...changes, state: to })
    .where(eq(paymentRefunds.id, id))
}

type Added = Pick<RefundRow, 'key' | 'platformOrderId' | 'amount'> & Partial<RefundRow> & { state: RefundState }

/** Writes a refund or dispute down. @returns undefined where it is known already */
export async function addRefund({ tx, now }: Unit, added: Added): Promise<RefundRow | undefined> {
  const [row] = await tx
    .insert(paymentRefunds)
    .values({ createdAt: now, ...added })
    .onConflictDoNothing({ target: paymentRefunds.key })
    .returning()
  return row
}

/** Does the platform say, in its list of refunds or by its status, what became of the money under such a key? */
export const isListed = (key: string): boolean => /^(?:refund|reported):/.test(key)

/** By which the buyer's currency is converted to the payment's. */
export type Rate = Pick<typeof payments.$inferSelect, 'currency' | 'charged' | 'buyerAmount' | 'buyerCurrency'>

/** Money as the platform tells it; without a currency it is in the payment's. */
export type Told = { amount: string; currency?: string | null | undefined }

/**
 * In the payment's currency, converted as the payment was, and rounded up, so that all parts are at least the whole.
 * @param rate null: no payment is known, whose currency is `currency`
 * @returns null where the buyer's currency cannot be converted
 */
export function inCurrencyOf(rate: Rate | null, currency: string, { amount, currency: told }: Told): string | null {
  if (!told || told === (rate?.currency ?? currency)) return downToCents(amount)
  if (!rate?.buyerAmount || rate.buyerCurrency !== told || toCents(rate.buyerAmount) === 0n) return null
  const whole = toCents(rate.buyerAmount)
  return fromCents((toCents(downToCents(amount)) * toCents(rate.charged) + whole - 1n) / whole)
}

/**
 * The refunds of a payment, with those converted that were told in the buyer's currency before it: what cannot be converted stays as
 * it is, but a dispute counts as all of it.
 */
export async function convertRefunds({ tx }: Unit, platformOrderId: string, rate: Rate): Promise<RefundRow[]> {
  const rows = await refundRowsOf(tx, platformOrderId)
  for (const row of rows) {
    const [told = '', currency] = row.foreignAmount?.split(' ') ?? []
    if (currency === undefined || row.state !== 'counted') continue
    const amount = inCurrencyOf(rate, rate.currency, { amount: told, currency })
    if (amount === null && !row.key.startsWith('dispute:')) continue
    Object.assign(row, { amount, foreignAmount: null })
    await tx.update(paymentRefunds).set({ amount, foreignAmount: null }).where(eq(paymentRefunds.id, row.id))
  }
  return rows
}

/** What the platform says of an order was read. @param which of its refunds and disputes that answers; undefined: all */
export const endAwaiting = ({ tx }: Unit, platformOrderId: string, which: SQL | undefined) =>
  tx
    .update(paymentRefunds)
    .set({ awaitsDecision: false })
    .where(and(eq(paymentRefunds.platformOrderId, platformOrderId), paymentRefunds.awaitsDecision, which))
