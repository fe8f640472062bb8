import { rolesThatMay, type NoticeCause, type NoticeWords, type Params } from '@netlet/contract'
import { and, asc, eq, inArray } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { raiseNotice, type Operator } from '../notices/index.ts'
import { users } from './tables.ts'

type AdminNotice = {
  /** Its sentences, in the reader's language, and their parameters. */
  words: NoticeWords
  params: Params
  /** Unique for the occurrence, which is reported once. */
  key: string
  /** By default 'other'. */
  cause?: NoticeCause
  /** The subject within its cause, as the cause's finder names it. By default the occurrence itself. */
  about?: string | number
}

/** Notifies the operators as Notices in the console is set: at once, after the quiet hours, or with the digest. */
export async function notifyAdmins(
  unit: Unit,
  { words, params, key, cause = 'other', about = key }: AdminNotice
): Promise<void> {
  raiseNotice(unit, { cause, subject: String(about), key, words, params })
}

/** Active operators: these, or without ids all who act on notices. */
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
