import { noticeSentence, type Language, type NoticeWords, type Params } from '@netlet/contract'
import { sql } from '../infra/db/drizzle.ts'
import type { Executor } from '../infra/db/client.ts'

/** Notices that commands have raised and no job has handled yet, oldest first. */
export async function raisedNotices(
  db: Executor,
  language: Language = 'en'
): Promise<{ key: string; title: string; text: string }[]> {
  const { rows } = await db.execute<{ data: { key: string; words: NoticeWords; params: Params } }>(
    sql`select data from pgboss.job where name = 'raise-notice' order by created_on, id`
  )
  return rows.map(({ data: { key, words, params } }) => ({ key, ...noticeSentence(words, params)[language] }))
}
