import type { CustomerNote } from '@netlet/contract'
import { actsAsAdmin } from '../../infra/actor.ts'
import type { Unit } from '../../infra/command.ts'
import { type GatheredTemplate, type TemplateData, enqueueMail, gatherMail } from '../mail/index.ts'
import { orderMail, type OrderMailBase } from './order-mail.ts'

/** What an operator lets the customer know. Mails of one `batch`, such as 'run:12', to one customer become one. */
export type Note = Partial<CustomerNote> & { batch?: string | undefined }

/** What the order's history and the audit log keep of a note. */
export const noteDetail = ({ message, email_customer }: Note): { message?: string; email_customer?: false } => ({
  ...(message ? { message } : {}),
  ...(email_customer === false ? { email_customer } : {})
})

/** Whether the customer is mailed: of an operator's change, unless the operator wants no mail or is the customer. */
export const isAnnounced = ({ by }: Unit, order: { userId: number }, { email_customer }: Note): boolean =>
  actsAsAdmin(by) && email_customer !== false && !(by.kind === 'user' && !by.impersonator && by.id === order.userId)

type Change<T extends GatheredTemplate> = {
  template: T
  data: Omit<TemplateData<T>, keyof OrderMailBase['data'] | 'message' | 'more'>
  /** The unique cause: 'changed:42:…'. Its second or third part is the order's id, for its timeline. */
  key: string
}

/** Mails the customer of an order about a change of it. */
export async function announce<T extends GatheredTemplate>(
  unit: Unit,
  orderId: number,
  { template, data, key }: Change<T>,
  { message, batch }: Note = {}
): Promise<void> {
  const mail = await orderMail(unit.tx, orderId)
  if (!mail) return
  const request = {
    ...mail,
    template,
    data: { ...mail.data, ...data, ...(message ? { message } : {}) } as unknown as TemplateData<T>,
    key
  }
  if (batch === undefined) enqueueMail(unit, request)
  else await gatherMail(unit, batch, request)
}
