import type { RefundState } from '@netlet/contract'
import { fromCents, toCents } from '@netlet/contract/money'
import { and, asc, eq, gt, inArray, ne, or, type SQL } from '../../infra/db/drizzle.ts'
import { DAY, MINUTE } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { downToCents } from './paid-order.ts'
import { REFUND_TRANSITIONS, STATES_WITHOUT_RESULT } from './states.ts'
import { paymentRefunds, type payments } from './tables.ts'

export type RefundRow = typeof paymentRefunds.$inferSelect

/** Was it reported in the buyer's currency, which could not be converted yet? */
export const isUnconverted = ({ amount, foreignAmount }: Pick<RefundRow, 'amount' | 'foreignAmount'>): boolean =>
  foreignAmount !== null && amount === '0.00'

/** A report may differ by this many cents, because the platform converts to the buyer's currency and back. */
export const ROUNDING_CENTS = 2n

/** All known refunds and disputes of a platform order, oldest first. */
export const refundRowsOf = (db: Executor, platformOrderId: string): Promise<RefundRow[]> =>
  db
    .select()
    .from(paymentRefunds)
    .where(eq(paymentRefunds.platformOrderId, platformOrderId))
    .orderBy(asc(paymentRefunds.id))

export const counted = <Row extends Pick<RefundRow, 'state'>>(rows: readonly Row[]): Row[] =>
  rows.filter(({ state }) => state === 'counted')

/** The counted rows with a known amount, in the payment's currency, and their keys. */
export const partsOf = (rows: readonly RefundRow[]) =>
  counted(rows).flatMap(({ key, amount }) =>
    amount === null || toCents(amount) === 0n ? [] : [{ key, amount, isDispute: key.startsWith('dispute:') }]
  )

/**
 * @param charged decimals, like the rows' amounts; an amount of null is all of it
 * @returns the refunded cents, at most `charged`, and whether that is all of it
 */
export function sumRefunds(rows: readonly { amount: string | null }[], charged: string): { sum: bigint; all: boolean } {
  const total = toCents(charged)
  const sum = totalOf(rows, charged)
  const all = rows.some(({ amount }) => amount === null) || (total > 0n && sum >= total)
  return { sum: all ? total : sum, all }
}

/** The same sum in cents without a limit: after an edit of the platform's order it may exceed `charged`. */
export const totalOf = (rows: readonly { amount: string | null }[], charged: string): bigint =>
  rows.reduce((cents, { amount }) => cents + toCents(amount ?? charged), 0n)

/** 'All that is left', or all if nothing is left, since other money may come back. Null: not known, or no charge. */
export function leftOf(rows: readonly RefundRow[], charged: string | null): string | null {
  const whole = toCents(charged ?? '0')
  const left = whole - totalOf(counted(rows), charged ?? '0')
  return whole > 0n ? fromCents(left > 0n ? left : whole) : null
}

/** Was the whole payment refunded, without counting disputes that may still be won? */
export const isRefundedForGood = (rows: readonly RefundRow[], charged: string): boolean =>
  sumRefunds(
    counted(rows).filter(({ key, lost }) => lost || !key.startsWith('dispute:')),
    charged
  ).all

/** The rows of one refund or dispute: its first report and each later change. */
export const rowsOf = <Row extends Pick<RefundRow, 'key'>>(rows: readonly Row[], key: string): Row[] =>
  rows.filter(row => row.key === key || row.key.startsWith(`${key}:`))

/** The platform's id of a refund; undefined if the order's status reported it, or an operator did. */
export const refundIdOf = ({ key }: Pick<RefundRow, 'key'>): string | undefined => /^refund:([^:]+)/.exec(key)?.[1]

/** A refund of the platform that an operator marked as made. What the platform reports of it later is part of this row. */
export const isMarked = ({ key, state }: Pick<RefundRow, 'key' | 'state'>): boolean =>
  state === 'counted' && isMark(key)
export const isMark = (key: string): boolean => key.includes(':operator:')

/** The key of the part of a refund that is pending while another part was made. */
export const pendingKey = (refundKey: string): string => `${refundKey}:pending`

/** The key for the next of `rowsOf`. */
export const keyAfter = (rows: readonly Pick<RefundRow, 'key'>[], key: string): string =>
  rows.length === 0 ? key : `${key}:${rows.length + 1}`

/** How long a request for a refund blocks other changes to its payment while the platform has not reported it. */
export const UNDERWAY_MS = 10 * MINUTE

/** How long a pending refund is asked about. Then an administrator is told, and decides. */
export const PENDING_MS = 14 * DAY

/** The request for which a report of the payment waits. */
export const recentRequestOf = (rows: readonly RefundRow[], now: Date): RefundRow | undefined =>
  rows.find(row => hasNoResult(row) && row.createdAt.getTime() > now.getTime() - UNDERWAY_MS)

/** The request that blocks decisions about a payment, also while the platform has the refund as pending. */
export const blockingRefundOf = (rows: readonly RefundRow[], now: Date): RefundRow | undefined =>
  recentRequestOf(rows, now) ??
  rows.find(row => row.state === 'answered' && row.awaitsRead && row.createdAt.getTime() > now.getTime() - PENDING_MS)

/** Was it requested, and is the platform's result still unknown? */
export const hasNoResult = ({ state }: Pick<RefundRow, 'state'>): boolean =>
  (STATES_WITHOUT_RESULT as readonly RefundState[]).includes(state)

/** `blockingRefundOf` as a condition on rows of `payment_refunds`. */
export const isBlocking = (now: Date) =>
  and(
    inArray(paymentRefunds.state, [...STATES_WITHOUT_RESULT]),
    or(
      gt(paymentRefunds.createdAt, new Date(now.getTime() - UNDERWAY_MS)),
      and(
        eq(paymentRefunds.state, 'answered'),
        paymentRefunds.awaitsRead,
        gt(paymentRefunds.createdAt, new Date(now.getTime() - PENDING_MS))
      )
    )
  )

type Transition = keyof typeof REFUND_TRANSITIONS

/** Changes a row's state; its platform order is locked. @throws if `REFUND_TRANSITIONS` does not allow it */
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

/** Records a refund or dispute. @returns undefined if it is known already */
export async function addRefund({ tx, now }: Unit, added: Added): Promise<RefundRow | undefined> {
  const [row] = await tx
    .insert(paymentRefunds)
    .values({ createdAt: now, ...added })
    .onConflictDoNothing({ target: paymentRefunds.key })
    .returning()
  return row
}

/** The amount of a refund was found, or a part of it came back. @param amount what it is now */
export const setRefundAmount = ({ tx }: Unit, { id }: Pick<RefundRow, 'id'>, amount: string) =>
  tx.update(paymentRefunds).set({ amount, foreignAmount: null }).where(eq(paymentRefunds.id, id))

/** Does the platform report this key's money in its list of refunds or by its status? */
export const isPlatformRefund = (key: string): boolean => /^(?:refund|reported):/.test(key)

/** The rate that converts the buyer's currency to the payment's. */
export type Rate = Pick<typeof payments.$inferSelect, 'currency' | 'charged' | 'buyerAmount' | 'buyerCurrency'>

/** Money as the platform reports it; without a currency it is in the payment's. */
export type ReportedMoney = { amount: string; currency?: string | null | undefined }

/**
 * Converts to the payment's currency at the payment's rate. Rounds up, so that all parts add up to at least the whole.
 * @param rate null: the payment is unknown, and its currency is `currency`
 * @returns null if the buyer's currency cannot be converted
 */
export function toPaymentCurrency(
  rate: Rate | null,
  currency: string,
  { amount, currency: told }: ReportedMoney
): string | null {
  if (!told || told === (rate?.currency ?? currency)) return downToCents(amount)
  if (!rate?.buyerAmount || rate.buyerCurrency !== told || toCents(rate.buyerAmount) === 0n) return null
  const whole = toCents(rate.buyerAmount)
  return fromCents((toCents(downToCents(amount)) * toCents(rate.charged) + whole - 1n) / whole)
}

/**
 * The refunds of a payment. Converts those that were reported in the buyer's currency before the payment. One that
 * cannot be converted stays as it is, but a dispute then counts as the whole payment.
 */
export async function convertRefunds({ tx }: Unit, platformOrderId: string, rate: Rate): Promise<RefundRow[]> {
  const rows = await refundRowsOf(tx, platformOrderId)
  for (const row of rows) {
    const [told = '', currency] = row.foreignAmount?.split(' ') ?? []
    if ((row.amount !== null && !isUnconverted(row)) || row.state !== 'counted') continue
    const converted = currency === undefined ? null : toPaymentCurrency(rate, rate.currency, { amount: told, currency })
    if (converted === null && currency !== undefined && !row.key.startsWith('dispute:')) continue
    const others = rows.filter(one => one !== row && one.amount !== null)
    const amount = converted ?? leftOf(others, rate.charged)
    Object.assign(row, { amount })
    await tx.update(paymentRefunds).set({ amount }).where(eq(paymentRefunds.id, row.id))
  }
  return rows
}

/** The platform's order has to be read, or was. @param which the refunds and disputes that this is for; undefined: all */
export const setAwaitsRead = ({ tx }: Unit, platformOrderId: string, awaitsRead: boolean, which?: SQL) =>
  tx
    .update(paymentRefunds)
    .set({ awaitsRead })
    .where(and(eq(paymentRefunds.platformOrderId, platformOrderId), ne(paymentRefunds.awaitsRead, awaitsRead), which))

/** The platform's order was read, and has no result of this refund yet, or has one. */
export const recordRead = ({ tx, now: readAt }: Unit, { id }: Pick<RefundRow, 'id'>, awaitsRead: boolean) =>
  tx.update(paymentRefunds).set({ readAt, awaitsRead }).where(eq(paymentRefunds.id, id))
