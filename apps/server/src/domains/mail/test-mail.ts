import type { Language } from '@netlet/contract'
import { randomUUID } from 'node:crypto'
import type { MailResult } from '../../integrations/mail/index.ts'
import type { AppContext } from '../../infra/context.ts'
import { renderOrder } from './render-order.ts'
import { deliver } from './send-mail.ts'

/** Sends a test mail at once, without the queue and the log of mails. @returns the service's answer */
export async function sendTestMail(
  ctx: AppContext,
  { to, language }: { to: string; language: Language }
): Promise<MailResult> {
  const data = { at: ctx.now().toISOString() }
  const order = { to, language, template: 'test-mail', data, key: `test:${randomUUID()}` } as const
  return deliver(ctx, order, await renderOrder(ctx, order, 'operator'))
}
