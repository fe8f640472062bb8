import { sql } from '../infra/db/drizzle.ts'
import type { Database } from '../infra/db/client.ts'
import { eventually } from './test-stack.ts'

/**
 * Vacuums and analyses tables until all their pages are marked visible. Concurrent snapshots, such as the server's own
 * analysis, delay that for fresh rows; plans would then not use an index alone, as they do in a shop with rows older
 * than a minute.
 * @throws after a minute
 */
export async function vacuumFully(db: Database, ...tables: string[]): Promise<void> {
  const names = sql.raw(tables.map(table => `"${table}"`).join(', '))
  await eventually(
    `all rows of ${tables.join(', ')} to be visible`,
    async () => {
      await db.execute(sql`vacuum analyze ${names}`)
      const { rows } = await db.execute(sql`select from pg_class
        where oid = any(${sql.param(tables)}::regclass[]) and relallvisible < relpages`)
      return rows.length === 0
    },
    60_000
  )
}
