import { z } from 'zod'
import { Name } from '../foreign-texts.ts'
import { documents } from './documents.ts'
import { toGid } from './ids.ts'
import { latestOf, Linked } from './refund-parts.ts'
import { done, type ShopifyResult } from './result.ts'
import type { Execute } from './transport.ts'

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
