import { Client } from 'pg'

/** The history's clock, for the shop's programs and its database. */
export type MovedClock = {
  now: () => Date
  /** Only forward. */
  moveTo(at: Date): Promise<void>
  /** Restores the database's real time and removes all traces. */
  release(): Promise<void>
}

/** The SQL functions through which the shop reads the time. */
const ASKED = ['now()', 'clock_timestamp()']

/**
 * Moves the clock of a whole database while the history is made. Commands take the time from their context, but the
 * inventory's functions call `now()` and `clock_timestamp()`. New connections find replacements for these functions
 * that return the moved time. No other session may use the database in this time.
 */
export async function moveClock(databaseUrl: string, start: Date): Promise<MovedClock> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  const database = client.escapeIdentifier(new URL(databaseUrl).pathname.slice(1))
  let at = start
  let released = false
  // This connection predates the database setting below, and would sync to disk at each move.
  await client.query('set synchronous_commit = off')
  await client.query('begin')
  await client.query('create schema demo_clock')
  await client.query('create table demo_clock.moment (at timestamptz not null)')
  await client.query('insert into demo_clock.moment values ($1)', [at])
  for (const asked of ASKED)
    await client.query(
      `create function demo_clock.${asked} returns timestamptz language sql stable as 'select at from demo_clock.moment'`
    )
  await client.query(`alter database ${database} set search_path = demo_clock, pg_catalog, "$user", public`)
  // An interrupted history is discarded, so nothing must be durable before it is complete.
  await client.query(`alter database ${database} set synchronous_commit = off`)
  await client.query('commit')
  return {
    now: () => at,
    async moveTo(next) {
      if (next <= at) return
      at = next
      await client.query('update demo_clock.moment set at = $1', [at])
    },
    async release() {
      if (released) return
      released = true
      await client.query('set synchronous_commit = on')
      await client.query('begin')
      await client.query(`alter database ${database} reset all`)
      for (const asked of ASKED) await client.query(`drop function demo_clock.${asked}`)
      await client.query('drop table demo_clock.moment')
      await client.query('drop schema demo_clock')
      await client.query('commit')
      // Analyse now: until autovacuum does, the planner would guess the sizes of the tables.
      await client.query('analyze')
      await client.end()
    }
  }
}
