import { RECOVERY_CODES } from '@netlet/contract'
import { and, eq, inArray, isNull } from '../../../infra/db/drizzle.ts'
import type { Unit } from '../../../infra/command.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { randomCode, type Secrets } from '../../../infra/secrets.ts'
import { recoveryCodes } from './tables.ts'

const LENGTH = 10

/** A code has 50 random bits, so a stolen database alone must not suffice to find it. */
const hashed = (userId: number, code: string): string => `recovery code ${userId} ${code}`

/** Does the account have codes, used ones included? */
export const hasRecoveryCodes = async (db: Executor, userId: number): Promise<boolean> =>
  (await db.$count(recoveryCodes, eq(recoveryCodes.userId, userId))) > 0

export const unusedCodes = (db: Executor, userId: number): Promise<number> =>
  db.$count(recoveryCodes, and(eq(recoveryCodes.userId, userId), isNull(recoveryCodes.usedAt)))

/** Gives a locked user ten recovery codes instead of those before. @returns them; the database has their hashes */
export async function makeRecoveryCodes({ tx }: Unit, secrets: Secrets, userId: number): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () => randomCode(LENGTH))
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId))
  await tx.insert(recoveryCodes).values(codes.map(code => ({ userId, codeHash: secrets.mac(hashed(userId, code)) })))
  return codes.map(code => `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`)
}

/** Uses a code up; false if it is wrong or was used. @param code without spaces and dashes, lowercase */
export async function useRecoveryCode(
  { tx, now }: Unit,
  secrets: Secrets,
  userId: number,
  code: string
): Promise<boolean> {
  const used = await tx
    .update(recoveryCodes)
    .set({ usedAt: now })
    .where(
      and(
        eq(recoveryCodes.userId, userId),
        inArray(recoveryCodes.codeHash, secrets.macs(hashed(userId, code))),
        isNull(recoveryCodes.usedAt)
      )
    )
    .returning({ userId: recoveryCodes.userId })
  return used.length > 0
}
