import { and, eq } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import { enqueueMail } from '../mail/index.ts'
import { users } from './tables.ts'

/** Tells every active administrator. The text's paragraphs are parted by empty lines. */
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
