import { rolesThatMay, type NoticeCause, type NoticeWords, type Params } from '@netlet/contract'
import { and, asc, eq, inArray } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { raiseNotice, type Operator } from '../notices/index.ts'
import { users } from './tables.ts'

type AdminNotice = {
  /** Which sentences it says, in the language of whoever reads it, and what is in their braces. */
  words: NoticeWords
  params: Params
  /** Names the occurrence: it is told once. */
  key: string
  /** By default 'other'. */
  cause?: NoticeCause
  /** What it is about within its cause, as the cause's search names it. By default the occurrence itself. */
  about?: string | number
}

/** Tells the operators, as Notices in the console says: at once, after the quiet hours, or with the digest. */
export async function notifyAdmins(
  unit: Unit,
  { words, params, key, cause = 'other', about = key }: AdminNotice
): Promise<void> {
  raiseNotice(unit, { cause, subject: String(about), key, words, params })
}

/** Active operators: these, or without ids all whose work it is to act on notices. */
export const readOperators = (db: Executor, ids: readonly number[]): Promise<Operator[]> =>
  db
    .select({ id: users.id, username: users.username, email: users.email, language: users.language })
    .from(users)
    .where(
      and(
        eq(users.isSuperuser, true),
        eq(users.isActive, true),
        ids.length > 0 ? inArray(users.id, [...ids]) : inArray(users.operatorRole, rolesThatMay('notices.change'))
      )
    )
    .orderBy(asc(users.id))
