import { sql } from 'drizzle-orm'
import type { Database } from '../infra/db/client.ts'
import { eventually } from './test-stack.ts'

/**
 * Vacuums and analyses tables until all their pages are known to be visible to everybody. Whoever looks at the database
 * meanwhile, as an analysis of the server's own does, keeps fresh rows from that; a plan would then not trust in an index
 * alone, as it does in a shop whose rows are older than a minute.
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
