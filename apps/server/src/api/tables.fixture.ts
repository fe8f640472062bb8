import type { AppContext } from '../infra/context.ts'
import { sql } from '../infra/db/drizzle.ts'

/**
 * They are written because of refused calls: failures are counted, a captcha and a code have a limited number of tries, and the
 * health page says when a webhook's signature was wrong. Tries to list clients of an order are counted, too.
 */
const WRITTEN_BY_REFUSALS = [
  'login_failures',
  'captchas',
  'email_codes',
  'sessions',
  'log_lines',
  'platform_checks',
  'order_access'
]

let query = ''

/** By table: how many rows, and one number for what is in them. `jobs`: those that wait. */
export async function contentOfTables({ db }: Pick<AppContext, 'db'>): Promise<Record<string, string>> {
  query ||= await queryOf(db)
  const { rows } = await db.execute<Record<string, string>>(sql.raw(query))
  return rows[0] ?? {}
}

async function queryOf(db: AppContext['db']): Promise<string> {
  const { rows } = await db.execute<{ schema: string; name: string }>(
    sql`select schemaname as schema, tablename as name from pg_tables where schemaname in ('public', 'inventory')`
  )
  const names = rows
    .filter(({ name }) => !WRITTEN_BY_REFUSALS.includes(name))
    .map(({ schema, name }) => `${schema}.${name}`)
  const columns = names.map(
    name => `(select count(*) || ':' || coalesce(sum(hashtextextended(t::text, 0)), 0) from ${name} t) as "${name}"`
  )
  // A refused password guess sends its owner a warning.
  const warnings = `name = 'send-mail' and data ->> 'template' in ('password-guesses', 'login-guesses')`
  return `select ${columns.join(', ')}, (select count(*)::text from pgboss.job where not (${warnings})) as jobs`
}

/** The tables whose rows differ, each with how many rows it has now and before. */
export const differences = (before: Record<string, string>, after: Record<string, string>): string[] =>
  Object.keys(after)
    .filter(name => before[name] !== after[name])
    .map(name => `${name} ${before[name]} → ${after[name]}`)
