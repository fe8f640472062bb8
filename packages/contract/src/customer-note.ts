import { z } from 'zod'
import { optionalText } from './shapes.ts'

/**
 * What an operator's change of an order says to its customer: whether to email (by default yes), and the operator's own
 * words, which the audit log and the order's history keep too. A customer's own change ignores both.
 */
export const customerNote = { email_customer: z.boolean().optional(), message: optionalText(500) }
export const CustomerNote = z.object(customerNote)
export type CustomerNote = z.output<typeof CustomerNote>
