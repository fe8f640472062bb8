import { sql } from './db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import type { UserActor } from './actor.ts'
import { openChangeFeed, type ChangeFeed, type Published } from './change-feed.ts'
import type { Unit } from './command.ts'
import { closeDatabase, openDatabase, type Database } from './db/client.ts'
import { openJobs, queue, type Jobs } from './jobs.ts'
import { createLog } from './log.ts'

export const NOW = new Date('2026-03-01T12:00:00Z')
export const [red, blue] = [queue<{ n: number }>('test.red'), queue<{ n: number }>('test.blue')]
export const boss: UserActor = {
  kind: 'user',
  id: 7,
  username: 'boss',
  isSuperuser: true,
  role: 'owner',
  ip: '192.0.2.7',
  sessionHash: null,
  impersonator: null,
  scopes: null
}

let database: TestDatabase
export let db: Database
let jobs: Jobs
let feed: ChangeFeed
/** What was published, and which rows other transactions saw at that moment. */
export let published: { changes: Published[]; visible: Promise<number[]> }[] = []
export const ctx = () => ({
  db,
  jobs,
  now: () => NOW,
  changes: {
    ...feed,
    publish(changes: Published[]) {
      if (changes.length > 0) published.push({ changes, visible: rows() })
    }
  }
})

/** Gives a test file a database with both queues. */
export function useCommands(): void {
  beforeAll(async () => {
    database = await createTestDatabase()
    db = openDatabase(database.url, { max: 12 })
    const log = createLog('test', 'silent')
    jobs = await openJobs({ db, listenUrl: null, log, queues: [red, blue] })
    feed = await openChangeFeed({ databaseUrl: database.url, db, log })
    await db.execute(sql`create table things (id int primary key, name text, n int not null default 0,
      constraint things_name_key unique (name), constraint things_n check (n >= 0))`)
  })
  beforeEach(async () => {
    published = []
    await db.execute(sql`truncate things, audit_log`)
    await db.execute(sql`delete from pgboss.job where name like 'test.%'`)
  })
  afterAll(async () => {
    await feed?.stop()
    await jobs?.stop()
    await closeDatabase(db)
    await database.drop()
  })
}

export async function rows(): Promise<number[]> {
  const found = await db.execute<{ id: number }>(sql`select id from things order by id`)
  return found.rows.map(({ id }) => id)
}
export async function entries(): Promise<Record<string, unknown>[]> {
  const found = await db.execute(sql`select actor_id, actor_name, viewed_as, host(ip) as ip, action, target_type,
    target_id, before, after from audit_log order by id`)
  return found.rows
}
export async function queued(): Promise<unknown[]> {
  const found = await db.execute<{ name: string; n: number }>(
    sql`select name, (data->>'n')::int as n from pgboss.job where name like 'test.%' order by name, n`
  )
  return found.rows.map(({ name, n }) => [name, n])
}
export const insert = ({ tx }: Unit, id: number, name = `thing ${id}`) =>
  tx.execute(sql`insert into things (id, name) values (${id}, ${name})`)

/** Writes an audit entry, a job, a change and a row. */
export async function leaveTraces(unit: Unit): Promise<void> {
  unit.audit('faq.create', 1, { after: { question: 'Why?' } })
  unit.jobs.send(red, { n: 1 })
  unit.publish('order', 5, 3)
  await insert(unit, 1)
}
export async function expectNoTrace(): Promise<void> {
  expect({ rows: await rows(), entries: await entries(), queued: await queued(), published }).toEqual({
    rows: [],
    entries: [],
    queued: [],
    published: []
  })
}
