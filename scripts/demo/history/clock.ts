import { Client } from 'pg'

/** The history's time, for the shop's programs and its database. */
export type MovedClock = {
  now: () => Date
  /** Only forward. */
  moveTo(at: Date): Promise<void>
  /** Gives the database its own clock again. */
  release(): Promise<void>
}

const TABLE = 'inventory.moved_clock'

/** Makes `inventory.clock()` return the history's time. Everything else receives the time from its caller. */
export async function moveClock(databaseUrl: string, start: Date): Promise<MovedClock> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ own: string }>(`select pg_get_functiondef('inventory.clock'::regproc) as own`)
  let at = start
  let released = false
  await client.query(`create table ${TABLE} as select $1::timestamptz as at`, [at])
  await client.query(
    `create or replace function inventory.clock() returns timestamptz language sql as 'select at from ${TABLE}'`
  )
  return {
    now: () => at,
    async moveTo(next) {
      if (next <= at) return
      at = next
      await client.query(`update ${TABLE} set at = $1`, [at])
    },
    async release() {
      if (released) return
      released = true
      await client.query(rows[0]?.own ?? '')
      await client.query(`drop table ${TABLE}`)
      // Analyse now: until autovacuum does, the planner would guess the sizes of the tables.
      await client.query('analyze')
      await client.end()
    }
  }
}
