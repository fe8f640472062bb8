import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import { startRelay } from '../../testing/relay.ts'
import { withClient } from '../../testing/server.ts'
import { createLog } from '../log.ts'
import { closeDatabase, type Database, type Executor, openDatabase } from './client.ts'
import { sql } from './drizzle.ts'
import { startReplicated } from './replica.fixture.ts'
import { useReplica } from './replica.ts'

let servers: Awaited<ReturnType<typeof startReplicated>>
let relay: Awaited<ReturnType<typeof startRelay>>
let db: Database
let endReplica: () => Promise<void>

const log = createLog('test', 'silent')
/** However busy the machine is, for reads that the replica must answer. */
const LONG = 30_000
const open = (url: string, patienceMs?: number) => {
  db = openDatabase(servers.primary)
  endReplica = useReplica(db, { url, max: 4, log, ...(patienceMs ? { patienceMs } : {}) })
}
const onReplica = (text: string) => withClient(servers.replica, client => client.query(text))
const newest = async (from: Executor) => {
  const { rows } = await from.execute<{ n: number | null; replica: boolean }>(
    sql`select max(n) as n, pg_is_in_recovery() as replica from writes`
  )
  return rows[0]
}

beforeAll(async () => {
  servers = await startReplicated()
  relay = await startRelay(servers.replica)
  await withClient(servers.primary, client => client.query('create table writes (n int primary key)'))
}, 120_000)
const close = async () => {
  await endReplica()
  await closeDatabase(db)
}
afterEach(close)
afterAll(async () => {
  relay?.stop()
  await servers?.stop()
})

test('a read sees each write that was committed before it, by any process', async () => {
  open(relay.url, LONG)
  for (let n = 1; n <= 100; n++) {
    if (n % 2) await db.execute(sql`insert into writes values (${n})`)
    else await withClient(servers.primary, client => client.query(`insert into writes values (${n})`))
    expect(await db.readLong(newest)).toEqual({ n, replica: true })
  }
})

test('while the replica is late, the primary answers', async () => {
  open(relay.url)
  await onReplica('select pg_wal_replay_pause()')
  try {
    await db.execute(sql`insert into writes values (101)`)
    expect(await db.readLong(newest)).toEqual({ n: 101, replica: false })
    expect(await db.readLong(newest)).toEqual({ n: 101, replica: false })
  } finally {
    await onReplica('select pg_wal_replay_resume()')
  }
})

test.each(['close', 'freeze'] as const)('a replica that is gone (%s) is read no more', async way => {
  open(relay.url, LONG)
  expect((await db.readLong(newest))?.replica).toBe(true)
  await endReplica()
  endReplica = useReplica(db, { url: relay.url, max: 4, log })
  relay[way]()
  expect((await db.readLong(newest))?.replica).toBe(false)
  if (way === 'close') relay.reopen()
  else relay.thaw()
})

test('a read that the replica ends is repeated on the primary', async () => {
  open(relay.url, LONG)
  const asked: boolean[] = []
  const rows = await db.readLong(async from => {
    const { rows: found } = await from.execute<{ replica: boolean }>(sql`select pg_is_in_recovery() as replica`)
    asked.push(found[0]?.replica === true)
    if (!found[0]?.replica) return 'from the primary'
    // What vacuum removes on the primary ends a read that may still see it.
    await from.transaction(
      async tx => {
        await tx.execute(sql`select count(*) from writes`)
        await db.execute(sql`delete from writes where n = 1`)
        await db.execute(sql`vacuum writes`)
        await tx.execute(sql`select pg_sleep(30)`)
      },
      { isolationLevel: 'repeatable read' }
    )
    return 'from the replica'
  })
  expect(rows).toBe('from the primary')
  expect(asked).toEqual([true, false])
})

test('a database that is no replica of the primary is not read', async () => {
  const other = inject('postgresUrl')
  for (const url of [servers.primary, other]) {
    open(url, LONG)
    expect(await db.readLong(newest)).toMatchObject({ n: 101, replica: false })
    if (url !== other) await close()
  }
})

test('a read that fails on both fails with the reason of the primary', async () => {
  open(relay.url, LONG)
  await expect(db.readLong(from => from.execute(sql`select nothing from nowhere`))).rejects.toMatchObject({
    cause: { code: '42P01' }
  })
})
