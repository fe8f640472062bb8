import { Client } from 'pg'

/** Says what time it is in the history, to the shop's programs and to its database. */
export type MovedClock = {
  now: () => Date
  /** Never back. */
  moveTo(at: Date): Promise<void>
  /** Gives the database the real time again, and leaves nothing behind. */
  release(): Promise<void>
}

/** How the shop asks the database for the time. */
const ASKED = ['now()', 'clock_timestamp()']

/**
 * Moves the clock of a whole database, for as long as the history is made. Commands take their moment from their context,
 * but the functions of the inventory ask the database: `now()`, `clock_timestamp()`. Connections made from now on find
 * functions that read the moved time in their place. No other session may use the database meanwhile.
 */
export async function moveClock(databaseUrl: string, start: Date): Promise<MovedClock> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  const database = client.escapeIdentifier(new URL(databaseUrl).pathname.slice(1))
  let at = start
  let released = false
  // This connection is older than the database's setting below, and would wait for the disk at each move.
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
  // A history that was cut short is thrown away: nothing needs to be on disk before it is whole.
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
      // Nobody waits for the server's own turn: until then it would guess how large the tables are.
      await client.query('analyze')
      await client.end()
    }
  }
}
