import type { SecondFactor, SecondFactorKind } from '@netlet/contract'
import { iso, isoOrNull } from '../../../infra/clock.ts'
import type { Unit } from '../../../infra/command.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { and, asc, eq } from '../../../infra/db/drizzle.ts'
import { enqueueMail } from '../../mail/index.ts'
import type { UserRow } from '../present-user.ts'
import { secondFactors } from './tables.ts'

export type Factor = typeof secondFactors.$inferSelect

export const presentFactor = (row: Factor): SecondFactor => ({
  id: row.id,
  method: row.kind,
  name: row.name,
  created_at: iso(row.createdAt),
  last_used_at: isoOrNull(row.lastUsedAt)
})

/** A user's second factors, the oldest first. */
export const factorsOf = (db: Executor, userId: number, kind?: SecondFactorKind): Promise<Factor[]> =>
  db
    .select()
    .from(secondFactors)
    .where(and(eq(secondFactors.userId, userId), kind && eq(secondFactors.kind, kind)))
    .orderBy(asc(secondFactors.id))

/** The passkey with this id, whose owner it tells. */
export async function passkeyOf(db: Executor, credentialId: string): Promise<Factor | undefined> {
  const [passkey] = await db.select().from(secondFactors).where(eq(secondFactors.credentialId, credentialId))
  return passkey
}

/** From now on the user's passkeys log in only with the password, because a thief may have added one. */
export async function endLoginsByPasskey({ tx }: Unit, userId: number): Promise<void> {
  await tx
    .update(secondFactors)
    .set({ alone: false })
    .where(and(eq(secondFactors.userId, userId), eq(secondFactors.kind, 'passkey')))
}

/** A passkey that was used with the right password may log in alone again. */
export async function allowLoginByPasskey({ tx }: Unit, credentialId: string): Promise<void> {
  await tx.update(secondFactors).set({ alone: true }).where(eq(secondFactors.credentialId, credentialId))
}

export type Owner = Pick<UserRow, 'id' | 'username' | 'email' | 'language'>

/** Tells the owner of the account what happened to its second factors. */
export function notifyOwner(
  unit: Unit,
  { id, username, email, language }: Owner,
  what: 'added' | 'removed' | 'reset' | 'codes_made' | 'code_used',
  name = '–'
): void {
  const at = unit.now.toISOString()
  enqueueMail(unit, {
    to: email,
    language,
    template: 'second-factor-changed',
    data: { username, at, what, name },
    key: `second-factor-${what}:${id}:${at}`
  })
}

/** Warns the owner that a right password was followed by wrong codes, once a day. */
export function warnOfGuesses(unit: Unit, { id, username, email, language }: Owner): void {
  const at = unit.now.toISOString()
  enqueueMail(unit, {
    to: email,
    language,
    template: 'second-factor-guesses',
    data: { username, at },
    key: `second-factor-guesses:${id}:${at.slice(0, 10)}`
  })
}
