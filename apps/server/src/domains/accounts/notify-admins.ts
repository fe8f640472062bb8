import { rolesThatMay } from '@netlet/contract'
import { and, eq, inArray } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import { enqueueMail, type Template, type TemplateData } from '../mail/index.ts'
import { users } from './tables.ts'

/** Sends a mail to every active administrator whose work it may be. Empty lines separate the paragraphs of `text`. */
export const notifyAdmins = (
  unit: Unit,
  { subject, text, key }: { subject: string; text: string; key: string }
): Promise<void> => mailAdmins(unit, { template: 'admin-notice', data: { subject, text }, key })

/** The same with a template of its own, to each in their language. */
export async function mailAdmins<T extends Template>(
  unit: Unit,
  { template, data, key }: { template: T; data: TemplateData<T>; key: string }
): Promise<void> {
  const admins = await unit.tx
    .select({ id: users.id, email: users.email, language: users.language })
    .from(users)
    .where(
      and(
        eq(users.isSuperuser, true),
        eq(users.isActive, true),
        inArray(users.operatorRole, rolesThatMay('payments.change'))
      )
    )
  for (const { id, email, language } of admins)
    enqueueMail(unit, { to: email, language, template, data, key: `${key}:admin:${id}` })
}
