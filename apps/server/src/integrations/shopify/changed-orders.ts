import { z } from 'zod'
import { Name } from '../foreign-texts.ts'
import { documents } from './documents.ts'
import { Linked, latestOf } from './refund-parts.ts'
import { type ShopifyResult, done, failed } from './result.ts'
import { Order, type ShopifyOrder, page, toGid } from './shapes.ts'
import type { Execute } from './transport.ts'

/** 420 orders, oldest change first. */
const MOST_PAGES = 60

/** An order of unknown shape. */
export type UnreadableOrder = { raw: unknown; message: string }

export type ChangedOrders = {
  orders: ShopifyOrder[]
  unreadable: UnreadableOrder[]
  /** When the last of them changed; null if there are none. */
  until: Date | null
  /** There are later ones: continue from `until`. */
  more: boolean
}

const Changed = z.object({ updatedAt: z.coerce.date() })

/**
 * Orders that changed since a time, oldest change first: finds payments and refunds whose webhook never came. An
 * unreadable order does not stop the others from being read.
 * @param most pages of 7 to read; more if all their orders changed at the same time
 */
export async function readChangedOrders(
  execute: Execute,
  complete: (execute: Execute, order: z.infer<typeof Order>) => Promise<ShopifyResult<ShopifyOrder>>,
  since: Date,
  most = MOST_PAGES
): Promise<ShopifyResult<ChangedOrders>> {
  const query = `updated_at:>='${since.toISOString()}'`
  const found: ChangedOrders = { orders: [], unreadable: [], until: null, more: false }
  for (let after: string | null = null, count = 1; ; count++) {
    const reply: ShopifyResult<{ nodes: unknown[]; next: string | null }> = await execute(
      documents.orders,
      { query, after },
      z.object({ orders: page(z.unknown()) }).transform(data => data.orders)
    )
    if (!reply.ok) return reply
    for (const raw of reply.value.nodes) {
      const read = Order.safeParse(raw)
      const whole = read.success ? await complete(execute, read.data) : failed('bad_reply', whereOf(read.error))
      if (whole.ok) found.orders.push(whole.value)
      else if (whole.reason === 'bad_reply') found.unreadable.push({ raw, message: whole.message })
      else return whole
      const changed = Changed.safeParse(raw)
      if (changed.success && (!found.until || changed.data.updatedAt > found.until))
        found.until = changed.data.updatedAt
    }
    after = reply.value.next
    if (after === null) return done(found)
    // The next reading starts at `until`, so it must be later than `since`.
    if (count >= most && found.until && found.until > since) return done({ ...found, more: true })
  }
}

const whereOf = (error: z.ZodError): string => `unexpected shape at ${error.issues[0]?.path.join('.') ?? 'its root'}`

/** `manual`: all of them by methods that prove nothing, such as a bank deposit, and no other part was paid. */
export type OpenPayments = 'none' | 'manual' | 'some'

const Transaction = Linked.extend({ kind: Name, status: Name, manualPaymentGateway: z.boolean().nullish() })
const Answer = z.object({ order: z.object({ transactions: z.array(Transaction) }).nullable() })
const OPEN = new Set(['PENDING', 'AWAITING_RESPONSE'])

/** The payments of an order that have no result yet. */
export async function readOpenPayments(execute: Execute, orderId: string): Promise<ShopifyResult<OpenPayments>> {
  const reply = await execute(documents.openPayments, { id: toGid('Order', orderId) }, Answer)
  if (!reply.ok) return reply
  const payments = reply.value.order?.transactions.filter(({ kind }) => kind !== 'REFUND' && kind !== 'VOID') ?? []
  const open = latestOf(payments).filter(({ status }) => OPEN.has(status))
  if (open.length === 0) return done('none')
  const isTaken = payments.some(({ status }) => status === 'SUCCESS')
  return done(!isTaken && open.every(one => one.manualPaymentGateway) ? 'manual' : 'some')
}
