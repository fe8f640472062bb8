import { refuse, type EmailChangeBody, type EmailChangeCodeBody } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import type { z } from 'zod'
import type { UserActor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { done, type Result } from '../../infra/result.ts'
import { enqueueMail, moveChoices } from '../mail/index.ts'
import { confirmCaller, lockConfirmed } from './confirm-caller.ts'
import { USER_CONFLICTS } from './create-user.ts'
import { consumeEmailCode, endResetCodes, sendEmailCode, tryEmailCode } from './email-codes.ts'
import type { AccountPorts } from './ports.ts'
import type { UserRow } from './present-user.ts'
import { users } from './tables.ts'

type AddressPorts = Pick<AccountPorts, 'syncCodesToAddress'>

/** Sends a code to the caller's future address, after a password check. */
export async function sendEmailChangeCode(
  ctx: AppContext,
  by: UserActor,
  form: z.output<typeof EmailChangeCodeBody>,
  device: string | undefined
): Promise<Result<{ email_code_id: string }>> {
  const confirmed = await confirmCaller(ctx, by, form)
  if (!confirmed.ok) return confirmed
  const [user] = await ctx.db.select({ email: users.email }).from(users).where(eq(users.id, by.id))
  if (user?.email.toLowerCase() === form.email.toLowerCase()) return fieldRefusal('email', 'same_email')
  return sendEmailCode(ctx, by, { email: form.email, purpose: 'change_email', device })
}

/**
 * Changes the caller's e-mail with that code and the password. The old address is notified; mails switched off stay
 * off.
 */
export async function changeEmail(
  ctx: AppContext,
  by: UserActor,
  ports: AddressPorts,
  form: z.output<typeof EmailChangeBody>
): Promise<Result<null>> {
  const confirmed = await confirmCaller(ctx, by, form)
  if (!confirmed.ok) return confirmed
  const code = { id: form.email_code_id, email: form.email, purpose: 'change_email' as const }
  const wrong = fieldRefusal('email_code', 'wrong_email_code')
  if (!(await tryEmailCode(ctx, by, { ...code, code: form.email_code }))) return wrong
  return command(ctx, by, { unique: USER_CONFLICTS }, async unit => {
    const user = await lockConfirmed(unit, confirmed.data)
    if (!user) return refuse('unauthorized')
    if (!(await consumeEmailCode(unit, code))) return wrong
    await unit.tx.update(users).set({ email: form.email }).where(eq(users.id, user.id))
    await moveChoices(unit, user.email, form.email)
    await endOldAddress(unit, ports, user, form.email)
    unit.audit('user.change_email', user.id, { before: { email: user.email }, after: { email: form.email } })
    unit.publish('user', user.id, user.id)
    return done
  })
}

/**
 * Ends the old address's reset codes, for its next owner too, notifies it of the change, and updates what depends on
 * the address.
 */
export async function endOldAddress(
  unit: Unit,
  { syncCodesToAddress }: AddressPorts,
  old: Pick<UserRow, 'id' | 'username' | 'email' | 'language'>,
  email: string
): Promise<void> {
  await endResetCodes(unit, old.email)
  syncCodesToAddress(unit, old.id)
  const at = unit.now.toISOString()
  enqueueMail(unit, {
    to: old.email,
    language: old.language,
    template: 'email-changed',
    data: { username: old.username, at, email },
    key: `email-changed:${old.id}:${at}`
  })
}
