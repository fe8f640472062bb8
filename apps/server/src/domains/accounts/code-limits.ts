import type { Refusal } from '@netlet/contract'
import { and, between, eq, sql } from 'drizzle-orm'
import { DAY, MINUTE } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { lower } from '../../infra/db/columns.ts'
import { lock } from '../../infra/db/locks.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { emailCodes } from './tables.ts'

const PAUSE = MINUTE
/** A day, of one client for one address. */
const MAX_PER_PAIR = 10
/**
 * A day, of all clients for one address: against a flood of mail. It takes many networks to get there, and does not hold
 * back a browser that has logged in to the account.
 */
const MAX_PER_ADDRESS = 100

/** For how long a code is kept, used or not: these limits count them. */
export const CODES_KEPT = DAY

/**
 * May this client have another code mailed to this address? Limits count by who asks, so that a stranger's requests do
 * not keep the owner from a code. Whether the address is registered makes no difference.
 * @param client the network that asks; of two requests at once, the second one waits here and sees the first one's code
 */
export async function refuseCode(
  { tx, now }: Unit,
  { client, email, isKnown }: { client: string; email: string; isKnown: boolean }
): Promise<Refusal | null> {
  await lock(tx, 'emailCodeAddress', email)
  await lock(tx, 'emailCodeClient', client)
  const ofClient = sql`${emailCodes.clientIp} = ${client}::inet`
  const ofAddress = eq(lower(emailCodes.email), email)
  // What a clock that was ahead wrote down counts for nothing.
  const since = (milliseconds: number) =>
    between(emailCodes.createdAt, new Date(now.getTime() - milliseconds), new Date(now.getTime() + MINUTE))
  if ((await tx.$count(emailCodes, and(ofClient, since(PAUSE)))) > 0)
    return fieldRefusal('email_code', 'email_code_too_soon', {}, { retry_after: PAUSE / 1000 })
  if ((await tx.$count(emailCodes, and(ofClient, ofAddress, since(DAY)))) >= MAX_PER_PAIR)
    return fieldRefusal('email_code', 'email_code_limit')
  if (!isKnown && (await tx.$count(emailCodes, and(ofAddress, since(DAY)))) >= MAX_PER_ADDRESS)
    return fieldRefusal('email_code', 'email_code_limit')
  return null
}
