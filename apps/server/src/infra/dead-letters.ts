import type { DeadLetter } from '@netlet/contract'
import { sql } from './db/drizzle.ts'
import { isSecret } from './audit-log.ts'
import { iso } from './clock.ts'
import type { Executor } from './db/client.ts'
import { DEAD_LETTER } from './jobs.ts'

const PAGE = 50

type Row = {
  id: string
  queue: string
  failed_at: string
  tries: number
  error: string | null
  payload: unknown
}

/** Jobs that used all their retries, latest first, masked for administrators. */
export async function readDeadLetters(
  db: Executor,
  { queue, after }: { queue?: string | undefined; after?: string | undefined }
): Promise<{ data: DeadLetter[]; more: boolean }> {
  const { rows } = await db.execute<Row>(sql`
    select id, coalesce(source_name, name) as queue, created_on as failed_at,
      coalesce(source_retry_count, 0) + 1 as tries,
      coalesce(source_output ->> 'message', output ->> 'message') as error, data as payload
    from pgboss.job
    where name = ${DEAD_LETTER} and state in ('created', 'retry', 'failed')
      ${queue === undefined ? sql`` : sql`and source_name = ${queue}`}
      ${
        after === undefined
          ? sql``
          : sql`and (created_on, id) < (select created_on, id from pgboss.job where name = ${DEAD_LETTER} and id = ${after})`
      }
    order by created_on desc, id desc limit ${PAGE + 1}`)
  const data = rows.slice(0, PAGE).map(row => ({
    id: row.id,
    queue: row.queue,
    failed_at: iso(new Date(row.failed_at)),
    tries: row.tries,
    error: row.error === null ? null : masked(row.error).slice(0, 2000),
    payload: redacted(row.payload)
  }))
  return { data, more: rows.length > PAGE }
}

export async function countDead(db: Executor): Promise<number> {
  const { rows } = await db.execute<{ dead: number }>(sql`
    select count(*)::int as dead from pgboss.job where name = ${DEAD_LETTER} and state in ('created', 'retry', 'failed')`)
  return rows[0]?.dead ?? 0
}

/** Dead letters of each queue, largest queue first. */
export async function countDeadByQueue(db: Executor, limit: number): Promise<{ queue: string; count: number }[]> {
  const { rows } = await db.execute<{ queue: string; count: number }>(sql`
    select coalesce(source_name, name) as queue, count(*)::int as count from pgboss.job
    where name = ${DEAD_LETTER} and state in ('created', 'retry', 'failed')
    group by 1 order by 2 desc, 1 limit ${limit}`)
  return rows
}

/** Removes dead letters. @returns how many there were */
export async function discardDead(tx: Executor, ids: readonly string[]): Promise<number> {
  const { rows } = await tx.execute(sql`
    delete from pgboss.job where name = ${DEAD_LETTER} and state in ('created', 'retry', 'failed')
      and id = any(${sql.param([...ids])}::uuid[]) returning id`)
  return rows.length
}

const HIDDEN = '•••'
/** Fields that identify a person or hold text that a person wrote. */
const PERSONAL =
  /(^|_)(to|email|mail|user_?name|name|phone|ip|address|message|answer|text|subject|city|code|url|link)$/i
/** Identifiers, times, states and keys. Any other text may describe a person. */
const IDENTIFIER = /^[\w.:+/-]{1,80}$/

const snake = (name: string): string => name.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')

/** A job's payload without secrets and personal data. */
export function redacted(value: unknown, key = ''): unknown {
  if (isSecret(key) && value) return '[secret]'
  if (Array.isArray(value)) return value.map(one => redacted(one, key))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, redacted(inner, name)]))
  if (typeof value !== 'string' || value === '') return value ?? null
  return PERSONAL.test(snake(key)) || !IDENTIFIER.test(value) ? HIDDEN : masked(value)
}

/** A text without mail addresses and anything that looks like a key. */
const masked = (text: string): string =>
  text.replaceAll(/[^\s@"'<>]+@[^\s@"'<>]+/g, HIDDEN).replaceAll(/[\w+/=.-]{40,}/g, HIDDEN)
