import { type Client, escapeIdentifier } from 'pg'

/**
 * Not in a backup: what opens an account for minutes or days. A restore would bring back sessions that were ended since,
 * so everybody signs in again.
 */
const LEFT_OUT = new Set(['sessions', 'captchas', 'email_codes', 'oauth_states'])

/** Jobs that have not ended, with the queue's own settings of each. A running one runs again. */
export const JOBS = 'pgboss_job'
const JOB_COLUMNS =
  'id name data priority state retry_limit retry_count retry_delay retry_backoff retry_delay_max expire_seconds deletion_seconds singleton_key singleton_on group_id group_tier start_after created_on keep_until output dead_letter policy heartbeat_seconds source_name source_id source_created_on source_retry_count source_output source_root_id'.split(
    ' '
  )

export type StoredTable = { table: string; columns: string[]; select: string }

/** The tables of a shop's database, each after those that it refers to, without generated columns. */
export async function storedTables(client: Client): Promise<StoredTable[]> {
  const all = await shopTables(client)
  const rows = all
    .filter(({ table }) => !LEFT_OUT.has(table))
    .map(one => ({
      ...one,
      select: `${escapeIdentifier(one.table)} (${one.columns.map(escapeIdentifier).join(', ')})`
    }))
  const jobs = await columnsOf(client, 'pgboss', 'job')
  const columns = JOB_COLUMNS.filter(column => jobs.includes(column))
  if (columns.length === 0) return rows
  const values = columns.map(column =>
    column === 'state' ? "case when state = 'active' then 'retry' else state end" : escapeIdentifier(column)
  )
  return [
    ...rows,
    { table: JOBS, columns, select: `(select ${values.join(', ')} from pgboss.job where state < 'completed')` }
  ]
}

/** All tables of the schema `public`, each after those that it refers to. */
export async function shopTables(client: Client): Promise<{ table: string; columns: string[] }[]> {
  const { rows } = await client.query<{ table: string; columns: string[]; refers: string[] }>(`
    select c.relname as table,
      array(select attname::text from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '' order by attnum) as columns,
      array(select distinct r.relname::text from pg_constraint f join pg_class r on r.oid = f.confrelid
        where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid) as refers
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname`)
  const ordered: { table: string; columns: string[] }[] = []
  const done = new Set<string>()
  while (ordered.length < rows.length) {
    const ready = rows.filter(({ table, refers }) => !done.has(table) && refers.every(other => done.has(other)))
    if (ready.length === 0) throw new Error('tables refer to each other in a circle')
    for (const { table, columns } of ready) {
      ordered.push({ table, columns })
      done.add(table)
    }
  }
  return ordered
}

export async function columnsOf(client: Client, schema: string, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select attname::text as name from pg_attribute
     where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
    [`${schema}.${table}`]
  )
  return rows.map(({ name }) => name)
}
