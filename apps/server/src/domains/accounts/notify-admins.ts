import { and, eq } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import { enqueueMail } from '../mail/index.ts'
import { users } from './tables.ts'

/** Sends a mail to every active administrator. Empty lines separate the paragraphs of `text`. */
export async function notifyAdmins(
  unit: Unit,
  { subject, text, key }: { subject: string; text: string; key: string }
): Promise<void> {
  const admins = await unit.tx
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(and(eq(users.isSuperuser, true), eq(users.isActive, true)))
  for (const admin of admins) {
    enqueueMail(unit, {
      to: admin.email,
      template: 'admin-notice',
      data: { subject, text },
      key: `${key}:admin:${admin.id}`
    })
  }
}
