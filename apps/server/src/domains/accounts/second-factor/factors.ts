import type { SecondFactor, SecondFactorKind } from '@netlet/contract'
import { and, asc, eq } from '../../../infra/db/drizzle.ts'
import { iso, isoOrNull } from '../../../infra/clock.ts'
import type { Executor } from '../../../infra/db/client.ts'
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
