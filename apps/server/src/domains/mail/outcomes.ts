import { inArray } from '../../infra/db/drizzle.ts'
import type { MailFailureCode, MailState } from '@netlet/contract'
import type { Executor } from '../../infra/db/client.ts'
import { mails } from './tables.ts'

export type MailOutcome = { id: number; state: MailState; error: string | null; error_code: MailFailureCode | null }

/** The outcomes of mails by key. A mail without a job's attempt has no entry. */
export async function mailOutcomes(db: Executor, keys: readonly string[]): Promise<Map<string, MailOutcome>> {
  if (keys.length === 0) return new Map()
  const rows = await db
    .select({ key: mails.key, id: mails.id, state: mails.state, error: mails.error, error_code: mails.errorCode })
    .from(mails)
    .where(inArray(mails.key, [...keys]))
  return new Map(rows.map(({ key, ...outcome }) => [key, outcome]))
}

/** The recipients and states of mails by key. */
export async function mailStates(
  db: Executor,
  keys: readonly string[]
): Promise<Map<string, { to: string; state: MailState }>> {
  if (keys.length === 0) return new Map()
  const rows = await db
    .select({ key: mails.key, to: mails.to, state: mails.state })
    .from(mails)
    .where(inArray(mails.key, [...keys]))
  return new Map(rows.map(({ key, ...mail }) => [key, mail]))
}
