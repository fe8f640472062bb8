import type { Refusal } from '@netlet/contract'
import { and, between, eq, sql } from 'drizzle-orm'
import { DAY, MINUTE } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { lower } from '../../infra/db/columns.ts'
import { lock } from '../../infra/db/locks.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { emailCodes } from './tables.ts'

const PAUSE = MINUTE
/** A day, from one client to one address. */
const MAX_PER_PAIR = 10
/**
 * A day, from all clients to one address, against floods of mail. Reaching it takes many networks, and a browser that
 * has logged in to the account is exempt.
 */
const MAX_PER_ADDRESS = 100

/** How long codes are kept, used or not: these limits count them. */
export const CODES_KEPT = DAY

/**
 * May this client have another code mailed to this address? Limits count by client, so that strangers cannot block the
 * owner's code. They apply equally to unregistered addresses.
 * @param client the requesting network; a concurrent request waits here and then sees the first one's code
 */
export async function refuseCode(
  { tx, now }: Unit,
  { client, email, isKnown }: { client: string; email: string; isKnown: boolean }
): Promise<Refusal | null> {
  await lock(tx, 'emailCodeAddress', email)
  await lock(tx, 'emailCodeClient', client)
  const ofClient = sql`${emailCodes.clientIp} = ${client}::inet`
  const ofAddress = eq(lower(emailCodes.email), email)
  // Codes with a future time, from a clock that ran ahead, do not count.
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
