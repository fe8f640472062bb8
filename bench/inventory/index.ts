import { sql } from 'drizzle-orm'
import { Client, Pool } from 'pg'
import { closeDatabase, openDatabase } from '../../apps/server/src/infra/db/client.ts'
import { openBenchDatabase } from '../database.ts'
import type { Bench } from '../figures.ts'
import { buildDataset } from './dataset.ts'
import { measureReads, thousands } from './reads.ts'
import { measureRate, measureReserve } from './writes.ts'

/** Quotes and reservations on a million addresses, compared with plain statements on the same connections. */
export const inventoryBench: Bench = async log => {
  const database = await openBenchDatabase()
  try {
    const db = openDatabase(database.url)
    const start = performance.now()
    const data = await buildDataset(db)
    await db.execute(sql`create table bench_rows (
      id bigint generated always as identity primary key, order_id bigint not null, note text not null,
      at timestamptz not null default now())`)
    await closeDatabase(db)
    const { everything } = data.addresses
    log(
      `${database.version}: ${thousands(everything)} addresses, ${data.rules.length} rules, ` +
        `${thousands(data.blocks)} live blocks, built in ${((performance.now() - start) / 1000).toFixed(0)} s`
    )
    const client = new Client({ connectionString: database.url })
    await client.connect()
    const reads = await measureReads(client, data, log)
    const reserve = await measureReserve(client, data, log)
    await client.end()
    const pool = new Pool({ connectionString: database.url, max: 32 })
    const rates = await measureRate(pool, data, log)
    await pool.end()
    return [...reads, ...reserve, ...rates]
  } finally {
    await database.drop()
  }
}
