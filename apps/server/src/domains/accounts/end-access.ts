import { and, eq, isNull } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import { enqueueMail } from '../mail/index.ts'
import { endResetCodes } from './email-codes.ts'
import type { UserRow } from './present-user.ts'
import { endLoginsByPasskey } from './second-factor/factors.ts'
import { endTickets } from './second-factor/tickets.ts'
import { endSessionsOf, renewSession } from './sessions.ts'
import { apiKeys, oauthStates } from './tables.ts'

type Owner = Pick<UserRow, 'id' | 'username' | 'email' | 'language'>

/**
 * Ends all access to an account except the password and the second factors: sessions, API keys, reset codes and their
 * proofs, log-ins that wait for a second factor, log-ins by a passkey alone, and open flows with the chat platform.
 * Ended keys are audited and mailed to the owner. The caller has locked the user.
 * @param keep the session that stays, with a new token, because its cookie may have been copied
 * @param byOwner the owner has just entered the present password, so passkeys still log in alone
 * @returns that token
 */
export async function endAccess(
  unit: Unit,
  user: Owner,
  { cause, keep, byOwner = false }: { cause: Cause; keep?: Buffer | null | undefined; byOwner?: boolean }
): Promise<string | undefined> {
  const { tx } = unit
  await endSessionsOf(unit, user.id, keep ?? undefined)
  await endResetCodes(unit, user.email)
  await endTickets(unit, user.id)
  if (!byOwner) await endLoginsByPasskey(unit, user.id)
  await tx.delete(oauthStates).where(eq(oauthStates.userId, user.id))
  await endKeys(unit, user, cause)
  return keep ? renewSession(unit, keep) : undefined
}

type Cause = 'password' | 'ban' | 'rights'

async function endKeys(unit: Unit, user: Owner, cause: Cause): Promise<void> {
  const { tx, now } = unit
  const ended = await tx
    .update(apiKeys)
    .set({ revokedAt: now })
    .where(and(eq(apiKeys.userId, user.id), isNull(apiKeys.revokedAt)))
    .returning({ id: apiKeys.id, name: apiKeys.name })
  if (ended.length === 0) return
  for (const { id, name } of ended) {
    unit.audit('api_key.end', id, { before: { name }, after: { cause } })
    unit.publish('api_key', id, user.id)
  }
  const names = ended.map(key => key.name).join(', ')
  enqueueMail(unit, {
    to: user.email,
    language: user.language,
    template: 'api-keys-ended',
    data: { username: user.username, at: now.toISOString(), names, cause },
    key: `api-keys-ended:${ended[0]?.id}`
  })
}

export function notifyPasswordChanged(unit: Unit, user: Owner): void {
  const at = unit.now.toISOString()
  enqueueMail(unit, {
    to: user.email,
    language: user.language,
    template: 'password-changed',
    data: { username: user.username, at },
    key: `password-changed:${user.id}:${at}`
  })
}
